"""A cron expression as a mask of local minutes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Self

import numpy as np
from cronsim import CronSim, CronSimError
from numpy.typing import NDArray

from gputide.errors import SettingError

BoolArray = NDArray[np.bool_]
MinuteArray = NDArray[np.datetime64]

FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")
ANY_DAY_FIELDS = (2, 4)
MINUTES_PER_DAY = 1440
EPOCH_ORDINAL = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class CronMask:
    """Which local minutes an expression matches.

    Five fields (minute, hour, day of month, month, day of week), or six with seconds first: then a
    minute is in when any of its seconds is. Ranges, lists, steps, and three-letter names in any
    case; `?` in a day field is `*`. Days of the week are numbered as in cron, not as in Quartz: 0
    and 7 are Sunday, 1 is Monday; names mean the same in both. Where both day fields are
    restricted, a day that either of them matches is in.
    """

    text: str
    _schedule: CronSim = field(repr=False, compare=False)
    _is_minute_in: BoolArray = field(repr=False, compare=False)
    """[1440] of a matching day."""

    @classmethod
    def parse(cls, text: str, *, setting: str = "cron") -> Self:
        """Return the mask, or name in `setting` the field that is no cron expression."""
        parts = text.split()
        if len(parts) not in (5, 6):
            problem = f"has {len(parts)} fields; give 5, or 6 with seconds first"
            raise SettingError(setting, f"{text!r} {problem}")
        minute_parts = parts[-5:]
        for index in ANY_DAY_FIELDS:
            if minute_parts[index] == "?":
                minute_parts[index] = "*"
        if len(parts) == 6:
            _schedule(text, [parts[0], *["*"] * 5], setting=setting)  # only to check the seconds
        schedule = _schedule(text, ["0", *minute_parts], setting=setting)
        minutes = np.isin(np.arange(60), sorted(schedule.minutes))
        hours = np.isin(np.arange(24), sorted(schedule.hours))
        return cls(text, schedule, (hours[:, None] & minutes).ravel())

    def is_active(self, local_minute: datetime) -> bool:
        """Return whether the minute of a local time is in; its zone is not looked at."""
        minute = local_minute.hour * 60 + local_minute.minute
        return bool(self._is_minute_in[minute]) and self.is_day_in(local_minute.date())

    def is_day_in(self, day: date) -> bool:
        """Return whether any minute of a day is in."""
        return day.month in self._schedule.months and self._schedule.match_day(day)

    def matches(self, local_start: datetime) -> Iterator[datetime]:
        """Yield the local minutes that are in, from a naive local time on.

        Ends where 50 years hold none, or at the end of the calendar.
        """
        minute = local_start.replace(second=0, microsecond=0)
        if minute < local_start:
            minute += timedelta(minutes=1)
        parts = " ".join(self._schedule.parts)
        try:
            yield from CronSim(parts, minute - timedelta(seconds=1))
        except OverflowError:
            return

    def mask(self, local_minutes: MinuteArray) -> BoolArray:
        """Return `[M]` which local minutes (`datetime64[m]`) are in; days are looked up once."""
        minutes = local_minutes.astype("datetime64[m]").astype(np.int64)
        days, of = np.unique(minutes // MINUTES_PER_DAY, return_inverse=True)
        is_day_in = np.array(
            [self.is_day_in(date.fromordinal(int(day) + EPOCH_ORDINAL)) for day in days], bool
        )
        found: BoolArray = self._is_minute_in[minutes % MINUTES_PER_DAY] & is_day_in[of]
        return found


def _schedule(text: str, parts: list[str], *, setting: str) -> CronSim:
    """Return the parsed fields, the seconds being first."""
    for name, part in zip(("second", *FIELDS), parts, strict=True):
        if "?" in part:
            raise SettingError(setting, f"{text!r}: '?' stands for any day, not for the {name}")
        _refuse_backwards(text, name, part, setting=setting)
    try:
        return CronSim(" ".join(parts), datetime(1970, 1, 1))  # noqa: DTZ001  # masks have no zone
    except CronSimError as error:
        name = str(error).removeprefix("Bad ")
        part = dict(zip(("second", *FIELDS), parts, strict=True)).get(name, "")
        raise SettingError(setting, f"{text!r}: {part!r} is no {name}") from error


def _refuse_backwards(text: str, name: str, part: str, *, setting: str) -> None:
    """Say how to write 22-6, which the parser would only call bad."""
    for item in part.split(","):
        first, _, last = item.partition("/")[0].partition("-")
        if first.isdecimal() and last.isdecimal() and int(last) < int(first):
            problem = f"{name} {item} runs backwards; write it as two ranges, as in 22-23,0-6"
            raise SettingError(setting, f"{text!r}: {problem}")
