"""Events inside a sliding window: what DCGM_EXP_* count. Pure; time comes with the snapshot."""

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping

from gputide.exporter.catalog import is_number
from gputide.exporter.catalog.own import CLOCK_EVENTS
from gputide.exporter.fields import Field
from gputide.exporter.model import DeviceStatus, Snapshot, XidCount

_ALWAYS = float("-inf")
MAX_SAMPLES = 4096
"""Readings that one GPU's window holds; with a shorter interval the window is shorter, too."""


class EventWindows:
    """What happened on each GPU within the last seconds, from one snapshot to the next."""

    def __init__(self, *, xid_window_seconds: float, clock_event_window_seconds: float) -> None:
        self._xid_window_seconds = xid_window_seconds
        self._clock_window_seconds = clock_event_window_seconds
        self._xids: dict[str, dict[int, _Growth]] = {}
        self._clocks: dict[str, deque[tuple[float, int]]] = {}
        self._begun: dict[str, _Begun] = {}
        self._now_seconds = 0.0

    def observe(self, snapshot: Snapshot) -> None:
        """Take in a snapshot; GPUs that are no longer in it are forgotten."""
        self._now_seconds = snapshot.at_seconds
        uuids = {status.device.uuid for status in snapshot.devices}
        self._xids = {uuid: self._xids.get(uuid, {}) for uuid in uuids}
        self._clocks = {uuid: self._clocks.get(uuid, _window()) for uuid in uuids}
        self._begun = {uuid: self._begun.get(uuid, _Begun()) for uuid in uuids}
        for status in snapshot.devices:
            self._observe_xids(status)
            self._observe_clocks(status)

    def xids(self, uuid: str) -> Mapping[int, int]:
        """Return XID code -> events inside the window, for codes seen since the start."""
        start = self._now_seconds - self._xid_window_seconds
        return {xid: growth.since(start) for xid, growth in self._xids.get(uuid, {}).items()}

    def clock_events(self, uuid: str) -> Mapping[str, int]:
        """Return event -> readings inside the window that had it; empty where none was read."""
        bitmaps = [bitmap for _, bitmap in self._clocks.get(uuid, ())]
        if not bitmaps:
            return {}
        return {name: sum(1 for b in bitmaps if b & bit) for bit, name in CLOCK_EVENTS.items()}

    def xid_totals(self, uuid: str) -> Mapping[int, int]:
        """Return XID code -> events since the exporter started."""
        return {xid: growth.newest for xid, growth in self._xids.get(uuid, {}).items()}

    def clock_event_totals(self, uuid: str) -> Mapping[str, int]:
        """Return event -> how often it began since the exporter started; empty where unread."""
        begun = self._begun.get(uuid)
        return {} if begun is None or begun.bitmap is None else begun.counts

    def _observe_xids(self, status: DeviceStatus) -> None:
        growths = self._xids[status.device.uuid]
        for count in status.xids:
            growths.setdefault(count.xid, _Growth()).take(count)
        for growth in growths.values():
            growth.forget_before(self._now_seconds - self._xid_window_seconds)

    def _observe_clocks(self, status: DeviceStatus) -> None:
        window = self._clocks[status.device.uuid]
        while window and window[0][0] < self._now_seconds - self._clock_window_seconds:
            window.popleft()
        reading = status.reading
        if reading is None or (window and window[-1][0] >= reading.at_seconds):
            return
        bitmap = reading.values.get(Field.CLOCK_EVENT_REASONS)
        if is_number(bitmap):
            window.append((reading.at_seconds, int(bitmap)))
            self._begun[status.device.uuid].take(int(bitmap))


def _window() -> deque[tuple[float, int]]:
    return deque(maxlen=MAX_SAMPLES)


class _Begun:
    """How often each clock event began: a bit that is set and was not in the reading before."""

    def __init__(self) -> None:
        self.bitmap: int | None = None
        self.counts = dict.fromkeys(CLOCK_EVENTS.values(), 0)

    def take(self, bitmap: int) -> None:
        new = bitmap & ~(self.bitmap or 0)
        self.bitmap = bitmap
        for bit, name in CLOCK_EVENTS.items():
            self.counts[name] += bool(new & bit)


class _Growth:
    """A counter's past: when it reached which count, back to just before the window."""

    def __init__(self) -> None:
        self._times = [_ALWAYS]
        self._counts = [0]

    @property
    def newest(self) -> int:
        """The count now."""
        return self._counts[-1]

    def take(self, count: XidCount) -> None:
        if count.count < self._counts[-1]:  # the reader started anew
            self._times, self._counts = [_ALWAYS], [0]
        if count.count > self._counts[-1]:
            self._times.append(max(count.last_seen_seconds, self._times[-1]))
            self._counts.append(count.count)

    def since(self, start: float) -> int:
        return self._counts[-1] - self._counts[bisect_right(self._times, start) - 1]

    def forget_before(self, start: float) -> None:
        first = bisect_right(self._times, start) - 1
        del self._times[:first], self._counts[:first]
