from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.owner_nodes import GIB, gpu, held, mig_gpu, pod_record
from gputide.exporter.model import AllocateMode, Container, Device, Ownership
from gputide.exporter.owners.attribution import MAX_PROBLEMS, Evidence, attribute
from gputide.exporter.owners.model import Cgroup, HeldDevices, Pod
from gputide.exporter.owners.settings import MemoryUnit, OwnerSettings

V2 = "scheduler.framework.gpushare.allocation"
HAMI = "hami.io/vgpu-devices-allocated"
MIB = 1 << 20
Line = tuple[str, str, str, int | None, bool, int | None, float | None]


def owned(
    *devices: Device,
    pods: tuple[Pod, ...] | None = (),
    given: tuple[HeldDevices, ...] | None = (),
    cgroups: dict[int, Cgroup] | None = None,
    settings: OwnerSettings | None = None,
) -> Ownership:
    directory = None if pods is None else {(p.owner.namespace, p.owner.pod): p for p in pods}
    return attribute(
        Evidence(held=given, pods=directory, cgroups=cgroups or {}),
        devices,
        settings or OwnerSettings(node_name="gpu-1"),
        at_seconds=5,
    )


def lines(ownership: Ownership) -> list[Line]:
    return [
        (
            each.owner.pod,
            each.owner.container,
            each.device_uuid,
            each.gpu_instance_id,
            each.is_shared,
            each.memory_bytes,
            each.compute_ratio,
        )
        for each in ownership.allocations
    ]


def test_a_whole_gpu_is_exclusive_with_all_its_memory_and_no_limit_of_compute() -> None:
    found = owned(gpu(0), given=(held("chat", "nvidia.com/gpu", "GPU-0"),), pods=None)

    assert lines(found) == [("chat", "main", "GPU-0", None, False, 16 * GIB, 0)]
    assert (found.mode, found.problems, found.at_seconds) == (AllocateMode.EXCLUSIVE, (), 5)


def test_a_mig_instance_is_exclusive_with_its_own_memory() -> None:
    node = mig_gpu(0, "GPU-0", {7: "MIG-7"})

    found = owned(node, given=(held("chat", "nvidia.com/mig-1g.5gb", "MIG-7"),), pods=None)

    assert lines(found) == [("chat", "main", "GPU-0", 7, False, 5 * GIB, 0)]


@pytest.mark.parametrize(
    ("resource", "form"), [("nvidia.com/gpu", "GPU-0::{}"), ("nvidia.com/gpu.shared", "GPU-0")]
)
def test_time_slicing_gives_one_gpu_several_owners_and_says_no_memory(
    resource: str, form: str
) -> None:
    given = tuple(held(f"chat-{n}", resource, form.format(n)) for n in range(3))

    found = owned(gpu(0), given=given, pods=None)

    assert lines(found) == [
        (f"chat-{n}", "main", "GPU-0", None, True, None, None) for n in range(3)
    ]
    assert found.mode is AllocateMode.SHARE


def test_several_replicas_of_one_gpu_in_one_container_are_one_share() -> None:
    given = (held("chat", "nvidia.com/gpu", "GPU-0::1", "GPU-0::2", "GPU-1::0"),)

    found = owned(gpu(0), gpu(1), given=given, pods=None)

    assert [line[2] for line in lines(found)] == ["GPU-0", "GPU-1"]


def test_the_pods_uid_and_labels_come_with_its_allocation() -> None:
    pod = pod_record("chat")
    pod = replace(pod, owner=replace(pod.owner, pod_labels={"app": "chat"}))

    found = owned(gpu(0), given=(held("chat", "nvidia.com/gpu", "GPU-0"),), pods=(pod,))

    owner = found.allocations[0].owner
    assert (owner.pod_uid, owner.pod_labels, owner.container) == (
        "uid-chat",
        {"app": "chat"},
        "main",
    )


def test_an_id_of_another_resource_counts_where_it_names_a_gpu() -> None:
    given = (held("chat", "example.com/fast-gpu", "GPU-0"), held("net", "example.com/nic", "eth0"))

    found = owned(gpu(0), given=given, pods=None)

    assert [line[0] for line in lines(found)] == ["chat"]
    assert found.problems == ()


def test_a_gpu_that_the_driver_does_not_show_is_a_problem_and_others_are_kept() -> None:
    given = (
        held("gone", "nvidia.com/gpu", "GPU-9"),
        held("odd", "example.com/gpu", "GPU-8"),
        held("chat", "nvidia.com/gpu", "GPU-0"),
    )
    settings = OwnerSettings(resource_names=("example.com/gpu",))

    found = owned(gpu(0), given=given, pods=None, settings=settings)

    assert [line[0] for line in lines(found)] == ["chat"]
    assert found.problems == (
        "pod demo/gone holds nvidia.com/gpu GPU-9, which the driver does not show",
        "pod demo/odd holds example.com/gpu GPU-8, which the driver does not show",
    )


