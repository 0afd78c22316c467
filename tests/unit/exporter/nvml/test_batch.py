from collections import Counter

import pynvml

from fakes.nvml_driver import NvmlDriver
from gputide.exporter.nvml.batch import ROWS

READ = """
reading = reader.read(reader.devices()[0])
result = [reading.values, reading.unsupported]
"""


def test_each_type_of_value_becomes_base_units(driver: NvmlDriver) -> None:
    state = {
        f"0.field.{pynvml.NVML_FI_DEV_MEMORY_TEMP}": "uint 44",
        f"0.field.{pynvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION}": 2**40,
        f"0.field.{pynvml.NVML_FI_DEV_POWER_INSTANT}": "double 412512.5",
        f"0.field.{pynvml.NVML_FI_DEV_RETIRED_SBE}": "signed 2",
        f"0.field.{pynvml.NVML_FI_DEV_PERF_POLICY_POWER}": 1_500_000_000,
        f"0.field.{pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX}": 3,
    }
    values, _ = driver.run(READ, state)

    assert values["memory_temperature_celsius"] == 44
    assert values["energy_joules_total"] == 2**40 / 1000
    assert values["power_instant_watts"] == 412.5125
    assert values["retired_sbe_pages_total"] == 2
    assert values["power_violation_seconds_total"] == 1.5
    assert values["nvlink_sent_bytes_total"] == 3072


def test_a_field_refused_alone_has_its_own_reason(driver: NvmlDriver) -> None:
    state = {
        f"0.field.{pynvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL}": 0,
        f"0.field.{pynvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL}": "error 4",
        f"0.field.{pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION}": "error 2",
    }
    values, unsupported = driver.run(READ, state)

    assert values["ecc_sbe_volatile_total"] == 0
    assert "ecc_dbe_volatile_total" not in values
    assert "root" in unsupported["ecc_dbe_volatile_total"]
    assert unsupported["recovery_action"] == "this driver does not know it; a newer one may"
    assert unsupported["retired_sbe_pages_total"] == "this GPU or driver does not support it"


def test_a_call_refused_as_a_whole_costs_its_fields_only(driver: NvmlDriver) -> None:
    values, unsupported = driver.run(READ, {"0.refuse.fields": 999})

    assert {row.field.value for row in ROWS} <= unsupported.keys()
    assert values["power_watts"] == 412.5


def test_no_field_stands_twice() -> None:
    assert max(Counter(row.field for row in ROWS).values()) == 1
