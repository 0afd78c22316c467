"""The calendar that loads follow: local clocks, kinds of day, and which past days today is like."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError
from gputide.forecast.model import DAY_SECONDS, BoolArray, FloatArray, History

HALF_LIFE_DAYS = 5.0
"""A day this much older weighs half."""

BLOCKS_PER_DAY = 24


class DayKind(IntEnum):
    """What kind of day the local calendar makes it."""

    WORKING = 0
    WEEKEND = 1
    SPECIAL = 2
    """A day that the user named, such as a public holiday."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalGrid:
    """Values on the local clock: `values[W, T]`, whose column 0 lies at `start_local`."""

    values: FloatArray
    start_local: datetime


def to_local_grid(
    values: FloatArray, start_utc: datetime, zone: str, step_seconds: int
) -> LocalGrid:
    """Return UTC columns `[W, T]` on the local clock, where every day has 24 hours.

    The hour that the clock skips in spring is NaN; the one that it shows twice in autumn holds the
    mean of both. A zone that is not a whole number of steps from UTC moves to the nearest column.
    Raises SettingError for an unknown zone, a naive time or a step that does not divide a day.
    """
    if start_utc.tzinfo is None:
        raise SettingError("start-utc", "must say its zone")
    if step_seconds <= 0 or DAY_SECONDS % step_seconds:
        raise SettingError("step-seconds", f"{step_seconds} does not divide a day")
    offsets = _offsets(start_utc, values.shape[1], zone, step_seconds)
    start = start_utc.astimezone(UTC).replace(tzinfo=None)
    if not len(offsets):
        return LocalGrid(values=values, start_local=start)
    shift = np.rint(offsets / step_seconds).astype(int)
    at = np.arange(len(shift)) + shift
    first = int(at.min())
    return LocalGrid(
        values=_gather(values, at - first),
        start_local=start + timedelta(seconds=first * step_seconds),
    )


