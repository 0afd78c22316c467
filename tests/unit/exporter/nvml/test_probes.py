from collections import Counter

import pytest

from fakes.nvml_driver import NvmlDriver
from gputide.exporter.fields import Field
from gputide.exporter.nvml import batch, gpm, probes

READ = """
reading = reader.read(reader.devices()[0])
result = [reading.values, reading.unsupported]
"""
ALL = (*probes.MOVING, *probes.STEADY, *probes.PCIE_THROUGHPUT)


def test_calls_give_base_units(driver: NvmlDriver) -> None:
    values, _ = driver.run(READ, {"0.clock.1": 1755, "0.power": 98_250, "0.license": 0})

    assert values["sm_clock_hertz"] == 1755e6
    assert values["power_watts"] == 98.25
    assert values["gpu_utilization_ratio"] == pytest.approx(0.87)
    assert values["encoder_utilization_ratio"] == pytest.approx(0.12)
    assert values["fan_speed_ratio"] == pytest.approx(0.4)
    assert (values["power_min_limit_watts"], values["power_max_limit_watts"]) == (200, 700)
    assert values["memory_total_bytes"] == 81_559 * 2**20
    assert values["memory_reserved_bytes"] == 551 * 2**20
    assert values["bar1_used_bytes"] == 5 * 2**20
    assert values["clock_event_reasons"] == 4
    assert values["vgpu_license_status"] == 0


def test_an_older_driver_gives_what_it_has_under_the_names_of_then(
    old_driver: NvmlDriver,
) -> None:
    values, unsupported = old_driver.run(READ)

    assert values["clock_event_reasons"] == 4
    assert values["memory_used_bytes"] == 4935 * 2**20
    assert unsupported["memory_reserved_bytes"].startswith("this driver counts it as used")
    assert "does not have the call" in unsupported["mig_mode"]
    assert "does not have the call" in unsupported["compute_processes"]
    assert "does not have the call" in unsupported["profiling_sm_active_ratio"]


def test_a_state_that_the_driver_does_not_know_is_not_a_number(driver: NvmlDriver) -> None:
    program = READ.replace("reading.values", "str(reading.values[Field.PERFORMANCE_STATE])")

    assert driver.run(program, {"0.pstate": 32})[0] == "nan"


def test_pcie_throughput_is_asked_for_only_where_switched_on(driver: NvmlDriver) -> None:
    values, unsupported = driver.run(READ)
    assert "pcie_sent_bytes_per_second" not in values
    assert "20 ms" in unsupported["pcie_sent_bytes_per_second"]

    switched = "reader = NvmlReader(clock, has_pcie_throughput=True)\n" + READ
    values, _ = driver.run(switched, {"0.throughput.0": 5, "0.throughput.1": 7})
    assert values["pcie_sent_bytes_per_second"] == 5000
    assert values["pcie_received_bytes_per_second"] == 7000


def test_every_field_has_exactly_one_source() -> None:
    elsewhere = (*probes_memory(), Field.COMPUTE_PROCESSES, Field.XID_LAST, *gpm.FIELDS)
    sources = Counter(
        (
            *(row.field for row in batch.ROWS),
            *(field for probe in ALL for field in probe.fields),
            *elsewhere,
        )
    )

    assert sources == Counter(Field)


def probes_memory() -> tuple[Field, ...]:
    return tuple(Field(f"memory_{each}_bytes") for each in ("total", "used", "free", "reserved"))
