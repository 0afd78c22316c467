"""Time zones: local minutes of UTC minutes, and UTC of local times, across clock changes."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError

MinuteArray = NDArray[np.datetime64]

MINUTES_PER_DAY = 1440
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)


def zone_named(name: str, *, setting: str = "time-zone") -> ZoneInfo:
    """Return an IANA zone, or say in `setting` that there is none of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # "", "../x" and "Europe" too
        problem = f"{name!r} is no time zone; give an IANA name, as in Asia/Shanghai or UTC"
        raise SettingError(setting, problem) from error


def to_utc(time: datetime, zone: ZoneInfo, *, is_end: bool) -> datetime:
    """Return a time in UTC; a naive one is read on the zone's clock.

    A local time that exists twice is the first of both as a start and the second as an end. One
    that the clock skips counts as if the clock had not been turned yet. What lies beyond the
    calendar is its last (or first) moment: people write 9999-12-31 for "for ever".
    """
    try:
        if time.tzinfo is None:
            time = time.replace(tzinfo=zone, fold=0)
            if is_end and _exists(time):
                time = time.replace(fold=1)
        return time.astimezone(UTC)
    except OverflowError:
        return LAST if time.year > EPOCH.year else FIRST


def _exists(time: datetime) -> bool:
    return time.astimezone(UTC).astimezone(time.tzinfo) == time


def local_clock(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return what a zone's clock shows at an instant, as a naive time."""
    try:
        return instant.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return instant.replace(tzinfo=None)


def local_minutes(utc_minutes: MinuteArray, zone: ZoneInfo) -> MinuteArray:
    """Return the local clock `[M]` at UTC minutes `[M]` (`datetime64[m]` both).

    The offset is asked for once a day, and minute by minute on days on which the clock changes.
    """
    minutes = utc_minutes.astype("datetime64[m]").astype(np.int64)
    days, of = np.unique(minutes // MINUTES_PER_DAY, return_inverse=True)
    starts = np.array([_offset(int(day) * MINUTES_PER_DAY, zone) for day in days])
    ends = np.array([_offset((int(day) + 1) * MINUTES_PER_DAY, zone) for day in days])
    offsets = starts[of] if len(days) else np.zeros(0, np.int64)
    for index in np.flatnonzero((starts != ends)[of]) if len(days) else ():
        offsets[index] = _offset(int(minutes[index]), zone)
    return (minutes + offsets).astype("datetime64[m]")


def _offset(utc_minute: int, zone: ZoneInfo) -> int:
    """Return local minus UTC in minutes."""
    offset = (EPOCH + timedelta(minutes=utc_minute)).astimezone(zone).utcoffset()
    return int(offset.total_seconds() // 60) if offset is not None else 0
