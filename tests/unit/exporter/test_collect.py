"""The threads for real; each test waits for events, never for time to pass."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import pytest

from fakes.clock import FakeClock
from fakes.device_reader import FakeReader
from fakes.gpu_nodes import container, gpu
from gputide.clock import SystemClock
from gputide.errors import GputideError
from gputide.exporter.collect import Collector
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.collection.watch import ErrorKind
from gputide.exporter.model import (
    AllocateMode,
    Allocation,
    Device,
    DeviceState,
    Ownership,
    ProcessReading,
)
from gputide.exporter.ports import DeviceLostError, DriverError
from gputide.exporter.render import Renderer

GPUS = [gpu("Tesla T4", index=index) for index in range(3)]
QUICK = CollectionSettings(
    interval_seconds=0.005, enumerate_seconds=0.005, deadline_seconds=0.1, max_age_seconds=5
)


class FakeOwners:
    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[int]]] = []
        self.error: Exception | None = None
        self.is_hanging = False

    async def ownership(self, devices: Iterable[Device], pids: Iterable[int]) -> Ownership:
        uuids = [each.uuid for each in devices]
        self.asked.append((uuids, list(pids)))
        if self.is_hanging:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        held = tuple(Allocation(owner=container("pod"), device_uuid=uuid) for uuid in uuids)
        return Ownership(at_seconds=1_000, mode=AllocateMode.EXCLUSIVE, allocations=held)


class Scene:
    def __init__(self, settings: CollectionSettings = QUICK) -> None:
        self.clock = SystemClock()
        self.reader = FakeReader(GPUS, self.clock.now_seconds)
        self.owners = FakeOwners()
        self.collector = Collector(
            self.reader, self.owners, self.clock, node_name="node", settings=settings
        )

    def states(self) -> list[DeviceState]:
        return [each.state for each in self.collector.snapshot().devices]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await self.clock.sleep(0.002)


@asynccontextmanager
async def running(scene: Scene) -> AsyncIterator[Scene]:
    scene.collector.start()
    try:
        yield scene
    finally:
        for hang in scene.reader.hangs.values():
            hang.set()
        await asyncio.to_thread(scene.collector.close)


async def test_the_first_snapshot_has_every_gpu_and_its_owner() -> None:
    scene = Scene()
    scene.reader.processes[GPUS[1].uuid] = (ProcessReading(pid=42, name="python"),)
    async with running(scene):
        snapshot = await scene.collector.first_snapshot(rounds=2)

    assert [each.state for each in snapshot.devices] == [DeviceState.UP] * 3
    assert len(snapshot.ownership.allocations) == 3
    assert scene.owners.asked == [([each.uuid for each in GPUS], [42])]
    assert all(count >= 2 for count in scene.reader.reads.values())
    assert scene.collector.problem() == ""
    assert scene.reader.closed == 1


async def test_a_node_without_driver_has_a_snapshot_at_once() -> None:
    scene = Scene()
    scene.reader.enumeration_error = DriverError("no driver: install one")
    async with running(scene):
        snapshot = await scene.collector.first_snapshot()

    assert snapshot.devices == ()
    assert snapshot.problem == "no driver: install one"
    assert scene.collector.problem() == ""


async def test_a_gpu_that_hangs_costs_its_own_series_and_one_thread() -> None:
    scene = Scene()
    hung = GPUS[1].uuid
    async with running(scene):
        await scene.collector.first_snapshot()
        scene.reader.entered[hung] = threading.Event()
        scene.reader.hangs[hung] = threading.Event()
        await asyncio.to_thread(scene.reader.entered[hung].wait, 20)
        await scene.until(lambda: scene.states()[1] is DeviceState.HUNG)
        reads = dict(scene.reader.reads)
        await scene.until(lambda: scene.reader.reads[GPUS[0].uuid] > reads[GPUS[0].uuid] + 20)

        snapshot = scene.collector.snapshot()
        assert [each.state for each in snapshot.devices] == [
            DeviceState.UP,
            DeviceState.HUNG,
            DeviceState.UP,
        ]
        assert scene.reader.reads[hung] == reads[hung]
        assert scene.collector.counts().thread_count == 3
        assert scene.collector.counts().hung_devices == 1
        assert scene.collector.counts().errors_total[ErrorKind.DEADLINE] == 1
        assert b'state="hung"' in Renderer().render(snapshot).encode()

        scene.reader.hangs.pop(hung).set()
        await scene.until(lambda: scene.states() == [DeviceState.UP] * 3)
        assert scene.collector.counts().thread_count == 3


async def test_only_when_every_gpu_hangs_the_collection_is_unwell() -> None:
    scene = Scene()
    async with running(scene):
        await scene.collector.first_snapshot()
        for each in GPUS:
            scene.reader.hangs[each.uuid] = threading.Event()
        await scene.until(lambda: scene.states() == [DeviceState.HUNG] * 3)

        assert "has not come back" in scene.collector.problem()


async def test_a_driver_that_does_not_enumerate_in_time_is_named() -> None:
    scene = Scene()
    scene.reader.enumeration_hang = threading.Event()
    async with running(scene):
        snapshot = await scene.collector.first_snapshot()
        await scene.until(lambda: scene.collector.problem() != "")

        assert snapshot.devices == ()
        assert scene.collector.snapshot().problem == scene.collector.problem()
        assert scene.collector.problem().startswith("the driver has not told its GPUs")
        scene.reader.enumeration_hang.set()


async def test_a_gpu_that_goes_and_comes_back_is_read_by_one_thread_again() -> None:
    scene = Scene()
    async with running(scene):
        await scene.collector.first_snapshot()
        scene.reader.present = GPUS[:2]
        await scene.until(lambda: scene.collector.counts().thread_count == 2)
        assert scene.states()[2] is DeviceState.LOST

        scene.reader.present = GPUS
        await scene.until(lambda: scene.states() == [DeviceState.UP] * 3)
        assert scene.collector.counts().thread_count == 3


async def test_xid_events_come_from_a_thread_of_their_own() -> None:
    scene = Scene()
    async with running(scene):
        await scene.collector.first_snapshot()
        scene.reader.xids.append((GPUS[0].uuid, 79))
        await scene.until(lambda: bool(scene.collector.snapshot().devices[0].xids))

    assert scene.collector.snapshot().devices[0].xids[0].xid == 79


async def test_bugs_in_the_reader_are_counted_and_collecting_goes_on() -> None:
    scene = Scene()
    scene.reader.xid_error = RuntimeError("bug")
    scene.reader.enumeration_error = RuntimeError("bug")
    async with running(scene):
        counts = scene.collector.counts
        await scene.until(lambda: counts().errors_total.get(ErrorKind.INTERNAL, 0) >= 4)
        scene.reader.enumeration_error = scene.reader.xid_error = None
        await scene.until(lambda: scene.states() == [DeviceState.UP] * 3)


@pytest.mark.parametrize("error", [GputideError("kubelet speaks nonsense"), None])
async def test_owners_that_cannot_be_had_stay_for_a_while_with_the_reason(
    error: GputideError | None,
) -> None:
    clock = FakeClock(now_seconds=1_000)
    owners = FakeOwners()
    reader = FakeReader(GPUS)
    settings = CollectionSettings(deadline_seconds=0.01, max_age_seconds=60)
    collector = Collector(reader, owners, clock, node_name="node", settings=settings)
    owners_before = Ownership(
        at_seconds=1_000,
        mode=AllocateMode.EXCLUSIVE,
        allocations=(Allocation(owner=container("pod"), device_uuid=GPUS[0].uuid),),
    )
    collector._ownership = owners_before
    owners.error, owners.is_hanging = error, error is None

    clock.seconds += 60
    await collector.refresh_owners()
    kept = collector.snapshot().ownership
    clock.seconds += 1
    await collector.refresh_owners()
    dropped = collector.snapshot().ownership

    reason = str(error or "no answer who holds the GPUs within 0.01 s")
    assert kept.problems == dropped.problems == (reason,)
    assert kept.allocations == owners_before.allocations
    assert dropped.allocations == ()
    assert collector.counts().errors_total == {ErrorKind.OWNERSHIP: 2}


async def test_running_asks_for_owners_until_cancelled_and_then_lets_go() -> None:
    scene = Scene()
    scene.reader.errors[GPUS[0].uuid] = DeviceLostError("off the bus")
    task = asyncio.create_task(scene.collector.run())
    await scene.until(lambda: len(scene.owners.asked) > 3)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert task.cancelled()
    assert scene.reader.closed == 1
    assert scene.states()[0] is DeviceState.LOST
