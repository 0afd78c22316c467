"""Bounds in windows of time: which minimum and maximum are in force at a minute."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError
from gputide.scaling.cron import CronMask
from gputide.scaling.policies import BoolArray, FloatArray, IntArray
from gputide.scaling.zone import EPOCH, local_clock, local_minutes, to_utc

MinuteArray = NDArray[np.datetime64]

SPEC_PATH = "spec"
MAX_REPLICAS = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A minimum and maximum for the minutes that a cron expression matches."""

    cron: CronMask
    min_replicas: int
    max_replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Bounds that count from `start` (inclusive) to `end` (exclusive); None: open.

    A naive time is one of the zone's local clock.
    """

    start: datetime | None = None
    end: datetime | None = None
    bounds: tuple[Bound, ...]


class BoundsProblem(StrEnum):
    """What is worth a condition: bounds that are set but do nothing."""

    EXPIRED = "BoundsExpired"
    NOT_STARTED = "BoundsNotStarted"
    NEVER_MATCHES = "BoundsNeverMatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsCondition:
    """One entry that does nothing now: `path` names it, `text` says why."""

    problem: BoundsProblem
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundInForce:
    """The bound of one minute and where it comes from, as in `spec.instanceBounds[0].bounds[1]`."""

    min_replicas: int
    max_replicas: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundsInForce:
    """The bound of many minutes: arrays `[M]`; `entry[M]` indexes `Bounds.paths`."""

    min_replicas: FloatArray
    max_replicas: FloatArray
    entry: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One bound with its window in UTC, and the path that names it."""

    path: str
    bound: Bound
    start: datetime | None
    end: datetime | None

    def is_in(self, utc_minute: datetime, local_minute: datetime) -> bool:
        """Return whether the entry counts at a minute, given in UTC and on the zone's clock."""
        return (
            (self.start is None or self.start <= utc_minute)
            and (self.end is None or utc_minute < self.end)
            and self.bound.cron.is_active(local_minute)
        )

    def mask(self, utc_minutes: MinuteArray, local: MinuteArray) -> BoolArray:
        """Return `[M]` where the entry counts."""
        is_in = self.bound.cron.mask(local)
        if self.start is not None:
            is_in &= utc_minutes >= _minute_at_or_after(self.start)
        if self.end is not None:
            is_in &= utc_minutes < _minute_at_or_after(self.end)
        return is_in

    def ever_matches(self, zone: ZoneInfo) -> bool:
        """Return whether any minute of the window is in; what the clock skips does not count."""
        first = local_clock(self.start or EPOCH, zone)
        for local in self.bound.cron.matches(first):
            instant = to_utc(local, zone, is_end=False)
            if self.end is not None and instant >= self.end:
                return False
            if local_clock(instant, zone) == local:
                return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Minimum and maximum outside every window, and the windows; the later entry wins."""

    min_replicas: int
    max_replicas: int
    zone: ZoneInfo
    """Whose clock the cron expressions and naive times are read on."""

    windows: tuple[Window, ...] = ()
    entries: tuple[Entry, ...] = field(init=False, repr=False, compare=False)
    """All bounds of all windows, in the order in which they are tried."""

    def __post_init__(self) -> None:
        _check_range(self.min_replicas, self.max_replicas, path=SPEC_PATH)
        entries = []
        for path, window, start, end in self._spans():
            if start is not None and end is not None and start >= end:
                problem = f"{window.start} is not before endTime {window.end}"
                raise SettingError(f"{path}.startTime", problem)
            for index, bound in enumerate(window.bounds):
                where = f"{path}.bounds[{index}]"
                _check_range(bound.min_replicas, bound.max_replicas, path=where)
                entries.append(Entry(path=where, bound=bound, start=start, end=end))
        object.__setattr__(self, "entries", tuple(entries))

    @property
    def paths(self) -> tuple[str, ...]:
        """What `BoundsInForce.entry` counts: spec, then the entries; a later one wins."""
        return (SPEC_PATH, *(entry.path for entry in self.entries))

    def at(self, instant: datetime) -> BoundInForce:
        """Return the bound of the minute that an instant (with zone) lies in."""
        minute = instant.astimezone(UTC).replace(second=0, microsecond=0)
        local = local_clock(minute, self.zone)
        source: Bounds | Bound = self
        path = SPEC_PATH
        for entry in reversed(self.entries):
            if entry.is_in(minute, local):
                source, path = entry.bound, entry.path
                break
        return BoundInForce(
            min_replicas=source.min_replicas, max_replicas=source.max_replicas, path=path
        )

    def over(self, utc_minutes: MinuteArray) -> BoundsInForce:
        """Return the bounds of `utc_minutes[M]` (`datetime64[m]`)."""
        local = local_minutes(utc_minutes, self.zone)
        found = np.zeros(len(utc_minutes), np.intp)
        limits = [(self.min_replicas, self.max_replicas)]
        for index, entry in enumerate(self.entries, start=1):
            limits.append((entry.bound.min_replicas, entry.bound.max_replicas))
            found[entry.mask(utc_minutes, local)] = index
        table = np.array(limits, np.float64)
        return BoundsInForce(
            min_replicas=table[found, 0], max_replicas=table[found, 1], entry=found
        )

    def conditions(self, now: datetime) -> tuple[BoundsCondition, ...]:
        """Return what is set but does nothing at `now` (with zone), so that nobody is surprised."""
        return (*self._outside(now), *self._never())

    def _outside(self, now: datetime) -> Iterator[BoundsCondition]:
        fallback = f"{self.min_replicas} to {self.max_replicas} replicas count instead"
        for path, window, start, end in self._spans():
            if end is not None and end <= now:
                text = f"ended {window.end}; {fallback}"
                yield BoundsCondition(problem=BoundsProblem.EXPIRED, path=path, text=text)
            elif start is not None and start > now:
                text = f"starts {window.start}; until then {fallback}"
                yield BoundsCondition(problem=BoundsProblem.NOT_STARTED, path=path, text=text)

    def _never(self) -> Iterator[BoundsCondition]:
        for entry in self.entries:
            if not entry.ever_matches(self.zone):
                text = f"{entry.bound.cron.text!r} matches no minute of its window"
                problem = BoundsProblem.NEVER_MATCHES
                yield BoundsCondition(problem=problem, path=entry.path, text=text)

    def _spans(self) -> Iterator[tuple[str, Window, datetime | None, datetime | None]]:
        """Yield each window with start and end in UTC; an end that exists twice is the second."""
        for index, window in enumerate(self.windows):
            start = None if window.start is None else to_utc(window.start, self.zone, is_end=False)
            end = None if window.end is None else to_utc(window.end, self.zone, is_end=True)
            yield f"{SPEC_PATH}.instanceBounds[{index}]", window, start, end


def _check_range(low: int, high: int, *, path: str) -> None:
    if low < 0:
        raise SettingError(f"{path}.minReplicas", f"must be at least 0, is {low}")
    if high < 1:
        raise SettingError(f"{path}.maxReplicas", f"must be at least 1, is {high}")
    if high > MAX_REPLICAS:
        raise SettingError(f"{path}.maxReplicas", f"must be at most {MAX_REPLICAS}, is {high}")
    if low > high:
        raise SettingError(f"{path}.minReplicas", f"{low} is more than maxReplicas {high}")


def _minute_at_or_after(instant: datetime) -> np.datetime64:
    """Return the first whole minute of an instant or after it, in UTC."""
    seconds = np.datetime64(instant.replace(tzinfo=None), "us").astype(np.int64)
    return np.datetime64(int(-(-seconds // 60_000_000)), "m")
