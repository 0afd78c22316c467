from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.kubelet_server import block, list_answer, pod
from gputide.exporter.owners import wire
from gputide.exporter.owners.model import HeldDevices
from gputide.exporter.owners.protobuf import MalformedMessageError
from gputide.exporter.owners.wire import held_devices

NAMES = st.text(max_size=12)
RESOURCES = st.sampled_from(["nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "example.com/nic"])
CONTAINERS = st.dictionaries(
    NAMES, st.dictionaries(RESOURCES, st.lists(NAMES, max_size=3), max_size=3), max_size=3
)


@given(st.lists(st.tuples(NAMES, NAMES, CONTAINERS), max_size=4))
def test_what_the_kubelet_lists_is_read_whole(
    listed: list[tuple[str, str, dict[str, dict[str, list[str]]]]],
) -> None:
    answer = list_answer([pod(name, each, namespace=space) for space, name, each in listed])

    read = [(h.namespace, h.pod, h.container, h.resource_name, h.device_ids)
            for h in held_devices(answer)]  # fmt: skip
    assert read == [
        (space, name, container, resource, tuple(ids))
        for space, name, containers in listed
        for container, resources in containers.items()
        for resource, ids in resources.items()
    ]


def test_the_order_of_fields_within_a_message_does_not_matter() -> None:
    devices = block(2, "GPU-1") + block(1, "nvidia.com/gpu")
    container = block(2, devices) + block(1, "main")

    answer = block(1, block(3, container) + block(2, "demo") + block(1, "chat"))

    assert held_devices(answer) == (
        HeldDevices(
            namespace="demo",
            pod="chat",
            container="main",
            resource_name="nvidia.com/gpu",
            device_ids=("GPU-1",),
            count=1,
        ),
    )


def test_units_of_memory_are_counted_and_not_kept() -> None:
    ids = [f"GPU-1-_-{n}" for n in range(4000)]

    (held,) = held_devices(list_answer([pod("chat", {"main": {"aliyun.com/gpu-mem": ids}})]))

    assert (held.device_ids, held.count) == ((), 4000)


def test_a_list_beyond_any_node_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_DEVICE_IDS", 10)
    answer = list_answer([pod("chat", {"main": {"nvidia.com/gpu": ["x"] * 11}})])

    with pytest.raises(MalformedMessageError, match="more than"):
        held_devices(answer)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_are_a_list_or_malformed(noise: bytes, place: int) -> None:
    good = list_answer([pod("chat", {"main": {"nvidia.com/gpu": ["GPU-1"]}})])
    for data in (noise, good[:place] + noise + good[place:], good[:place]):
        with suppress(MalformedMessageError):
            held_devices(data)
