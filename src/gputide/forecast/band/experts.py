"""Simple forecasts of whole days from other days: each is right for some loads, none for all.

Each expert forecasts all known days, every one from the others, on the sampled bins (which shows
how far it can be trusted), or the day to come on all bins. In units of the workload's mean.
"""

import numpy as np

from gputide.forecast.band.days import Single
from gputide.forecast.band.season import LEVEL_FLOOR
from gputide.forecast.band.view import HOURS, View

SPREADS_ABOVE = np.float32(1.5)
ALIKE_SHARE = 0.3
"""Days count among the most alike down to this share of the weight of the most alike one."""

FULL_DAYS = 10
"""Below, nobody knows whether a quiet yesterday was just a quiet day of the week."""


def upper_experts(view: View) -> Single:
    """Return upper bounds `[K, N, targets, b]`; which ones depends on the number of days."""
    highest, second = _two_highest(view)
    hourly = _hourly(view)
    if view.day_count < FULL_DAYS:
        return np.stack([_mean_and_spread(view.peak, view.near), highest, second, hourly])
    level = view.season.level[:, :, None]
    shape = _mean_and_spread(view.peak / level, view.alike)
    return np.stack(
        [
            second,
            hourly,
            view.day_before(view.jitter),
            view.weeks @ view.jitter,
            _mean_and_spread(view.peak, view.alike),
            _highest_alike(view.peak, view.alike),
            shape * _grown_level(view),
            shape * view.day_before(level),
        ]
    )


def centre_experts(view: View) -> Single:
    """Return middles `[K, N, targets, b]`."""
    level = view.season.level[:, :, None]
    return np.stack(
        [
            view.near @ view.mean,
            view.alike @ view.smooth,
            view.day_before(view.smooth),
            view.weeks @ view.smooth,
            (view.alike @ (view.smooth / level)) * _grown_level(view),
        ]
    )


def _grown_level(view: View) -> Single:
    """Return the level of days alike, grown as the day before had, `[N, targets, 1]`."""
    level = view.alike @ view.season.level[:, :, None]
    return np.asarray(level * view.season.growth[:, view.targets, None])


def _mean_and_spread(bins: Single, weights: Single) -> Single:
    mean = weights @ bins
    variance = weights @ np.square(bins)
    variance -= np.square(mean)
    np.maximum(variance, 0, out=variance)
    mean += SPREADS_ABOVE * np.sqrt(variance)
    return mean


def _two_highest(view: View) -> tuple[Single, Single]:
    """Return the largest and second largest peak of each bin over the days but the target.

    Each of two known days has but one other, which is then both.
    """
    peak = view.peak
    top = peak[:, 0]
    second = third = np.zeros_like(top)
    for day in range(1, peak.shape[1]):
        value = peak[:, day]
        third = np.maximum(third, np.minimum(second, value))
        second = np.maximum(second, np.minimum(top, value))
        top = np.maximum(top, value)
    if peak.shape[1] == 1 or view.is_of_coming_day:
        return top[:, None], (second if peak.shape[1] > 1 else top)[:, None]
    highest = np.where(peak >= top[:, None], second[:, None], top[:, None])
    if peak.shape[1] == 2:
        return highest, highest
    is_second = peak >= second[:, None]
    return highest, np.where(is_second, third[:, None], second[:, None])


def _highest_alike(peak: Single, alike: Single) -> Single:
    """Return the largest peak of each bin over the days that are most like the target."""
    counts = (alike >= ALIKE_SHARE * alike.max(axis=2, keepdims=True)).astype(np.float32)
    highest: Single = peak[:, :1] * counts[:, :, :1]
    for day in range(1, peak.shape[1]):
        np.maximum(highest, peak[:, day, None] * counts[:, :, day, None], out=highest)
    return highest


def _hourly(view: View) -> Single:
    """Return the level of each hour times what its minutes do in any hour: jobs on the hour."""
    if view.minutes is None:
        return _mean_and_spread(view.peak, view.near)
    mean, square = (view.alike @ moment for moment in view.minutes)
    spread = np.sqrt(np.maximum(square - np.square(mean), 0))
    within = mean + SPREADS_ABOVE * spread
    level = view.alike @ (view.season.hour_level + LEVEL_FLOOR)
    bins_per_hour = view.bins_per_day // HOURS
    hour, minute = view.bins // bins_per_hour, view.bins % bins_per_hour
    return np.asarray(level[..., hour] * within[..., minute])
