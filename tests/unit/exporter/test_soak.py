"""A day of a node with faults, in seconds: nothing crashes, nothing grows."""

import gc
import sys
import tracemalloc
from collections import Counter

from fakes.clock import FakeClock
from gputide.exporter.collection.node import NodeWatch
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.collection.watch import ErrorKind
from gputide.exporter.model import AllocateMode, DeviceState, Ownership, Snapshot
from gputide.exporter.render import Renderer
from gputide.exporter.simulated.faults import FaultSwitch, GpuFaults
from gputide.exporter.simulated.load import ConstantLoad, noise
from gputide.exporter.simulated.profiles import parse_simulation
from gputide.exporter.simulated.reader import SimulatedReader

ROUND_SECONDS = 30
ROUNDS_AN_HOUR = 3600 // ROUND_SECONDS
ROUNDS_A_DAY = 24 * ROUNDS_AN_HOUR
FAULTS = (
    GpuFaults(lost=True, xid=79),
    GpuFaults(gone=True),
    GpuFaults(hang=True),
    GpuFaults(slow_seconds=3),
    GpuFaults(thermal_throttle=True),
    GpuFaults(xid=31),
    GpuFaults(ecc_single_bit=2),
    GpuFaults(ecc_double_bit=1, xid=48),
)
MAX_GROWTH_BYTES = 16 * 1024
MAX_MORE_BLOCKS = 1000
"""Of some ten thousand readings; what a round keeps is replaced by the next round's."""


class Node:
    """A node whose GPUs break at 1 % of the readings, and mend after a while."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.faults = FaultSwitch()
        node = parse_simulation("h100x2,a100-mig,t4:shared")
        self.reader = SimulatedReader(
            node, ConstantLoad(0.6), self.clock, faults=self.faults, wait=self.wait
        )
        settings = CollectionSettings(deadline_seconds=10)
        self.watch = NodeWatch(self.reader, settings, self.clock)
        self.renderer = Renderer()
        self.states: Counter[DeviceState] = Counter()
        self.hung_while_out = 0
        self.gpus = range(len(node.gpus))

    def wait(self, seconds: float) -> None:
        """Let a slow or hanging call take its time; hanging ones end after a minute."""
        self.clock.seconds += max(seconds, 12)
        self.hung_while_out += sum(
            status.state is DeviceState.HUNG for status in self.watch.statuses()
        )
        for index in self.gpus:
            if self.faults.of(index).hang and noise(1, int(self.clock.seconds)) < 0.3:
                self.faults.clear(index)

    def break_and_mend(self, number: int) -> None:
        for index in self.gpus:
            if noise(7, number, index) < 0.01:
                self.faults.set(index, FAULTS[int(noise(8, number, index) * len(FAULTS))])
            elif noise(9, number, index) < 0.2:
                self.faults.clear(index)

    def round(self, number: int) -> int:
        """Break and mend, read everything, render; return the page's size."""
        self.break_and_mend(number)
        self.clock.seconds += ROUND_SECONDS
        if number % 2 == 0:
            self.watch.enumerate_once()
        while self.watch.take_xid(timeout_seconds=0):
            pass
        for watch in self.watch.watches:
            if watch.is_present:
                watch.read(self.reader)
        statuses = self.watch.statuses()
        self.states.update(status.state for status in statuses)
        if number % 30:
            return 0
        return len(self.renderer.render(self.snapshot()).encode())

    def snapshot(self) -> Snapshot:
        ownership = Ownership(at_seconds=self.clock.seconds, mode=AllocateMode.NONE, allocations=())
        return Snapshot(
            node_name="node",
            at_seconds=self.clock.seconds,
            devices=self.watch.statuses(),
            ownership=ownership,
        )


def blocks() -> int:
    """Return how many pieces of memory Python holds, the dead ones gone."""
    gc.collect()
    return sys.getallocatedblocks()


def test_a_day_with_one_percent_of_faults_neither_crashes_nor_grows() -> None:
    node = Node()
    pages = [node.round(number) for number in range(ROUNDS_A_DAY // 4)]
    blocks_before = blocks()
    pages += [node.round(number) for number in range(ROUNDS_A_DAY // 4, ROUNDS_A_DAY)]
    blocks_after = blocks()

    assert blocks_after - blocks_before < MAX_MORE_BLOCKS
    assert min(size for size in pages if size) > 10_000
    assert node.states[DeviceState.UP] > 0.8 * node.states.total()
    assert node.states[DeviceState.LOST] > 0
    assert node.hung_while_out > 0
    errors = node.watch.errors()
    assert ErrorKind.INTERNAL not in errors
    assert {ErrorKind.LOST, ErrorKind.DEADLINE} <= errors.keys()
    assert {xid.xid for each in node.watch.statuses() for xid in each.xids} == {31, 48, 79}


def test_an_hour_leaves_no_bytes_behind() -> None:
    node = Node()
    for number in range(ROUNDS_AN_HOUR):
        node.round(number)
    gc.collect()
    tracemalloc.start()
    for number in range(ROUNDS_AN_HOUR, ROUNDS_AN_HOUR + 30):
        node.round(number)  # what is kept from one round to the next is replaced by now
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(ROUNDS_AN_HOUR + 30, 2 * ROUNDS_AN_HOUR + 30):
        node.round(number)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert after - before < MAX_GROWTH_BYTES
