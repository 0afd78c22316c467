from fakes.clock import FakeClock
from fakes.gpu_nodes import gpu
from gputide.exporter.model import AllocateMode, Ownership
from gputide.exporter.simulated.load import ConstantLoad
from gputide.exporter.simulated.owners import SimulatedOwners
from gputide.exporter.simulated.profiles import parse_simulation
from gputide.exporter.simulated.reader import SimulatedReader


async def ownership(text: str) -> Ownership:
    node, clock = parse_simulation(text), FakeClock()
    reader = SimulatedReader(node, ConstantLoad(0.5), clock)
    devices = reader.devices()
    pids = [each.pid for device in devices for each in reader.read(device).processes]
    return await SimulatedOwners(node, clock).ownership(devices, pids)


async def test_every_process_belongs_to_the_pod_that_holds_its_gpu() -> None:
    found = await ownership("h100x2")

    assert found.mode is AllocateMode.EXCLUSIVE
    assert [each.owner.pod for each in found.allocations] == ["llm-0", "llm-1"]
    assert list(found.process_owners.values()) == [each.owner for each in found.allocations]
    assert not any(each.is_shared for each in found.allocations)


async def test_sharers_have_shares() -> None:
    found = await ownership("a10:shared")

    assert found.mode is AllocateMode.SHARE
    assert [each.compute_ratio for each in found.allocations] == [0.5, 0.3, 0.2]
    assert len({each.device_uuid for each in found.allocations}) == 1
    assert all(each.is_shared and each.memory_bytes for each in found.allocations)


async def test_mig_instances_have_a_pod_each() -> None:
    found = await ownership("a100-mig")

    assert [each.gpu_instance_id for each in found.allocations] == [5, 7, 8, 9]


async def test_nobody_holds_an_idle_gpu_or_one_that_is_not_simulated() -> None:
    assert (await ownership("t4:idle")).mode is AllocateMode.NONE

    owners = SimulatedOwners(parse_simulation("t4"), FakeClock())
    found = await owners.ownership([gpu("Tesla T4", index=5)], [1])
    assert (found.allocations, dict(found.process_owners)) == ((), {})
