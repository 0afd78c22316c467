"""Quantities that are computed from others. Pure; NaN and absent stay absent."""

from collections.abc import Mapping

from gputide.exporter.catalog import Derived
from gputide.exporter.fields import Field


def derive(values: Mapping[Field, float], *, device_count: int) -> dict[Derived, float]:
    """Return what `values` of one GPU or instance allow to compute, in base units."""
    derived: dict[Derived, float] = {Derived.DEVICE_COUNT: device_count}
    used = values.get(Field.MEMORY_USED_BYTES)
    total = values.get(Field.MEMORY_TOTAL_BYTES)
    usable = (total or 0) - values.get(Field.MEMORY_RESERVED_BYTES, 0)
    if used is not None and usable > 0:
        derived[Derived.MEMORY_USED_RATIO] = used / usable
    sent = values.get(Field.NVLINK_SENT_BYTES_TOTAL)
    received = values.get(Field.NVLINK_RECEIVED_BYTES_TOTAL)
    if sent is not None and received is not None:
        derived[Derived.NVLINK_BYTES_TOTAL] = sent + received
    return derived


SOURCES: Mapping[Derived, tuple[Field, ...]] = {
    Derived.MEMORY_USED_RATIO: (Field.MEMORY_USED_BYTES, Field.MEMORY_TOTAL_BYTES),
    Derived.NVLINK_BYTES_TOTAL: (
        Field.NVLINK_SENT_BYTES_TOTAL,
        Field.NVLINK_RECEIVED_BYTES_TOTAL,
    ),
    Derived.DEVICE_COUNT: (),
}
"""What each is computed from, so that a missing one can be explained."""