def _offsets(start_utc: datetime, count: int, zone: str, step_seconds: int) -> NDArray[np.int64]:
    """Return the zone's distance from UTC at each column, in seconds, `[T]`."""
    try:
        clock = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise SettingError("time-zone", f"{zone!r} is no IANA time zone") from error
    # Zones change on quarters of an hour at the finest, so a look every 15 minutes is enough.
    every = max(900 // step_seconds, 1)
    looks = [
        (start_utc + timedelta(seconds=column * step_seconds)).astimezone(clock).utcoffset()
        for column in range(0, count, every)
    ]
    seconds = [int(look.total_seconds()) if look else 0 for look in looks]
    coarse = np.repeat(np.array(seconds, np.int64), every)[:count]
    return _sharpen(coarse, start_utc, clock, step_seconds)


def _sharpen(
    coarse: NDArray[np.int64], start_utc: datetime, clock: ZoneInfo, step_seconds: int
) -> NDArray[np.int64]:
    """Correct the columns of the quarter of an hour in which the clock changed."""
    every = max(900 // step_seconds, 1)
    for column in np.flatnonzero(np.diff(coarse)).tolist():
        for back in range(every):
            at = start_utc + timedelta(seconds=(column - back) * step_seconds)
            offset = at.astimezone(clock).utcoffset()
            coarse[column - back] = int(offset.total_seconds()) if offset else 0
    return coarse


def _gather(values: FloatArray, at: NDArray[np.int64]) -> FloatArray:
    """Return the mean of the known values that fall on each new column, NaN where none does."""
    width = int(at.max()) + 1
    is_known = ~np.isnan(values)
    total, count = np.zeros((len(values), width)), np.zeros((len(values), width))
    for piece in np.split(np.arange(len(at)), np.flatnonzero(np.diff(at) != 1) + 1):
        goal = slice(int(at[piece[0]]), int(at[piece[-1]]) + 1)
        source = slice(int(piece[0]), int(piece[-1]) + 1)
        total[:, goal] += np.where(is_known[:, source], values[:, source], 0)
        count[:, goal] += is_known[:, source]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def day_kinds(
    start_local: datetime, day_count: int, special_days: Collection[date] = ()
) -> tuple[DayKind, ...]:
    """Return the kind of each 24 h from `start_local` on, by the date that most of it lies on.

    >>> [kind.name for kind in day_kinds(datetime(2024, 1, 5), 3)]
    ['WORKING', 'WEEKEND', 'WEEKEND']
    """
    noons = [start_local + timedelta(days=day, hours=12) for day in range(day_count)]
    return tuple(
        DayKind.SPECIAL
        if noon.date() in special_days
        else DayKind.WEEKEND
        if noon.weekday() >= 5
        else DayKind.WORKING
        for noon in noons
    )


def day_weights(
    history: History, *, days_ahead: int = 1, special_days: Collection[date] = ()
) -> FloatArray:
    """Return how much each past day says about a coming one, `[W, D]`; rows add up to 1.

    Recent days weigh more, and so do days of the same weekday and kind: by how much is learnt from
    the days themselves. A load that follows the week looks to last week; one that does not looks to
    yesterday. Days without values weigh nothing; rows that know no day are 0.
    """
    days = history.values.shape[1] // history.steps_per_day
    blocks = _day_blocks(history, days)
    start = history.start_local + timedelta(
        seconds=(history.values.shape[1] - days * history.steps_per_day) * history.step_seconds
    )
    kinds = np.array(day_kinds(start, days + days_ahead, special_days))
    target = days + days_ahead - 1
    age = target - np.arange(days)
    is_same_weekday = (age % 7 == 0) & (kinds[:days] == kinds[target])
    is_same_kind = kinds[:days] == kinds[target]
    if kinds[target] == DayKind.SPECIAL and not is_same_kind.any():
        is_same_kind = kinds[:days] == DayKind.WEEKEND  # the closest kin of a first holiday
    preference = weekday_preference(blocks, kinds[:days])[:, None]
    recency = 0.5 ** ((age - 1) / HALF_LIFE_DAYS)
    # A week follower trusts its weekday most, its kind of day next and other days hardly at all.
    weights = recency * (1 - preference * ~is_same_kind) * (1 + 8 * preference * is_same_weekday)
    weights = weights * ~np.isnan(blocks).all(axis=2)
    total = weights.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def weekday_preference(blocks: FloatArray, kinds: NDArray[np.int64]) -> FloatArray:
    """Return from 0 (like yesterday) to 1 (like the same weekday last week), `[W]`.

    Compares how far days are from the day a week before and from the day before, in `blocks`
    `[W, D, hour]` of mean demand. With less than eight days, kinds of day are compared instead.
    """
    day_count = blocks.shape[1]
    by_day = _distance(blocks, 1)
    by_week = _distance(blocks, 7) if day_count > 7 else _within_kinds(blocks, kinds)
    total = by_day + by_week
    ratio = np.divide(by_day, total, out=np.full(len(blocks), 0.5), where=total > 0)
    # Equally far is 0; a quarter as far from last week as from yesterday is 1.
    preference: FloatArray = np.clip((np.nan_to_num(ratio, nan=0.5) - 0.5) / 0.3, 0, 1)
    return preference


def _day_blocks(history: History, days: int) -> FloatArray:
    """Return hourly means of the last whole days, `[W, D, hour]`; NaN where nothing is known."""
    per_day = history.steps_per_day
    block_count = np.gcd(BLOCKS_PER_DAY, per_day)
    values = history.values[:, history.values.shape[1] - days * per_day :]
    blocks = values.reshape(len(values), days, block_count, per_day // block_count)
    is_known: BoolArray = ~np.isnan(blocks)
    count = is_known.sum(axis=3)
    total = np.where(is_known, blocks, 0).sum(axis=3)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _distance(blocks: FloatArray, lag: int) -> FloatArray:
    """Return the mean absolute difference of days `lag` apart, `[W]`; NaN where none is known."""
    return _known_mean(np.abs(blocks[:, lag:] - blocks[:, :-lag]))


def _within_kinds(blocks: FloatArray, kinds: NDArray[np.int64]) -> FloatArray:
    """Return the mean absolute difference of neighbouring days of one kind, `[W]`."""
    is_same = (kinds[1:] == kinds[:-1])[None, :, None]
    apart = np.abs(blocks[:, 1:] - blocks[:, :-1])
    return _known_mean(np.where(is_same, apart, np.nan))


def _known_mean(apart: FloatArray) -> FloatArray:
    is_known = ~np.isnan(apart)
    count = is_known.sum(axis=(1, 2))
    total = np.where(is_known, apart, 0).sum(axis=(1, 2))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
