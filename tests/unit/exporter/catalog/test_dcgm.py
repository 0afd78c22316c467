from collections import Counter

from gputide.exporter.catalog import FIELDS, LABELS, Derived, is_known, own
from gputide.exporter.fields import Fact, Field
from gputide.exposition import Kind

DEFAULT_LIST = """
SM_CLOCK MEM_CLOCK MEMORY_TEMP GPU_TEMP POWER_USAGE TOTAL_ENERGY_CONSUMPTION PCIE_REPLAY_COUNTER
GPU_UTIL MEM_COPY_UTIL ENC_UTIL DEC_UTIL XID_ERRORS FB_FREE FB_USED FB_RESERVED
NVLINK_BANDWIDTH_TOTAL VGPU_LICENSE_STATUS UNCORRECTABLE_REMAPPED_ROWS CORRECTABLE_REMAPPED_ROWS
ROW_REMAP_FAILURE
"""
DEFAULT_PROFILING = "GR_ENGINE_ACTIVE PIPE_TENSOR_ACTIVE DRAM_ACTIVE PCIE_TX_BYTES PCIE_RX_BYTES"


def test_the_default_list_is_dcgm_exporters() -> None:
    names = [row.name for row in FIELDS if row.is_default]

    assert sorted(names) == sorted(
        [f"DCGM_FI_DEV_{name}" for name in DEFAULT_LIST.split()]
        + [f"DCGM_FI_PROF_{name}" for name in DEFAULT_PROFILING.split()]
    )
    assert [row.name for row in LABELS if row.is_default] == ["DCGM_FI_DRIVER_VERSION"]


def test_every_name_is_one_that_dcgm_has_and_stands_once() -> None:
    names = Counter(row.name for row in (*FIELDS, *LABELS))

    assert [name for name in names if not is_known(name)] == []
    assert [name for name, count in names.items() if count > 1] == []


def test_everything_that_a_reader_can_tell_has_a_name() -> None:
    told = {row.source for row in FIELDS}

    assert set(Field) - told == {Field.COMPUTE_PROCESSES}
    assert own.COMPUTE_PROCESSES.name == "gputide_gpu_compute_processes"
    assert set(Derived) <= told
    assert {row.fact for row in LABELS} == set(Fact)


def test_types_are_gauge_or_counter_and_every_row_has_a_help() -> None:
    assert {row.kind for row in FIELDS} == {Kind.GAUGE, Kind.COUNTER}
    assert [row.name for row in FIELDS if not row.help or "\n" in row.help] == []


def test_a_counter_field_comes_from_a_total() -> None:
    totals = {row.name for row in FIELDS if row.source.value.endswith("_total")}

    assert {row.name for row in FIELDS if row.kind is Kind.COUNTER} == totals | {
        "DCGM_FI_DEV_RETIRED_PENDING"  # DCGM's word, though pages leave the queue again
    }
