"""Snapshots of simulated nodes at one fixed moment, as the exporter would collect them.

from fakes.simulated_nodes import simulated

snapshot = simulated("h100x8")          # whatever --simulate takes
snapshot = simulated("t4:idle", busy_ratio=0)
"""

import asyncio

from fakes.clock import FakeClock
from gputide.exporter.model import Device, DeviceState, DeviceStatus, Snapshot
from gputide.exporter.simulated.load import ConstantLoad
from gputide.exporter.simulated.owners import SimulatedOwners
from gputide.exporter.simulated.profiles import parse_simulation
from gputide.exporter.simulated.reader import SimulatedReader


def simulated(text: str, *, busy_ratio: float = 0.6, running_seconds: float = 600) -> Snapshot:
    """Return the node after it has run that long under a constant load."""
    clock = FakeClock()
    node = parse_simulation(text)
    reader = SimulatedReader(node, ConstantLoad(busy_ratio), clock)
    clock.seconds += running_seconds
    statuses = tuple(_status(reader, device) for device in reader.devices())
    pids = [p.pid for status in statuses if status.reading for p in status.reading.processes]
    owners = SimulatedOwners(node, clock)
    devices = [status.device for status in statuses]
    return Snapshot(
        node_name="gpu-node-1",
        at_seconds=clock.now_seconds(),
        devices=statuses,
        ownership=asyncio.run(owners.ownership(devices, pids)),
    )


def _status(reader: SimulatedReader, device: Device) -> DeviceStatus:
    return DeviceStatus(device=device, state=DeviceState.UP, reading=reader.read(device))
