"""The background collection: a thread for each GPU, one that enumerates, one for XID events."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.exporter.collection.node import NodeWatch
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.collection.watch import ErrorKind, Watch
from gputide.exporter.model import AllocateMode, DeviceState, Ownership, Snapshot
from gputide.exporter.ports import DeviceReader, OwnershipSource

log = structlog.stdlib.get_logger()
_XID_WAIT_SECONDS = 1.0
_JOIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionCounts:
    """What the collection has done since it started."""

    reads_total: int
    errors_total: Mapping[ErrorKind, int]
    hung_devices: int
    thread_count: int
    """Of GPUs: never more than GPUs seen, hung ones included."""


class Collector:
    """Collects until closed; `snapshot` is ready at any time and waits for nothing.

    A driver call that hangs holds up one thread, which is left alone and not multiplied: its GPU
    shows as hung until the call comes back.
    """

    def __init__(
        self,
        reader: DeviceReader,
        owners: OwnershipSource,
        clock: Clock,
        *,
        node_name: str,
        settings: CollectionSettings | None = None,
    ) -> None:
        self._reader = reader
        self._owners = owners
        self._clock = clock
        self._node_name = node_name
        self._settings = settings or CollectionSettings()
        self._node = NodeWatch(reader, self._settings, clock)
        self._threads: dict[str, threading.Thread] = {}
        self._node_threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._ownership = Ownership(
            at_seconds=clock.now_seconds(), mode=AllocateMode.NONE, allocations=()
        )
        self._errors: Counter[ErrorKind] = Counter()
        self._on_progress: Callable[[], object] = _nothing

    async def run(self) -> None:
        """Collect until cancelled; then let go of the driver."""
        self.start()
        try:
            while True:
                await self.refresh_owners()
                await self._clock.sleep(self._settings.interval_seconds)
        finally:
            self.close()

    def start(self) -> None:
        """Start the threads; they go on until `close`."""
        for name, work in (("enumerate", self._enumerate), ("xid", self._take_xids)):
            thread = threading.Thread(target=work, name=f"gputide-{name}", daemon=True)
            self._node_threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Stop the threads, and let go of the driver unless a call of its hangs."""
        self._stop.set()
        threads = [*self._node_threads, *self._threads.values()]
        patience = self._clock.monotonic_seconds() + _JOIN_SECONDS
        for thread in threads:
            thread.join(max(patience - self._clock.monotonic_seconds(), 0.0))
        if any(thread.is_alive() for thread in threads):
            log.warning("a driver call still hangs; the driver is left as it is")
            return
        self._reader.close()

    def snapshot(self) -> Snapshot:
        """Return the node as it is known now."""
        return Snapshot(
            node_name=self._node_name,
            at_seconds=self._clock.now_seconds(),
            devices=self._node.statuses(),
            ownership=self._ownership,
            problem=self._node.problem(),
        )

    async def first_snapshot(self, *, rounds: int = 1) -> Snapshot:
        """Return a snapshot when every GPU was read `rounds` times, or at the deadline.

        Profiling and the use of each process need two readings.
        """
        progress = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._on_progress = lambda: loop.call_soon_threadsafe(progress.set)
        wait_seconds = self._settings.deadline_seconds + (rounds - 1) * (
            self._settings.interval_seconds
        )
        try:
            async with asyncio.timeout(wait_seconds):
                while not self._has_read(rounds):
                    progress.clear()
                    if not self._has_read(rounds):
                        await progress.wait()
        except TimeoutError:
            log.warning("not every GPU was read in time")
        finally:
            self._on_progress = _nothing
        await self.refresh_owners()
        return self.snapshot()

    async def refresh_owners(self) -> None:
        """Ask who holds the GPUs now; where that fails, the answer before stays for a while."""
        statuses = self._node.statuses()
        devices = [status.device for status in statuses]
        pids = {
            process.pid
            for status in statuses
            if status.reading is not None
            for process in status.reading.processes
        }
        try:
            async with asyncio.timeout(self._settings.deadline_seconds):
                self._ownership = await self._owners.ownership(devices, sorted(pids))
        except TimeoutError:
            deadline = self._settings.deadline_seconds
            self._keep_owners(f"no answer who holds the GPUs within {deadline:g} s")
        except GputideError as error:
            self._keep_owners(str(error))

    def problem(self) -> str:
        """Return why the collection does not finish in time, empty where it does.

        One GPU that hangs is no reason, all of them are; a lost one answers in time.
        """
        if self._node.is_enumeration_hung():
            deadline = self._settings.deadline_seconds
            return f"the driver has not told its GPUs within {deadline:g} s"
        statuses = self._node.statuses()
        if statuses and all(each.state is DeviceState.HUNG for each in statuses):
            return f"no GPU can be read: {statuses[0].problem}"
        return ""

    def counts(self) -> CollectionCounts:
        """Return what has been done since the start."""
        watches = self._node.watches
        errors = Counter(self._node.errors())
        errors.update(self._errors)
        return CollectionCounts(
            reads_total=sum(watch.reads_total for watch in watches),
            errors_total=errors,
            hung_devices=sum(watch.is_hung() for watch in watches),
            thread_count=sum(thread.is_alive() for thread in list(self._threads.values())),
        )

    def _keep_owners(self, problem: str) -> None:
        self._errors[ErrorKind.OWNERSHIP] += 1
        age = self._clock.now_seconds() - self._ownership.at_seconds
        allocations = self._ownership.allocations
        if age > self._settings.max_age_seconds:
            allocations = ()  # pods that may be gone must not keep their series
        self._ownership = replace(self._ownership, allocations=allocations, problems=(problem,))

    def _has_read(self, rounds: int) -> bool:
        if self._node.enumerations_total == 0:
            return False
        present = [watch for watch in self._node.watches if watch.is_present]
        return all(watch.reads_total >= rounds for watch in present)

    def _enumerate(self) -> None:
        while not self._stop.is_set():
            self._survives("enumerate GPUs", self._node.enumerate_once)
            self._threads = {key: each for key, each in self._threads.items() if each.is_alive()}
            for watch in self._node.watches:
                if watch.is_present:
                    self._ensure_thread(watch)
            self._on_progress()
            self._stop.wait(self._settings.enumerate_seconds)

    def _ensure_thread(self, watch: Watch) -> None:
        uuid = watch.device.uuid
        thread = self._threads.get(uuid)
        if thread is not None and thread.is_alive():
            return  # also where it hangs: never a second one for the same GPU
        name = f"gputide-gpu{watch.device.index}"
        thread = threading.Thread(target=self._read, args=(watch,), name=name, daemon=True)
        self._threads[uuid] = thread
        thread.start()

    def _read(self, watch: Watch) -> None:
        while not self._stop.is_set() and watch.is_present:
            began = self._clock.monotonic_seconds()
            watch.read(self._reader)
            self._on_progress()
            taken = self._clock.monotonic_seconds() - began
            self._stop.wait(max(self._settings.interval_seconds - taken, 0.0))

    def _take_xids(self) -> None:
        while not self._stop.is_set():
            if not self._survives("wait for XID events", self._take_xid):
                self._stop.wait(self._settings.enumerate_seconds)

    def _take_xid(self) -> None:
        self._node.take_xid(timeout_seconds=_XID_WAIT_SECONDS)

    def _survives(self, doing: str, work: Callable[[], None]) -> bool:
        """Do a round of a thread; log and count what fails, so that the next one comes."""
        try:
            work()
        except GputideError as error:
            self._errors[ErrorKind.DRIVER] += 1
            log.warning("the driver refused", doing=doing, problem=str(error))
        except Exception:  # a bug here must not end the collection of all GPUs
            self._errors[ErrorKind.INTERNAL] += 1
            log.exception("met a bug", doing=doing)
        else:
            return True
        return False


def _nothing() -> None:
    """Do nothing: nobody waits for progress."""
