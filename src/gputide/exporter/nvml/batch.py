"""Fields that NVML gives in one call, nvmlDeviceGetFieldValues. A row is a field."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.fields import Field
from gputide.exporter.nvml.driver import Handle

ALL_LINKS = 0xFFFFFFFF
"""Scope of an NVLink field: the sum of the links."""

MILLI = 1e-3
NANO = 1e-9
KIBI = 1024.0


@dataclass(frozen=True, slots=True)
class Row:
    """A field, NVML's number for it, and what turns its value into base units."""

    field: Field
    field_id: int
    factor: float = 1
    scope: int = 0


ROWS: tuple[Row, ...] = (
    Row(Field.MEMORY_TEMPERATURE_CELSIUS, pynvml.NVML_FI_DEV_MEMORY_TEMP),
    Row(Field.ENERGY_JOULES_TOTAL, pynvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, MILLI),
    Row(Field.POWER_INSTANT_WATTS, pynvml.NVML_FI_DEV_POWER_INSTANT, MILLI),
    Row(Field.ECC_SBE_VOLATILE_TOTAL, pynvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL),
    Row(Field.ECC_DBE_VOLATILE_TOTAL, pynvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL),
    Row(Field.ECC_SBE_AGGREGATE_TOTAL, pynvml.NVML_FI_DEV_ECC_SBE_AGG_TOTAL),
    Row(Field.ECC_DBE_AGGREGATE_TOTAL, pynvml.NVML_FI_DEV_ECC_DBE_AGG_TOTAL),
    Row(Field.RETIRED_SBE_PAGES_TOTAL, pynvml.NVML_FI_DEV_RETIRED_SBE),
    Row(Field.RETIRED_DBE_PAGES_TOTAL, pynvml.NVML_FI_DEV_RETIRED_DBE),
    Row(Field.RETIRED_PENDING_PAGES, pynvml.NVML_FI_DEV_RETIRED_PENDING),
    Row(Field.REMAPPED_CORRECTABLE_ROWS_TOTAL, pynvml.NVML_FI_DEV_REMAPPED_COR),
    Row(Field.REMAPPED_UNCORRECTABLE_ROWS_TOTAL, pynvml.NVML_FI_DEV_REMAPPED_UNC),
    Row(Field.ROW_REMAP_PENDING, pynvml.NVML_FI_DEV_REMAPPED_PENDING),
    Row(Field.ROW_REMAP_FAILURE, pynvml.NVML_FI_DEV_REMAPPED_FAILURE),
    Row(Field.POWER_VIOLATION_SECONDS_TOTAL, pynvml.NVML_FI_DEV_PERF_POLICY_POWER, NANO),
    Row(Field.THERMAL_VIOLATION_SECONDS_TOTAL, pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL, NANO),
    Row(Field.SYNC_BOOST_VIOLATION_SECONDS_TOTAL, pynvml.NVML_FI_DEV_PERF_POLICY_SYNC_BOOST, NANO),
    Row(
        Field.BOARD_LIMIT_VIOLATION_SECONDS_TOTAL, pynvml.NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT, NANO
    ),
    Row(
        Field.LOW_UTIL_VIOLATION_SECONDS_TOTAL, pynvml.NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION, NANO
    ),
    Row(
        Field.RELIABILITY_VIOLATION_SECONDS_TOTAL, pynvml.NVML_FI_DEV_PERF_POLICY_RELIABILITY, NANO
    ),
    Row(Field.NVLINK_CRC_FLIT_ERRORS_TOTAL, pynvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL),
    Row(Field.NVLINK_CRC_DATA_ERRORS_TOTAL, pynvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL),
    Row(Field.NVLINK_REPLAY_ERRORS_TOTAL, pynvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL),
    Row(Field.NVLINK_RECOVERY_ERRORS_TOTAL, pynvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL),
    Row(
        Field.NVLINK_SENT_BYTES_TOTAL,
        pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
        KIBI,
        ALL_LINKS,
    ),
    Row(
        Field.NVLINK_RECEIVED_BYTES_TOTAL,
        pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
        KIBI,
        ALL_LINKS,
    ),
    Row(Field.RECOVERY_ACTION, pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION),
)

_MEMBERS = {
    pynvml.NVML_VALUE_TYPE_DOUBLE: "dVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_INT: "siVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_SHORT: "usVal",
}


def ask(handle: Handle, rows: Sequence[Row]) -> Iterator[tuple[Row, float | pynvml.NVMLError]]:
    """Ask for rows in one call; yield for each its value in base units, or its own error.

    Raise NVMLError where the call as a whole fails.
    """
    answers = pynvml.nvmlDeviceGetFieldValues(handle, [(row.field_id, row.scope) for row in rows])
    for row, answer in zip(rows, answers, strict=True):
        member = _MEMBERS.get(answer.valueType)
        if answer.nvmlReturn != pynvml.NVML_SUCCESS:
            yield row, pynvml.NVMLError(answer.nvmlReturn)
        elif member is None:
            yield row, pynvml.NVMLError(pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
        else:
            yield row, float(getattr(answer.value, member)) * row.factor
