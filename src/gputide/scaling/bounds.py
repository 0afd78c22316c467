"""Bounds in windows of time: which minimum and maximum are in force at a minute."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError
from gputide.scaling.cron import CronMask
from gputide.scaling.policies import FloatArray, IntArray
from gputide.scaling.zone import local_clock, local_minutes, to_utc

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
class Bounds:
    """Minimum and maximum outside every window, and the windows; the later entry wins."""

    min_replicas: int
    max_replicas: int
    zone: ZoneInfo
    """Whose clock the cron expressions and naive times are read on."""

    windows: tuple[Window, ...] = ()

    def __post_init__(self) -> None:
        _check_range(self.min_replicas, self.max_replicas, path=SPEC_PATH)
        for window_path, window in self._windows():
            start, end = self._span(window)
            if start is not None and end is not None and start >= end:
                raise SettingError(
                    f"{window_path}.startTime", f"{window.start} is not before endTime {window.end}"
                )
            for index, bound in enumerate(window.bounds):
                path = f"{window_path}.bounds[{index}]"
                _check_range(bound.min_replicas, bound.max_replicas, path=path)

    @property
    def paths(self) -> tuple[str, ...]:
        """The entries in the order in which they are tried: spec first, a later one wins."""
        return (SPEC_PATH, *(path for path, _, _ in self._entries()))

    def at(self, instant: datetime) -> BoundInForce:
        """Return the bound of the minute that an instant (with zone) lies in."""
        minute = np.datetime64(instant.astimezone(UTC).replace(tzinfo=None), "m")
        found = self.over(np.array([minute]))
        return BoundInForce(
            min_replicas=int(found.min_replicas[0]),
            max_replicas=int(found.max_replicas[0]),
            path=self.paths[int(found.entry[0])],
        )

    def over(self, utc_minutes: MinuteArray) -> BoundsInForce:
        """Return the bounds of `utc_minutes[M]` (`datetime64[m]`)."""
        local = local_minutes(utc_minutes, self.zone)
        entry = np.zeros(len(utc_minutes), np.intp)
        limits = [(self.min_replicas, self.max_replicas)]
        for index, (_, window, bound) in enumerate(self._entries(), start=1):
            limits.append((bound.min_replicas, bound.max_replicas))
            is_in = bound.cron.mask(local)
            start, end = self._span(window)
            if start is not None:
                is_in &= utc_minutes >= _minute_at_or_after(start)
            if end is not None:
                is_in &= utc_minutes < _minute_at_or_after(end)
            entry[is_in] = index
        table = np.array(limits, np.float64)
        return BoundsInForce(
            min_replicas=table[entry, 0], max_replicas=table[entry, 1], entry=entry
        )

    def conditions(self, now: datetime) -> tuple[BoundsCondition, ...]:
        """Return what is set but does nothing at `now` (with zone), so that nobody is surprised."""
        return tuple(self._conditions(now))

    def _conditions(self, now: datetime) -> Iterator[BoundsCondition]:
        fallback = f"{self.min_replicas} to {self.max_replicas} replicas count instead"
        for path, window in self._windows():
            start, end = self._span(window)
            if end is not None and end <= now:
                text = f"ended {window.end}; {fallback}"
                yield BoundsCondition(problem=BoundsProblem.EXPIRED, path=path, text=text)
            elif start is not None and start > now:
                text = f"starts {window.start}; until then {fallback}"
                yield BoundsCondition(problem=BoundsProblem.NOT_STARTED, path=path, text=text)
            for index, bound in enumerate(window.bounds):
                if not self._ever_matches(window, bound):
                    text = f"'{bound.cron.text}' matches no minute of its window"
                    where = f"{path}.bounds[{index}]"
                    yield BoundsCondition(
                        problem=BoundsProblem.NEVER_MATCHES, path=where, text=text
                    )

    def _ever_matches(self, window: Window, bound: Bound) -> bool:
        start, end = self._span(window)
        first = start or datetime(1970, 1, 1, tzinfo=UTC)
        for local in bound.cron.matches(local_clock(first, self.zone)):
            instant = to_utc(local, self.zone, is_end=False)
            if end is not None and instant >= end:
                return False
            if local_clock(instant, self.zone) == local:  # else the clock skips it
                return True
        return False

    def _windows(self) -> Iterator[tuple[str, Window]]:
        for index, window in enumerate(self.windows):
            yield f"{SPEC_PATH}.instanceBounds[{index}]", window

    def _entries(self) -> Iterator[tuple[str, Window, Bound]]:
        for path, window in self._windows():
            for index, bound in enumerate(window.bounds):
                yield f"{path}.bounds[{index}]", window, bound

    def _span(self, window: Window) -> tuple[datetime | None, datetime | None]:
        """Return start and end in UTC; an end that the clock shows twice is the second one."""
        return (
            None if window.start is None else to_utc(window.start, self.zone, is_end=False),
            None if window.end is None else to_utc(window.end, self.zone, is_end=True),
        )


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
