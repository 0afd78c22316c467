from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fakes import gpu_nodes
from fakes.gpu_nodes import IDLE, container, device_status, gpu, node
from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import Allocation, ProcessReading, Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.page.model import Cut
from gputide.exporter.render import Renderer, render
from gputide.exporter.selection import full_selection
from gputide.exposition import Format, parse

texts = st.text(max_size=12)


def pods(page: bytes, family: str) -> list[str | None]:
    samples = next(f for f in parse(page) if f.name == family).samples
    return [dict(sample.labels).get("pod") for sample in samples]


def test_a_gpu_that_several_share_has_its_series_once_and_without_a_pod() -> None:
    page = render(gpu_nodes.shared()).encode()

    assert pods(page, "DCGM_FI_DEV_GPU_UTIL") == [None]


def test_a_pod_that_is_gone_is_gone_from_the_next_page() -> None:
    renderer = Renderer()
    held = gpu_nodes.a100()

    assert pods(renderer.render(held).encode(), "DCGM_FI_DEV_GPU_UTIL") == ["trainer-0"]
    after = renderer.render(gpu_nodes.without_owners(held)).encode()
    assert b"trainer-0" not in after
    assert pods(after, "DCGM_FI_DEV_GPU_UTIL") == [None]


def test_a_renderer_that_has_seen_other_nodes_prints_what_a_new_one_prints() -> None:
    renderer = Renderer()
    nodes = (gpu_nodes.h100x8(), gpu_nodes.a100_mig(), gpu_nodes.shared(), gpu_nodes.h100x8())

    for snapshot in nodes:
        assert renderer.render(snapshot).encode() == render(snapshot).encode()


def test_too_many_series_are_cut_from_the_end_and_counted() -> None:
    whole = render(gpu_nodes.h100x8())
    page = render(gpu_nodes.h100x8(), options=PageOptions(max_series=20))

    assert page.series_count == 20
    assert page.cuts == {Cut.SERIES: whole.series_count - 20}
    text = page.encode().decode()
    assert f'gputide_exporter_cut{{what="series"}} {whole.series_count - 20}\n' in text
    assert "gputide_exporter_series 20\n" in text


def test_the_count_of_series_is_that_of_the_page() -> None:
    for snapshot in (gpu_nodes.h100x8(), gpu_nodes.shared(), gpu_nodes.no_gpu()):
        page = render(snapshot, full_selection())
        lines = [line for line in page.encode().splitlines() if line.startswith(b"DCGM_")]

        assert len(lines) == page.series_count


@given(texts, texts, texts, st.sampled_from(Format))
def test_any_text_in_a_label_gives_a_page_that_can_be_read(
    model: str, pod: str, process: str, target: Format
) -> None:
    device = replace(gpu(model), facts={Fact.DRIVER_VERSION: process})
    owner = replace(container(pod), pod_labels={model: pod, process: model})
    status = device_status(
        device, IDLE, processes=(ProcessReading(pid=1, name=process, sm_ratio=1),)
    )
    snapshot = node(
        replace(status, problem=pod),
        allocations=(Allocation(owner=owner, device_uuid=device.uuid),),
        process_owners={1: owner},
        problems=(model, pod, process),
        problem=pod,
    )
    page = render(snapshot, options=PageOptions(has_pod_labels=True, has_pod_uid=True))
    samples = [s for f in parse(page.encode(target), target) for s in f.samples]

    assert len({(s.name, frozenset(s.labels)) for s in samples}) == len(samples)
    utilization = next(s for s in samples if s.name == "DCGM_FI_DEV_GPU_UTIL")
    assert dict(utilization.labels)["pod"] == pod.encode("utf-8", "replace").decode()


@given(
    values=st.dictionaries(st.sampled_from(Field), st.floats(), max_size=12),
    ratio=st.floats(),
    mig=st.dictionaries(st.sampled_from([5, 7, 8, 9, 99]), st.just({Field.MEMORY_USED_BYTES: 1.0})),
)
def test_any_reading_gives_a_page_that_can_be_read(
    values: dict[Field, float], ratio: float, mig: dict[int, dict[Field, float]]
) -> None:
    status = gpu_nodes.a100_mig().devices[0]
    assert status.reading is not None
    process = ProcessReading(pid=1, name="p", sm_ratio=ratio)
    reading = replace(
        status.reading, values=values, mig_values=mig, unsupported={}, processes=(process,)
    )
    snapshot: Snapshot = replace(gpu_nodes.a100_mig(), devices=(replace(status, reading=reading),))

    options = PageOptions(has_xid_text=True)

    assert parse(render(snapshot, full_selection(), options).encode())
