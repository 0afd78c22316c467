from hypothesis import given
from hypothesis import strategies as st

from fakes.nvml_driver import NvmlDriver
from gputide.exporter.nvml.mig import MIB, profile_name

READ = """
gpu = reader.devices()[0]
reading = reader.read(gpu)
result = [
    [[each.gpu_instance_id, each.uuid, each.profile] for each in gpu.mig_instances],
    reading.mig_values,
    [[each.pid, each.gpu_instance_id, each.sm_ratio] for each in reading.processes],
    reading.values,
]
"""
TWO = {
    "0.mig": 2,
    "0.mig.0.used": 6,
    "0.mig.1.slices": 2,
    "0.mig.1.gb": 20,
    "0.mig.1.memory": 20_096,
    "0.mig.1.used": 4384,
    "0.mig.1.compute.0.pid": 9,
    "0.mig.1.compute.0.mib": 4300,
}


def test_instances_have_values_and_processes_of_their_own(driver: NvmlDriver) -> None:
    instances, values, processes, card = driver.run(READ, TWO)

    assert [each[0] for each in instances] == [7, 8]
    assert [each[2] for each in instances] == ["1g.10gb", "2g.20gb"]
    assert instances[0][1] != instances[1][1]
    assert values["7"]["memory_used_bytes"] == 6 * MIB
    assert values["8"]["memory_used_bytes"] == 4384 * MIB
    assert values["8"]["memory_total_bytes"] == 20_096 * MIB
    assert values["8"]["compute_processes"] == 1
    assert processes == [[9, 8, None]]
    assert card["mig_mode"] == 1
    assert card["power_watts"] == 412.5
    assert "gpu_utilization_ratio" not in card


def test_before_instances_told_their_profile_it_follows_from_slices(driver: NvmlDriver) -> None:
    instances, *_ = driver.run(READ, {**TWO, "0.mignames": 0})

    assert [each[2] for each in instances] == ["1g.10gb", "2g.20gb"]


def test_compute_instances_of_one_gpu_instance_are_one(driver: NvmlDriver) -> None:
    instances, *_ = driver.run(READ, {**TWO, "0.mig.0.id": 5, "0.mig.1.id": 5})

    assert [each[0] for each in instances] == [5]


def test_instances_that_are_made_anew_are_seen(driver: NvmlDriver) -> None:
    program = """
before = reader.devices()[0]
reader.read(before)
state({"0.mig": 3})
after = reader.devices()[0]
result = [len(before.mig_instances), sorted(reader.read(after).mig_values)]
"""
    assert driver.run(program, {"0.mig": 1}) == [1, [7, 8, 9]]


def test_an_instance_that_vanished_costs_its_own_values_only(driver: NvmlDriver) -> None:
    _, values, _, card = driver.run(READ, {"0.mig": 1, "0.refuse.memory2": 2, "0.refuse.memory": 2})

    assert values["7"] == {}
    assert card["power_watts"] == 412.5


@given(eighths=st.sampled_from([1, 2, 4, 8]), gigabytes=st.sampled_from([40, 48, 80, 96, 144]))
def test_a_profile_is_named_by_the_eighths_of_memory_it_takes(eighths: int, gigabytes: int) -> None:
    total = gigabytes * 1024 * MIB - 361 * MIB
    memory = total * eighths // 8 - 200 * MIB

    assert profile_name(3, memory, total) == f"3g.{gigabytes * eighths // 8}gb"
