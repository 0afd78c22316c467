"""What generated load is made of: a local clock, tides, noise with a memory, jobs, lost minutes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from gputide.backtest.model import FloatArray, Trace

DAY_MINUTES = 1440
FIRST_DAY = datetime(2026, 3, 16)  # noqa: DTZ001 a Monday on every zone's own calendar
"""Europe changes its clocks thirteen days later, America did so eight days before."""

DECIMALS = 5
"""Values are rounded, so that every machine's arithmetic gives the same file."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calendar:
    """The minutes of a recording as the workload's people see them."""

    start_utc: datetime
    time_zone: str
    local: FloatArray
    """[T] minutes since midnight of the first day by the wall clock, which may jump."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tide:
    """The shape of a day, 1 at its peak: `bumps` of (hour, hours wide, height) above a floor."""

    bumps: tuple[tuple[float, float, float], ...]
    floor: float
    weekend: float = 1.0
    """Height of Saturdays and Sundays."""

    moves_minutes: float = 12
    """How far a day's peaks come early or late (standard deviation)."""

    day_deviation: float = 0.06


def calendar_of(days: int, time_zone: str) -> Calendar:
    """Return the calendar of `days` whole days from local midnight of the first."""
    zone = ZoneInfo(time_zone)
    start = FIRST_DAY.replace(tzinfo=zone).astimezone(UTC)
    end = (FIRST_DAY + timedelta(days=days)).replace(tzinfo=zone).astimezone(UTC)
    hours = int((end - start).total_seconds()) // 3600
    midnight = FIRST_DAY.replace(tzinfo=UTC)
    at_hour = [
        (start + timedelta(hours=h)).astimezone(zone).replace(tzinfo=UTC) for h in range(hours)
    ]
    by_hour = np.array([(at - midnight).total_seconds() / 60 for at in at_hour])
    local = (by_hour[:, None] + np.arange(60.0)).ravel()
    return Calendar(start_utc=start, time_zone=time_zone, local=local)


def tide(rng: np.random.Generator, calendar: Calendar, shape: Tide) -> FloatArray:
    """Return `[T]` a tide whose days differ in height and whose peaks move."""
    days = int(calendar.local[-1] // DAY_MINUTES) + 1
    is_weekend = np.arange(days) % 7 >= 5
    heights = np.where(is_weekend, shape.weekend, 1.0) * rng.lognormal(0, shape.day_deviation, days)
    moves = rng.normal(0, shape.moves_minutes, days)
    noons = (np.arange(days) + 0.5) * DAY_MINUTES
    hour = ((calendar.local - np.interp(calendar.local, noons, moves)) % DAY_MINUTES) / 60
    value = np.zeros(len(hour))
    for centre, width, height in shape.bumps:
        beside = np.abs((hour - centre + 12) % 24 - 12)
        value += height * np.exp(-0.5 * (beside / width) ** 2)
    smooth = np.interp(calendar.local, *_plateaus(heights))
    risen: FloatArray = shape.floor + (1 - shape.floor) * value * smooth
    return risen


def _plateaus(heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points of a line that keeps each day's height from 2:00 to 22:00."""
    starts = np.arange(float(len(heights))) * DAY_MINUTES
    return np.stack([starts + 120, starts + 1320], axis=1).ravel(), np.repeat(heights, 2)


def drift(
    rng: np.random.Generator, size: int, memory_minutes: float, deviation: float
) -> FloatArray:
    """Return `[size]` noise of mean 0 that remembers itself for about `memory_minutes`.

    A third of its deviation comes on top as the grain of single minutes.
    """
    reach = int(memory_minutes * 7)
    kernel = np.exp(-np.arange(reach) / memory_minutes)
    kernel *= deviation / np.sqrt((kernel**2).sum())
    noise = rng.standard_normal(size + reach - 1)
    grain = rng.standard_normal(size) * deviation / 3
    return np.convolve(noise, kernel, mode="valid") + grain


def pulses(size: int, starts: FloatArray, lengths: FloatArray, heights: FloatArray) -> FloatArray:
    """Return `[size]` the sum of jobs that begin, hold a load for `lengths` minutes, and end.

    A job's first and last minute count for the part that it runs.
    """
    ends = np.minimum(starts + lengths, size)
    edges = np.arange(size + 1, dtype=np.float64)
    total = np.zeros(size)
    for start, end, height in zip(starts, ends, heights, strict=True):
        first, last = int(start), min(int(np.ceil(end)), size)
        ran = np.clip(edges[first : last + 1], start, end)
        total[first:last] += height * np.diff(ran)
    return total


def lose(
    demand: FloatArray,
    *,
    spans: Iterable[tuple[int, int]] = (),
    rng: np.random.Generator | None = None,
    ratio: float = 0,
) -> FloatArray:
    """Return the demand without the minutes in `spans` (first, count) and a random share."""
    kept = demand.copy()
    for first, count in spans:
        kept[first : first + count] = np.nan
    if rng is not None:
        kept[rng.random(len(kept)) < ratio] = np.nan
    return kept


def trace_of(name: str, demand: FloatArray, calendar: Calendar) -> Trace:
    """Return the trace of a demand in busy GPUs."""
    rounded: FloatArray = np.round(np.maximum(demand, 0), DECIMALS).astype(np.float64)
    return Trace(
        name=name,
        demand=rounded,
        start_utc=calendar.start_utc,
        time_zone=calendar.time_zone,
        unit="GPUs",
    )
