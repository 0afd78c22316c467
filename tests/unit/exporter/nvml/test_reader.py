import pytest

from fakes.nvml_driver import NvmlDriver


def test_a_lost_gpu_raises_and_the_others_are_read(driver: NvmlDriver) -> None:
    program = """
gpus = reader.devices()
for gpu in gpus:
    reader.read(gpu)
state({"count": 3, "1.lost": 1})
again = reader.devices()
result = [
    [each.uuid for each in again] == [each.uuid for each in gpus],
    problem(reader.read, again[1]),
    len(reader.read(again[0]).values) > 30,
    len(reader.read(again[2]).values) > 30,
]
"""
    is_listed, problem, *others = driver.run(program, {"count": 3})

    assert is_listed
    assert problem == ["DeviceLostError", "GPU 1: off the bus (GPU is lost); reset or reboot"]
    assert others == [True, True]


def test_a_gpu_lost_before_anybody_looked_is_not_hidden(driver: NvmlDriver) -> None:
    program = """
gpus = reader.devices()
result = [[each.uuid for each in gpus], problem(reader.read, gpus[1])]
"""
    uuids, problem = driver.run(program, {"count": 2, "1.lost": 1})

    assert uuids[1] == "unknown-1"
    assert problem[0] == "DeviceLostError"


def test_a_lost_gpu_that_comes_back_is_read_again(driver: NvmlDriver) -> None:
    program = """
gpu = reader.devices()[0]
reader.read(gpu)
state({"0.lost": 1})
lost = problem(reader.read, gpu)
state({})
result = [lost[0], reader.read(reader.devices()[0]).values[Field.POWER_WATTS]]
"""
    assert driver.run(program) == ["DeviceLostError", 412.5]


def test_closing_lets_go_of_the_driver_and_reading_then_is_an_error(driver: NvmlDriver) -> None:
    program = """
gpu = reader.devices()[0]
reader.read(gpu), reader.read(gpu)
reader.close()
reader.close()
result = problem(reader.read, gpu)
"""
    assert driver.run(program)[0] == "DriverError"


@pytest.mark.parametrize("count", [1, 8])
def test_a_whole_page_comes_out_of_the_unmodified_binding(driver: NvmlDriver, count: int) -> None:
    program = """
import asyncio
from gputide.exporter.collect import Collector
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.render import render
from gputide.exporter.simulated.owners import SimulatedOwners
from gputide.exporter.simulated.profiles import parse_simulation

async def page():
    settings = CollectionSettings(interval_seconds=0.01)
    owners = SimulatedOwners(parse_simulation("h100x8"), clock)
    collector = Collector(reader, owners, clock, node_name="node", settings=settings)
    collector.start()
    snapshot = await collector.first_snapshot(rounds=2)
    collector.close()
    return render(snapshot).encode().decode()

result = asyncio.run(page())
"""
    state: dict[str, object] = {"count": count}
    for gpu in range(count):
        state |= {f"{gpu}.gpm.1": 50, f"{gpu}.field.83": 10**9}
    lines = driver.run(program, state).splitlines()

    assert sum(line.startswith("DCGM_FI_PROF_GR_ENGINE_ACTIVE{") for line in lines) == count
    assert sum(line.startswith("DCGM_FI_DEV_POWER_USAGE{") for line in lines) == count
    assert f"gputide_exporter_devices_present {count}" in lines


def test_a_call_that_hangs_leaves_the_other_gpus_fresh_and_pages_quick(
    driver: NvmlDriver,
) -> None:
    program = """
import asyncio
from gputide.exporter.collect import Collector
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.model import DeviceState
from gputide.exporter.render import Renderer
from gputide.exporter.simulated.owners import SimulatedOwners
from gputide.exporter.simulated.profiles import parse_simulation

async def scrape():
    settings = CollectionSettings(interval_seconds=0.02, deadline_seconds=0.2, max_age_seconds=5)
    owners = SimulatedOwners(parse_simulation("h100:idle"), clock)
    collector = Collector(reader, owners, clock, node_name="node", settings=settings)
    collector.start()
    await collector.first_snapshot()
    state({"count": 4, "2.hang": 30})
    while collector.snapshot().devices[2].state is not DeviceState.HUNG:
        await clock.sleep(0.01)
    renderer, slowest, oldest = Renderer(), 0.0, 0.0
    reads = collector.counts().reads_total
    for _ in range(20):
        began = clock.monotonic_seconds()
        snapshot = collector.snapshot()
        page = renderer.render(snapshot).encode()
        slowest = max(slowest, clock.monotonic_seconds() - began)
        ages = [snapshot.at_seconds - d.reading.at_seconds for d in snapshot.devices if d.reading]
        oldest = max(oldest, *ages)
        await clock.sleep(0.02)
    states = [each.state for each in snapshot.devices]
    counts = collector.counts()
    hung = [slowest, oldest, states, len(ages), counts.thread_count, counts.reads_total - reads]
    state({"count": 4})
    while collector.snapshot().devices[2].state is not DeviceState.UP:
        await clock.sleep(0.01)
    collector.close()
    return [*hung, b'state="hung"' in page]

result = asyncio.run(scrape())
"""
    slowest, oldest, states, fresh, threads, reads, is_named = driver.run(program, {"count": 4})

    assert slowest < 0.05
    assert oldest < 2
    assert states == ["up", "up", "hung", "up"]
    assert fresh == 3
    assert threads == 4
    assert reads > 0
    assert is_named
