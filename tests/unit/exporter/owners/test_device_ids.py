import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.owner_nodes import gpu, mig_gpu
from gputide.exporter.owners.device_ids import DeviceIndex

CARD = "GPU-11111111-2222-3333-4444-555555555555"
MIG_CARD = "GPU-66666666-7777-8888-9999-000000000000"
INDEX = DeviceIndex([gpu(0, CARD, minor_number=2), mig_gpu(1, MIG_CARD, {7: "MIG-7", 9: "MIG-9"})])


@pytest.mark.parametrize(
    ("device_id", "uuid", "instance", "is_shared"),
    [
        (CARD, CARD, None, False),
        (f"{CARD}::3", CARD, None, True),
        ("MIG-7", MIG_CARD, 7, False),
        ("MIG-9::0", MIG_CARD, 9, True),
        (f"MIG-{MIG_CARD}/9/0", MIG_CARD, 9, False),
        ("nvidia2", CARD, None, False),
        ("nvidia1/gi7", MIG_CARD, 7, False),
        ("nvidia2/vgpu1", CARD, None, True),
        ("nvidia1/gi9/vgpu0", MIG_CARD, 9, True),
        (f"{CARD}-4", CARD, None, True),
    ],
)
def test_each_form_of_a_device_id_names_its_gpu(
    device_id: str,
    uuid: str,
    instance: int | None,
    is_shared: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    place = INDEX.locate(device_id)

    assert place is not None
    assert (place.device.uuid, place.gpu_instance_id, place.is_shared) == (
        uuid,
        instance,
        is_shared,
    )


@pytest.mark.parametrize(
    "device_id",
    [
        "",
        "::",
        "GPU-other",
        "MIG-8",
        "nvidia7",
        "nvidia1/gi",
        "nvidia/gi7",
        "nvidia1/gi7/x",
        "eth0",
    ],
)
def test_what_names_no_gpu_of_the_node_is_nothing(device_id: str) -> None:
    assert INDEX.locate(device_id) is None


def test_an_instance_has_its_own_memory_and_a_strange_one_an_unknown() -> None:
    known, strange = INDEX.locate("nvidia1/gi7"), INDEX.locate("nvidia1/gi3")

    assert known is not None
    assert strange is not None
    assert (known.memory_bytes, strange.memory_bytes) == (5 << 30, None)


def test_a_mig_uuid_is_no_gpu_uuid() -> None:
    assert INDEX.by_uuid("MIG-7") is None
    assert INDEX.by_index(1) is INDEX.by_uuid(MIG_CARD)


@given(st.text(max_size=40) | st.from_regex(r"nvidia\d+(/gi\d+)?(/vgpu\d+)?|.{0,40}::\d*"))
def test_any_text_is_a_place_or_nothing(device_id: str) -> None:
    place = INDEX.locate(device_id)

    assert place is None or place.device in INDEX.devices
