from dataclasses import replace

from fakes import gpu_nodes
from fakes.gpu_nodes import MIB, device_status, gpu, node
from gputide.exporter.catalog import custom
from gputide.exporter.model import AllocateMode, ProcessReading, Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.page.model import Cut
from gputide.exporter.render import render
from gputide.exposition import Sample, parse

FULL_LABELS = PageOptions(node_pool_id="np1", pod_source="ecs")


def samples(
    snapshot: Snapshot, options: PageOptions | None = None
) -> dict[str, tuple[Sample, ...]]:
    page = render(snapshot, options=options).encode()
    return {f.name: f.samples for f in parse(page) if f.name.startswith("DCGM_CUSTOM_")}


def values(found: tuple[Sample, ...], label: str) -> dict[str, float]:
    return {dict(sample.labels)[label]: sample.value for sample in found}


def test_labels_are_the_vendors_in_its_order() -> None:
    found = samples(gpu_nodes.shared(), FULL_LABELS)

    expected = {
        "DCGM_CUSTOM_PROCESS_MEM_USED": custom.PROCESS_LABELS,
        "DCGM_CUSTOM_ILLEGAL_PROCESS_MEM_USED": custom.PROCESS_LABELS,
        **{row.name: row.labels for row in custom.ROWS},
    }
    names = {name: tuple(n for n, _ in found[name][0].labels) for name in expected}
    assert names == expected


def test_memory_of_a_shared_gpu_is_told_per_container_and_for_the_card() -> None:
    found = samples(gpu_nodes.shared())

    memory = values(found["DCGM_CUSTOM_CONTAINER_MEM_ALLOCATED"], "PodName")
    compute = values(found["DCGM_CUSTOM_CONTAINER_CP_ALLOCATED"], "PodName")
    assert memory == {"chat-0": 8192, "rank-0": 12_288}
    assert compute == {"chat-0": 0.3, "rank-0": 0.5}
    assert found["DCGM_CUSTOM_DEV_FB_TOTAL"][0].value == 23_028
    assert found["DCGM_CUSTOM_DEV_FB_ALLOCATED"][0].value == 0.889352
    assert found["DCGM_CUSTOM_ALLOCATE_MODE"][0].value == 2


def test_processes_are_their_pods_and_strays_are_illegal() -> None:
    found = samples(gpu_nodes.shared())

    used = values(found["DCGM_CUSTOM_PROCESS_MEM_USED"], "ProcessId")
    illegal = found["DCGM_CUSTOM_ILLEGAL_PROCESS_MEM_USED"]
    assert used == {"11": 6000, "12": 9000, "14": 4}
    assert values(illegal, "PodName") == {"stray-0": 500}
    assert dict(illegal[0].labels)["AllocateMode"] == "none"
    assert dict(illegal[0].labels)["ProcessName"] == 'st"ray\\'
    types = values(found["DCGM_CUSTOM_PROCESS_MEM_USED"], "ProcessType")
    assert set(types) == {"C", "G"}


def test_what_the_driver_does_not_tell_of_a_process_has_no_line() -> None:
    found = samples(gpu_nodes.shared())

    assert "DCGM_CUSTOM_PROCESS_ENCODE_UTIL" not in found
    assert set(values(found["DCGM_CUSTOM_PROCESS_SM_UTIL"], "ProcessId")) == {"11", "12"}


def test_instances_are_told_apart_beyond_the_vendors_labels() -> None:
    found = samples(gpu_nodes.a100_mig())

    labels = dict(found["DCGM_CUSTOM_PROCESS_MEM_USED"][0].labels)
    assert (labels["GPU_I_ID"], labels["GPU_I_PROFILE"]) == ("8", "1g.5gb")
    assert values(found["DCGM_CUSTOM_CONTAINER_MEM_ALLOCATED"], "GPU_I_ID") == {"8": 4864}


def test_the_smallest_processes_are_cut_and_counted() -> None:
    processes = tuple(
        ProcessReading(pid=pid, name="p", memory_bytes=size * MIB)
        for pid, size in ((1, 5), (2, 50), (3, 20))
    )
    page = render(
        node(device_status(gpu("T4"), processes=processes)), options=PageOptions(max_processes=2)
    )
    found = {f.name: f.samples for f in parse(page.encode())}

    used = values(found["DCGM_CUSTOM_PROCESS_MEM_USED"], "ProcessId")
    assert used == {"2": 50, "3": 20}
    assert page.cuts == {Cut.PROCESSES: 1}
    assert values(found["gputide_exporter_cut"], "what")["processes"] == 1


def test_a_process_that_the_driver_lists_twice_stands_once() -> None:
    process = ProcessReading(pid=1, name="p", memory_bytes=MIB)
    found = samples(node(device_status(gpu("T4"), processes=(process, process))))

    assert len(found["DCGM_CUSTOM_PROCESS_MEM_USED"]) == 1


def test_a_mode_that_could_not_be_asked_is_not_none() -> None:
    asked = node(device_status(gpu("T4")))
    unasked = node(device_status(gpu("T4")), problems=("no socket",))

    assert samples(asked)["DCGM_CUSTOM_ALLOCATE_MODE"][0].value == 0
    assert "DCGM_CUSTOM_ALLOCATE_MODE" not in samples(unasked)
    known = replace(unasked.ownership, mode=AllocateMode.SHARE)
    assert "DCGM_CUSTOM_ALLOCATE_MODE" in samples(replace(unasked, ownership=known))


def test_a_lost_gpu_keeps_its_size_and_its_containers() -> None:
    found = samples(gpu_nodes.lost())

    assert len(found["DCGM_CUSTOM_DEV_FB_TOTAL"]) == 3
    assert values(found["DCGM_CUSTOM_CONTAINER_MEM_ALLOCATED"], "PodName") == {"trainer-1": 15_360}


def test_allocations_of_a_gpu_that_is_not_there_are_left_out() -> None:
    snapshot = gpu_nodes.a100()
    gone = replace(snapshot.ownership.allocations[0], device_uuid="GPU-unknown")
    ownership = replace(snapshot.ownership, allocations=(gone,))

    assert "DCGM_CUSTOM_CONTAINER_MEM_ALLOCATED" not in samples(
        replace(snapshot, ownership=ownership)
    )


def test_they_can_be_switched_off() -> None:
    assert samples(gpu_nodes.shared(), PageOptions(has_custom=False)) == {}
