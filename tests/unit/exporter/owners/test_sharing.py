import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.owner_nodes import pod_record
from gputide.exporter.owners.settings import MemoryUnit
from gputide.exporter.owners.sharing import ANNOTATIONS, grants_of

V2 = "scheduler.framework.gpushare.allocation"
V3 = "gpushare.alibabacloud.com/gpumemory"
CORES = "gpushare.alibabacloud.com/core-percentage"
HAMI = "hami.io/vgpu-devices-allocated"


def seen(
    annotations: dict[str, str],
    containers: tuple[str, ...] = ("main", "side"),
    units: dict[str, int] | None = None,
) -> list[tuple[str, int | str, int | None, float | None]]:
    grants = grants_of(
        pod_record("chat", annotations=annotations, containers=containers, units=units)
    )
    assert grants.problems == ()
    assert grants.is_annotated
    return [(g.container, g.device, g.units, g.compute_ratio) for g in grants.grants]


def problems(annotations: dict[str, str]) -> tuple[str, ...]:
    return grants_of(pod_record("chat", annotations=annotations)).problems


@pytest.mark.parametrize("annotation", [V2, V3])
def test_memory_by_container_and_gpu_is_read_with_the_containers_names(annotation: str) -> None:
    assert seen({annotation: '{"0":{"1":1},"1":{"1":7,"2":3}}'}) == [
        ("main", 1, 1, 0),
        ("side", 1, 7, 0),
        ("side", 2, 3, 0),
    ]


def test_the_share_of_compute_stands_beside_the_memory() -> None:
    annotations = {V2: '{"0":{"1":4},"1":{"1":2}}', CORES: '{"0":{"1":30}}'}

    assert seen(annotations) == [("main", 1, 4, 0.3), ("side", 1, 2, 0)]


def test_unreadable_compute_leaves_the_memory_known() -> None:
    annotations = {V2: '{"0":{"1":4}}', CORES: "thirty"}

    grants = grants_of(pod_record("chat", annotations=annotations))

    assert [(g.units, g.compute_ratio) for g in grants.grants] == [(4, None)]
    assert grants.problems[0].startswith(f"pod demo/chat: annotation {CORES}: is not JSON")


def test_the_memory_of_whole_gpus_is_kept_to_tell_the_unit() -> None:
    annotations = {
        V2: '{"0":{"1":4096}}',
        "gpushare.alibabacloud.com/device-resource": '{"1":15109}',
    }

    assert grants_of(pod_record("chat", annotations=annotations)).device_units == (15109,)


def test_the_first_generation_knows_the_pod_and_its_gpu() -> None:
    annotations = {
        "ALIYUN_COM_GPU_MEM_IDX": "1",
        "ALIYUN_COM_GPU_MEM_POD": "6",
        "ALIYUN_COM_GPU_MEM_DEV": "15",
        "ALIYUN_COM_GPU_MEM_ASSIGNED": "true",
        "ALIYUN_COM_GPU_MEM_ASSUME_TIME": "1772409600000000000",
    }

    assert seen(annotations, ("main",)) == [("main", 1, 6, 0)]
    assert seen(annotations, units={"side": 6}) == [("side", 1, 6, 0)]
    assert seen(annotations, units={"main": 2, "side": 4}) == [("main", 1, 2, 0), ("side", 1, 4, 0)]
    # Nobody says how much each has; that they have it is known.
    assert seen(annotations) == [("main", 1, None, 0), ("side", 1, None, 0)]


def test_newer_annotations_go_before_older_ones() -> None:
    annotations = {"ALIYUN_COM_GPU_MEM_IDX": "0", V2: '{"0":{"1":4}}', V3: '{"0":{"2":5}}'}

    assert seen(annotations) == [("main", 2, 5, 0)]
    del annotations[V3]
    assert seen(annotations) == [("main", 1, 4, 0)]


def test_hami_names_gpus_by_uuid_with_mib_and_percent() -> None:
    annotations = {HAMI: "GPU-a,NVIDIA,3000,30:GPU-b,NVIDIA,2000,0:;GPU-a,NVIDIA,100,5:;"}

    assert seen(annotations) == [
        ("main", "GPU-a", 3000, 0.3),
        ("main", "GPU-b", 2000, 0),
        ("side", "GPU-a", 100, 0.05),
    ]
    assert grants_of(pod_record("chat", annotations={HAMI: "GPU-a,NVIDIA,1,0:;"})).grants[
        0
    ].unit is (MemoryUnit.MIB)


def test_a_pod_without_annotations_says_nothing() -> None:
    grants = grants_of(pod_record("chat", annotations={"other": "{}", V2: " "}))

    assert (grants.grants, grants.problems, grants.is_annotated) == ((), (), False)


@pytest.mark.parametrize(
    ("annotation", "value", "problem"),
    [
        (V2, "not JSON", "is not JSON"),
        (V2, "[1, 2]", "not the expected shape"),
        (V2, '{"0": {"1": -3}}', "not the expected shape"),
        (V2, '{"0": {"card": 3}}', "not the expected shape"),
        (V2, '{"0": {"1": 1e300}}', "not the expected shape"),
        (V2, '{"7": {"1": 3}}', "names container 7 of 1"),
        (V3, '{"-1": {"1": 3}}', "names container -1 of 1"),
        ("ALIYUN_COM_GPU_MEM_IDX", "first", "'first' is not a whole number"),
        ("ALIYUN_COM_GPU_MEM_IDX", "-1", "'-1' is not a whole number"),
        (HAMI, "GPU-a,NVIDIA:;", "'GPU-a,NVIDIA' is not a UUID"),
        (HAMI, "GPU-a,NVIDIA,3000,30:;GPU-a,NVIDIA,3000,30:;", "names container 1 of 1"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_named_with_its_pod(
    annotation: str, value: str, problem: str
) -> None:
    (found,) = problems({annotation: value})

    assert found.startswith(f"pod demo/chat: annotation {annotation}: {problem}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(sorted(ANNOTATIONS)),
        st.text(max_size=60)
        | JSON.map(json.dumps)
        | st.from_regex(r"([\w,]*:)*;*", fullmatch=True),
    )
)
def test_any_annotation_is_read_or_a_problem(annotations: dict[str, str]) -> None:
    grants = grants_of(pod_record("chat", annotations=annotations))

    assert all(g.container == "main" for g in grants.grants)
    assert all(g.units is None or g.units >= 0 for g in grants.grants)
    assert all(problem.startswith("pod demo/chat: annotation ") for problem in grants.problems)


def test_json_nested_without_end_is_a_problem() -> None:
    assert problems({V2: '{"0":' * 50_000}) != ()
    assert problems({V2: "[" * 100_000}) != ()