def test_without_any_gpu_the_driver_is_at_fault_and_no_pod() -> None:
    pods = (pod_record("chat", annotations={V2: '{"0":{"1":4}}'}),)

    found = owned(pods=pods, given=(held("x", "nvidia.com/gpu", "GPU-9"),))

    assert (found.allocations, found.problems, found.mode) == ((), (), AllocateMode.NONE)


def test_annotations_place_shared_memory_on_its_gpu() -> None:
    annotations = {
        V2: '{"0":{"1":1},"1":{"1":7}}',
        "gpushare.alibabacloud.com/core-percentage": '{"1":{"1":30}}',
    }
    pods = (pod_record("chat", annotations=annotations, containers=("main", "side")),)
    given = (held("chat", "aliyun.com/gpu-mem", count=8),)

    found = owned(gpu(0), gpu(1), pods=pods, given=given)

    assert lines(found) == [
        ("chat", "main", "GPU-1", None, True, 1 * GIB, 0),
        ("chat", "side", "GPU-1", None, True, 7 * GIB, 0.3),
    ]
    assert (found.mode, found.problems) == (AllocateMode.SHARE, ())


def test_units_are_mib_where_some_pod_has_more_than_a_gpu_has_gib() -> None:
    pods = (
        pod_record("small", annotations={V2: '{"0":{"0":20}}'}),
        pod_record("large", annotations={V2: '{"0":{"0":4096}}'}),
    )

    assert [line[5] for line in lines(owned(gpu(0), pods=pods))] == [20 * MIB, 4096 * MIB]


def test_units_are_mib_where_the_gpu_itself_has_that_many() -> None:
    annotations = {V2: '{"0":{"0":8}}', "ALIYUN_COM_GPU_MEM_DEV": "15109"}
    annotations["gpushare.alibabacloud.com/device-resource"] = '{"0":15109}'

    found = owned(gpu(0), pods=(pod_record("chat", annotations=annotations),))

    assert lines(found)[0][5] == 8 * MIB


@pytest.mark.parametrize(("unit", "size"), [(MemoryUnit.GIB, GIB), (MemoryUnit.MIB, MIB)])
def test_the_unit_can_be_said(unit: MemoryUnit, size: int) -> None:
    pods = (pod_record("chat", annotations={V2: '{"0":{"0":40}}'}),)

    found = owned(gpu(0), pods=pods, settings=OwnerSettings(memory_unit=unit))

    assert lines(found)[0][5] == 40 * size


def test_hamis_annotation_goes_before_its_replicas_in_the_kubelets_list() -> None:
    pods = (pod_record("chat", annotations={HAMI: "GPU-1,NVIDIA,3000,30:;"}),)
    given = (held("chat", "nvidia.com/gpu", "GPU-0-3"),)

    found = owned(gpu(0), gpu(1), pods=pods, given=given)

    assert lines(found) == [("chat", "main", "GPU-1", None, True, 3000 * MIB, 0.3)]


def test_an_annotation_of_a_gpu_that_is_not_there_is_named_and_others_are_kept() -> None:
    pods = (
        pod_record("bad", annotations={V2: '{"0":{"6":1}}'}),
        pod_record("worse", annotations={V2: "{"}),
        pod_record("strange", annotations={HAMI: "GPU-x,NVIDIA,1,0:;"}),
        pod_record("good", annotations={V2: '{"0":{"0":1}}'}),
    )

    found = owned(gpu(0), pods=pods)

    assert [line[0] for line in lines(found)] == ["good"]
    assert len(found.problems) == 3
    assert found.problems[0] == (
        f"pod demo/bad: annotation {V2}: names GPU 6, which this node has not"
    )
    assert found.problems[1].startswith(f"pod demo/worse: annotation {V2}: is not JSON")
    assert "pod demo/strange" in found.problems[2]
    assert "names GPU-x" in found.problems[2]


def test_problems_have_a_bound_that_says_how_many_more_there_are() -> None:
    pods = tuple(pod_record(f"bad-{n}", annotations={V2: "{"}) for n in range(MAX_PROBLEMS + 5))

    found = owned(gpu(0), pods=pods)

    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == "and 5 more of the kind"


def test_memory_that_no_annotation_places_is_on_the_only_gpu() -> None:
    pods = (pod_record("chat", units={"main": 4}),)
    given = (held("chat", "aliyun.com/gpu-mem", count=4),)

    assert lines(owned(gpu(3), pods=pods, given=given)) == [
        ("chat", "main", "GPU-3", None, True, 4 * GIB, 0)
    ]
    # Without the API the kubelet's count tells the same.
    assert lines(owned(gpu(3), pods=None, given=given)) == [
        ("chat", "main", "GPU-3", None, True, 4 * GIB, 0)
    ]


def test_memory_that_no_annotation_places_is_a_problem_among_several_gpus() -> None:
    pods = (pod_record("chat", units={"main": 4}),)
    given = (held("chat", "aliyun.com/gpu-mem", count=4),)

    assert owned(gpu(0), gpu(1), pods=pods).problems == (
        "pod demo/chat has aliyun.com/gpu-mem, no annotation says of which GPU",
    )
    assert owned(gpu(0), gpu(1), pods=None, given=given).problems == (
        "pod demo/chat has aliyun.com/gpu-mem, without the API none knows of which GPU",
    )


