"""GPUs that a test holds in its hands: a DeviceReader.

reader = FakeReader([gpu("Tesla T4")])
reader.errors[uuid] = DeviceLostError("...")   # until removed
reader.hangs[uuid] = threading.Event()         # until set
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable

from gputide.exporter.fields import Field
from gputide.exporter.model import Device, ProcessReading, Reading


class FakeReader:
    """Reads a GPU's power as the number of readings so far, unless told otherwise."""

    def __init__(self, devices: Iterable[Device], now: Callable[[], float] = lambda: 0.0) -> None:
        self.present = list(devices)
        self.now = now
        self.errors: dict[str, Exception] = {}
        self.hangs: dict[str, threading.Event] = {}
        self.enumeration_error: Exception | None = None
        self.enumeration_hang: threading.Event | None = None
        self.xids: deque[tuple[str, int]] = deque()
        self.xid_error: Exception | None = None
        self.processes: dict[str, tuple[ProcessReading, ...]] = {}
        self.during_read: Callable[[], None] = lambda: None
        self.entered: dict[str, threading.Event] = {}
        self.reads: Counter[str] = Counter()
        self.closed = 0

    def devices(self) -> tuple[Device, ...]:
        """Return those present."""
        if self.enumeration_hang is not None:
            self.enumeration_hang.wait(30)
        if self.enumeration_error is not None:
            raise self.enumeration_error
        return tuple(self.present)

    def read(self, device: Device) -> Reading:
        """Count, hang or fail as told."""
        at_seconds = self.now()
        self.reads[device.uuid] += 1
        if device.uuid in self.entered:
            self.entered[device.uuid].set()
        if device.uuid in self.hangs:
            self.hangs[device.uuid].wait(30)
        if device.uuid in self.errors:
            raise self.errors[device.uuid]
        self.during_read()
        return Reading(
            at_seconds=at_seconds,
            values={Field.POWER_WATTS: float(self.reads[device.uuid])},
            unsupported={},
            processes=self.processes.get(device.uuid, ()),
        )

    def next_xid(self, *, timeout_seconds: float) -> tuple[str, int] | None:
        """Return the next event; wait a little where there is none, as threads ask in a loop."""
        if self.xid_error is not None:
            raise self.xid_error
        if self.xids:
            return self.xids.popleft()
        threading.Event().wait(min(timeout_seconds, 0.01))
        return None

    def close(self) -> None:
        """Count it."""
        self.closed += 1
