"""Simulated nodes beside nodes built by hand from recordings: the same metrics come out."""

from collections import Counter

import pytest

from fakes import gpu_nodes
from fakes.clock import FakeClock
from gputide.exporter.model import DeviceState, DeviceStatus, Snapshot
from gputide.exporter.render import render
from gputide.exporter.selection import Selection, full_selection
from gputide.exporter.simulated.load import DailyTide
from gputide.exporter.simulated.owners import SimulatedOwners
from gputide.exporter.simulated.profiles import PROFILES, parse_simulation
from gputide.exporter.simulated.reader import SimulatedReader
from gputide.exposition import Family, parse

SAME_HARDWARE = {
    "t4": gpu_nodes.t4(),
    "a100": gpu_nodes.a100(),
    "a100-mig": gpu_nodes.a100_mig(),
    "h100x8": gpu_nodes.h100x8(),
}


async def simulated(text: str) -> Snapshot:
    node, clock = parse_simulation(text), FakeClock()
    reader = SimulatedReader(node, DailyTide(), clock)
    statuses = tuple(
        DeviceStatus(device=each, state=DeviceState.UP, reading=reader.read(each))
        for each in reader.devices()
    )
    pids = [process.pid for s in statuses if s.reading for process in s.reading.processes]
    ownership = await SimulatedOwners(node, clock).ownership(reader.devices(), pids)
    return Snapshot(
        node_name="node", at_seconds=clock.seconds, devices=statuses, ownership=ownership
    )


def families(snapshot: Snapshot, selection: Selection | None = None) -> tuple[Family, ...]:
    return tuple(parse(render(snapshot, selection).encode()))


def dcgm_names(snapshot: Snapshot) -> set[str]:
    return {each.name for each in families(snapshot) if each.name.startswith("DCGM_FI_")}


@pytest.mark.parametrize("text", SAME_HARDWARE)
async def test_a_simulated_gpu_has_the_metrics_of_a_real_one(text: str) -> None:
    assert dcgm_names(await simulated(text)) == dcgm_names(SAME_HARDWARE[text])


@pytest.mark.parametrize("text", [*PROFILES, "a10x2:shared", "t4:idle", "h100x4,a100-mig"])
async def test_a_page_with_everything_has_each_series_once(text: str) -> None:
    found = families(await simulated(text), full_selection())
    seen = Counter((s.name, tuple(sorted(s.labels))) for f in found for s in f.samples)

    assert [series for series, count in seen.items() if count > 1] == []
    assert len(found) > 50