@pytest.mark.parametrize(("is_over", "is_deleting"), [(True, False), (False, True), (True, True)])
def test_a_pod_that_is_over_or_ends_has_no_share_any_more(
    is_over: bool,  # noqa: FBT001 a parameter of the test
    is_deleting: bool,  # noqa: FBT001 likewise
) -> None:
    pods = (
        pod_record("old", annotations={V2: "{"}, is_over=is_over, is_deleting=is_deleting),
        pod_record("older", units={"main": 4}, is_over=is_over, is_deleting=is_deleting),
        pod_record("hami", annotations={HAMI: "GPU-0,NVIDIA,1,0:;"}, is_deleting=True),
    )
    given = (
        held("older", "aliyun.com/gpu-mem", count=4),
        held("hami", "nvidia.com/gpu", "GPU-0-1"),
    )

    found = owned(gpu(0), pods=pods, given=given)

    assert (found.allocations, found.problems) == ((), ())


def test_a_pod_that_ends_holds_its_whole_gpu_as_long_as_the_kubelet_says_so() -> None:
    given = (held("chat", "nvidia.com/gpu", "GPU-0"),)

    ending = owned(gpu(0), pods=(pod_record("chat", is_deleting=True),), given=given)
    over = owned(gpu(0), pods=(pod_record("chat", is_over=True),), given=given)

    assert [line[0] for line in lines(ending)] == ["chat"]
    assert lines(over) == []


def test_a_process_belongs_to_the_container_of_its_control_group() -> None:
    pods = (pod_record("chat", container_ids={"c1": "main", "c2": "side"}), pod_record("other"))
    cgroups = {
        10: Cgroup("uid-chat", "c2"),
        11: Cgroup("", "c1"),
        12: Cgroup("uid-other", "unknown"),
        13: Cgroup("uid-nobody", "nobody"),
        14: Cgroup("", ""),
    }

    owners = owned(gpu(0), pods=pods, cgroups=cgroups).process_owners

    assert {pid: (o.pod, o.container) for pid, o in owners.items()} == {
        10: ("chat", "side"),
        11: ("chat", "main"),
        12: ("other", ""),
    }


def test_a_process_of_a_static_pod_is_found_by_the_uid_of_its_manifest() -> None:
    pods = (pod_record("static", annotations={"kubernetes.io/config.hash": "0123abcd"}),)

    found = owned(gpu(0), pods=pods, cgroups={10: Cgroup("0123abcd", "")})

    assert found.process_owners[10].pod == "static"


def test_a_pod_that_gave_up_its_share_leaves_its_processes_without_an_owner() -> None:
    """Else they would look like processes that took a GPU without a right."""
    ending = pod_record("ending", annotations={V2: '{"0":{"0":1}}'}, is_deleting=True)
    thief = pod_record("thief")
    cgroups = {10: Cgroup("uid-ending", ""), 11: Cgroup("uid-thief", "")}

    owners = owned(gpu(0), pods=(ending, thief), cgroups=cgroups).process_owners

    assert {pid: each.pod for pid, each in owners.items()} == {11: "thief"}


def test_an_api_without_any_pod_where_the_kubelet_has_some_is_a_wrong_node_name() -> None:
    found = owned(gpu(0), pods=(), given=(held("chat", "nvidia.com/gpu", "GPU-0"),))

    assert [line[0] for line in lines(found)] == ["chat"]
    assert "knows no pod on node 'gpu-1'" in found.problems[0]


IDS = st.sampled_from(["GPU-0", "GPU-1", "GPU-0::1", "MIG-7", "nvidia0", "x"])
RESOURCES = st.sampled_from(["nvidia.com/gpu", "nvidia.com/gpu.shared", "aliyun.com/gpu-mem", "x"])
NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(['{"0":{"0":1}}', '{"0":{"1":9999}}', "{", '{"0":{"7":1}}', ""])


@given(
    given=st.lists(st.builds(held, NAMES, RESOURCES, IDS), max_size=5),
    pods=st.lists(
        st.builds(
            lambda name, value, units, is_deleting: pod_record(
                name, annotations={V2: value}, units=units, is_deleting=is_deleting
            ),
            NAMES,
            VALUES,
            st.dictionaries(st.just("main"), st.integers(1, 9)),
            st.booleans(),
        ),
        max_size=3,
    ),
)
def test_every_allocation_is_of_a_gpu_that_is_there(
    given: list[HeldDevices], pods: list[Pod]
) -> None:
    node = (gpu(0), mig_gpu(1, "GPU-1", {7: "MIG-7"}))

    found = owned(*node, given=tuple(given), pods=tuple(pods))

    assert {each.device_uuid for each in found.allocations} <= {"GPU-0", "GPU-1"}
    assert all(each.owner.pod in {"a", "b", "c"} for each in found.allocations)
    assert all(isinstance(each.owner, Container) for each in found.process_owners.values())
    assert (found.mode is AllocateMode.NONE) == (not found.allocations)
