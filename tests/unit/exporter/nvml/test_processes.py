import pytest

from fakes.nvml_driver import NvmlDriver
from gputide.exporter.model import ProcessReading
from gputide.exporter.nvml.processes import Use, with_use

READ = """
from dataclasses import asdict
reading = reader.read(reader.devices()[0])
result = [asdict(each) for each in reading.processes]
result.append(reading.values.get(Field.COMPUTE_PROCESSES))
"""


def test_a_process_has_memory_and_use(driver: NvmlDriver) -> None:
    state = {"0.compute.0.pid": 77, "0.compute.0.mib": 100, "0.use.0.pid": 77, "0.use.0.sm": 40}
    process, count = driver.run(READ, state)

    assert count == 1
    assert process["name"] == "/usr/bin/worker-77"
    assert process["memory_bytes"] == 100 * 2**20
    assert process["sm_ratio"] == 0.4
    assert process["memory_copy_ratio"] == 0.1
    assert process["gpu_instance_id"] is None


def test_samples_of_a_process_are_averaged_and_senseless_ones_dropped(driver: NvmlDriver) -> None:
    state = {"0.compute.0.pid": 77, "0.use.0.pid": 77, "0.use.0.sm": 40}
    state |= {"0.use.1.pid": 77, "0.use.1.sm": 60, "0.use.2.pid": 77, "0.use.2.sm": 4_294_967}
    process, _ = driver.run(READ, state)

    assert process["sm_ratio"] == pytest.approx(0.5)


def test_no_samples_are_an_idle_process_not_an_error(driver: NvmlDriver) -> None:
    process, _ = driver.run(READ, {"0.compute.0.pid": 77, "0.compute.0.mib": 100})

    assert process["sm_ratio"] == process["encoder_ratio"] == 0


def test_what_the_driver_does_not_tell_is_none(driver: NvmlDriver) -> None:
    process, _ = driver.run(READ, {"0.compute.0.pid": 404, "0.refuse.use": 3})

    assert process["memory_bytes"] is None
    assert process["sm_ratio"] is None
    assert process["name"] == ""


def test_one_that_computes_and_draws_is_listed_once(driver: NvmlDriver) -> None:
    state = {"0.compute.0.pid": 1, "0.graphics.0.pid": 1, "0.graphics.1.pid": 2}
    *processes, count = driver.run(READ, state)

    assert [(each["pid"], each["is_compute"]) for each in processes] == [(1, True), (2, False)]
    assert count == 1


def test_a_list_that_is_refused_is_no_list_of_nobody(driver: NvmlDriver) -> None:
    assert driver.run(READ, {"0.refuse.compute": 4}) == [None]


def test_use_is_idle_where_untold_of_a_process_and_none_where_untold_at_all() -> None:
    process = ProcessReading(pid=1, name="")

    assert with_use(process, {2: Use(sm=1)}, "a").sm_ratio == 0
    assert with_use(process, None, "a").sm_ratio is None
