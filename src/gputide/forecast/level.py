"""Where the present level of a load began: the last lasting shift, to the day."""

from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.model import FloatArray, History

MAX_DAYS = 28
MIN_DAYS = 2
"""A level lasts at least this many days on either side of a shift."""

MIN_GAP = 1.3
"""Every day of the one level lies this many times above every day of the other, ..."""

MIN_SHIFT = 1.5
"""... and their medians this many times."""


def level_starts(history: History) -> NDArray[np.int64]:
    """Return the column where each workload's present level began, `[W]`; 0 where it never shifted.

    Looks at medians of whole days, at most 28. A weekend that has no other to be compared with is
    no new level.
    """
    starts = np.zeros(len(history.values), np.int64)
    days = min(history.values.shape[1] // history.steps_per_day, MAX_DAYS)
    if days < 2 * MIN_DAYS:
        return starts
    medians = _day_medians(history, days)
    first = history.values.shape[1] - days * history.steps_per_day
    best = np.full(len(medians), MIN_GAP)
    for split in _splits(history, days):
        before, after = medians[:, :split], medians[:, split:]
        gap, shift = _contrast(before, after)
        is_new = (gap >= best) & (shift >= MIN_SHIFT)
        best = np.where(is_new, gap, best)
        starts[is_new] = first + split * history.steps_per_day
    return starts


def _splits(history: History, days: int) -> list[int]:
    """Return the days at which a level may have begun."""
    step = timedelta(seconds=history.step_seconds)
    end = history.start_local + history.values.shape[1] * step
    is_weekend = [(end - timedelta(days=days - d, hours=-12)).weekday() >= 5 for d in range(days)]
    return [
        split
        for split in range(MIN_DAYS, days - MIN_DAYS + 1)
        if any(is_weekend[:split]) or not all(is_weekend[split:])
    ]


def _day_medians(history: History, days: int) -> FloatArray:
    """Return the median of each of the last whole days; NaN where less than half is known."""
    values = history.values[:, history.values.shape[1] - days * history.steps_per_day :]
    thin = max(300 // history.step_seconds, 1)  # a value every five minutes tells a day's median
    by_day = values.reshape(len(values), days, history.steps_per_day)[:, :, ::thin]
    ordered = np.sort(by_day.astype(np.float32), axis=2)
    count = (~np.isnan(ordered)).sum(axis=2)
    middle = np.take_along_axis(ordered, (count[..., None] - 1).clip(0) // 2, axis=2)[..., 0]
    return np.where(count * 2 >= ordered.shape[2], middle, np.nan).astype(float)


def _contrast(before: FloatArray, after: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how many times the lower level the higher one is: nearest days, and middle days."""
    floor = 1e-2 * np.nan_to_num(_highest(np.hstack([before, after]))) + 1e-12
    low = [np.maximum(_lowest(part), floor) for part in (before, after)]
    high = [np.maximum(_highest(part), floor) for part in (before, after)]
    middle = [np.maximum(_middle(part), floor) for part in (before, after)]
    gap = np.fmax(low[0] / high[1], low[1] / high[0])
    shift = np.fmax(middle[0] / middle[1], middle[1] / middle[0])
    return gap, shift


def _highest(days: FloatArray) -> FloatArray:
    """Return the highest known day, `[W]`; NaN where fewer than two are known."""
    is_known = ~np.isnan(days)
    highest = np.where(is_known, days, -np.inf).max(axis=1)
    return np.where(is_known.sum(axis=1) >= MIN_DAYS, highest, np.nan)


def _lowest(days: FloatArray) -> FloatArray:
    return -_highest(-days)


def _middle(part: FloatArray) -> FloatArray:
    ordered = np.sort(part, axis=1)
    count = (~np.isnan(ordered)).sum(axis=1)
    middle: FloatArray = ordered[np.arange(len(part)), np.maximum(count - 1, 0) // 2]
    return middle
