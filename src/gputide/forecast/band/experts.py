"""Simple forecasts of whole days from the days before: each is right for some loads, none for all.

All take days `[N, D, B]` and return `[N, E + 1, B]`: one forecast for each of the last E days, from
the days before it alone, and one for the day to come. In units of the workload's mean.
"""

from collections.abc import Mapping

import numpy as np

from gputide.forecast.band.days import Days, Single

WEEK_DAYS = 7
SPREADS_ABOVE = 1.5
LEVEL_FLOOR = np.float32(0.05)
"""Added to day levels before dividing, so that an idle day says nothing about shapes."""

MAX_WEEKLY_RATIO = 2.0


def past_days_to_forecast(day_count: int) -> int:
    """Return E, how many known days are forecast to learn from: a week at most, each from 3 or more.

    >>> [past_days_to_forecast(days) for days in (2, 4, 7, 14)]
    [1, 1, 4, 7]
    """
    return max(1, min(7, day_count - 3))


def forecast_days(day_count: int) -> range:
    """Return the indexes of the days to forecast: the last E known ones and the one to come.

    >>> forecast_days(14)
    range(7, 15)
    """
    return range(day_count - past_days_to_forecast(day_count), day_count + 1)


def day_weights(trust: Single, targets: range, *, half_life_days: float, weekly: float) -> Single:
    """Return how much each day says about each target, `[N, E + 1, D]`, rows summing to 1 (or 0).

    Halves with age; a day whole weeks back counts `weekly` times; days that are lost (`trust[N, D]`
    is 0) or not before the target count nothing.
    """
    age = np.array(targets)[:, None] - np.arange(trust.shape[1])[None, :]
    base = np.where(age > 0, 0.5 ** (np.maximum(age - 1, 0) / half_life_days), 0.0)
    base = np.where(age % WEEK_DAYS == 0, weekly * base, base)
    weights = base[None] * np.maximum(trust, 1e-6)[:, None]
    total = weights.sum(axis=2, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1), np.float32)


def upper_experts(days: Days, targets: range) -> Mapping[str, Single]:
    """Return upper bounds by name; those that no past day can try (a week is missing) hold NaN."""
    weights = day_weights(days.weight, targets, half_life_days=5, weekly=5)
    level = days.mean.mean(axis=2) + LEVEL_FLOOR
    shape = _mean_and_spread(
        days.peak / level[:, :, None],
        day_weights(days.weight, targets, half_life_days=10, weekly=2),
    )
    highest, second = _two_highest(days, targets)
    jitter = _neighbours_max(days.peak)
    recent = day_weights(days.weight, targets, half_life_days=3, weekly=1)
    return {
        "mean-and-spread": _mean_and_spread(days.peak, weights),
        "highest": highest,
        "second-highest": second,
        "last-day": _lagged(jitter, targets, 1),
        "last-week": _lagged(jitter, targets, WEEK_DAYS),
        "shape-at-last-day": shape * _lagged(level[:, :, None], targets, 1),
        "shape-at-last-week": shape * _weekly_level(level, targets)[:, :, None],
        "shape-at-recent": shape * (recent @ level[:, :, None]),
    }


def centre_experts(days: Days, targets: range) -> Mapping[str, Single]:
    """Return middles by name, as `upper_experts` does bounds."""
    weights = day_weights(days.weight, targets, half_life_days=5, weekly=5)
    level = days.mean.mean(axis=2) + LEVEL_FLOOR
    smooth = _smooth(days.mean)
    shape = day_weights(days.weight, targets, half_life_days=10, weekly=2) @ (
        smooth / level[:, :, None]
    )
    recent = day_weights(days.weight, targets, half_life_days=3, weekly=1)
    return {
        "mean": weights @ days.mean,
        "recent": recent @ smooth,
        "last-day": _lagged(smooth, targets, 1),
        "last-week": _lagged(smooth, targets, WEEK_DAYS),
        "shape-at-last-day": shape * _lagged(level[:, :, None], targets, 1),
        "shape-at-last-week": shape * _weekly_level(level, targets)[:, :, None],
    }


def _mean_and_spread(bins: Single, weights: Single) -> Single:
    mean = weights @ bins
    variance = weights @ np.square(bins) - np.square(mean)
    return np.asarray(mean + SPREADS_ABOVE * np.sqrt(np.maximum(variance, 0)), np.float32)


def _two_highest(days: Days, targets: range) -> tuple[Single, Single]:
    """Return the largest and second largest peak of each bin over the days before each target."""
    highest = days.peak[:, 0].copy()
    second = highest.copy()
    out = np.empty((2, len(highest), len(targets), highest.shape[1]), np.float32)
    first = targets[0]
    for day in range(1, targets[-1] + 1):
        if day >= first:
            out[0, :, day - first], out[1, :, day - first] = highest, second
        if day < targets[-1]:
            peak = days.peak[:, day]
            second = np.minimum(peak, highest) if day == 1 else _middle(second, peak, highest)
            highest = np.maximum(highest, peak)
    return out[0], out[1]


def _middle(low: Single, value: Single, high: Single) -> Single:
    return np.maximum(low, np.minimum(value, high))


def _lagged(days: Single, targets: range, lag: int) -> Single:
    """Return the day `lag` days before each target; NaN where the history does not reach."""
    sources = np.array(targets) - lag
    lagged = days[:, np.maximum(sources, 0)]
    lagged[:, sources < 0] = np.nan
    return lagged


def _weekly_level(level: Single, targets: range) -> Single:
    """Return last week's level of each target's day times the growth over the week, `[N, E + 1]`."""
    out = np.full((len(level), len(targets)), np.nan, np.float32)
    for at, day in enumerate(targets):
        if day < WEEK_DAYS:
            continue
        out[:, at] = level[:, day - WEEK_DAYS]
        span = min(day - WEEK_DAYS, WEEK_DAYS - 1)
        if span:
            pairs = level[:, day - span : day] / level[:, day - span - WEEK_DAYS : day - WEEK_DAYS]
            growth = np.median(pairs, axis=1)
            out[:, at] *= np.clip(growth, 1 / MAX_WEEKLY_RATIO, MAX_WEEKLY_RATIO)
    return out


def _neighbours_max(bins: Single) -> Single:
    """Return the largest of each bin and its neighbours in time, across midnight."""
    flat = bins.reshape(len(bins), -1)
    out = flat.copy()
    np.maximum(out[:, 1:], flat[:, :-1], out=out[:, 1:])
    np.maximum(out[:, :-1], flat[:, 1:], out=out[:, :-1])
    return out.reshape(bins.shape)


def _smooth(bins: Single) -> Single:
    """Return the mean of each bin and its neighbours in time, across midnight."""
    flat = np.pad(bins.reshape(len(bins), -1), ((0, 0), (1, 1)), mode="edge")
    return np.asarray((flat[:, :-2] + flat[:, 1:-1] + flat[:, 2:]) / 3).reshape(bins.shape)
