import pytest

from gputide.exporter.catalog import Derived
from gputide.exporter.fields import Field
from gputide.exporter.page.derive import SOURCES, derive


def test_used_memory_is_a_share_of_what_is_not_reserved() -> None:
    values = {
        Field.MEMORY_USED_BYTES: 30.0,
        Field.MEMORY_TOTAL_BYTES: 100.0,
        Field.MEMORY_RESERVED_BYTES: 40.0,
    }

    assert derive(values, device_count=1)[Derived.MEMORY_USED_RATIO] == pytest.approx(0.5)


def test_sent_and_received_bytes_are_added() -> None:
    values = {Field.NVLINK_SENT_BYTES_TOTAL: 3.0, Field.NVLINK_RECEIVED_BYTES_TOTAL: 4.0}

    assert derive(values, device_count=1)[Derived.NVLINK_BYTES_TOTAL] == 7


def test_what_lacks_a_source_is_absent() -> None:
    assert derive({}, device_count=2) == {Derived.DEVICE_COUNT: 2}
    assert derive({Field.MEMORY_USED_BYTES: 0.0}, device_count=2).keys() == {Derived.DEVICE_COUNT}
    assert Derived.NVLINK_BYTES_TOTAL not in derive(
        {Field.NVLINK_SENT_BYTES_TOTAL: 3.0}, device_count=1
    )


def test_every_derived_quantity_names_its_sources() -> None:
    assert set(SOURCES) == set(Derived)
