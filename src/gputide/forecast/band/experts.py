"""Simple forecasts of whole days from other days: each is right for some loads, none for all.

Each expert forecasts all known days, every one from the others, on the sampled bins (which shows
how far it can be trusted), or the day to come on all bins. In units of the workload's mean.
"""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.days import Days, Indexes, Single
from gputide.forecast.band.season import LEVEL_FLOOR, Season

SPREADS_ABOVE = 1.5
ALIKE_SHARE = 0.3
"""Days count among the most alike down to this share of the weight of the most alike one."""

HOURS = 24
FULL_DAYS = 10
"""Below, nobody knows whether a quiet yesterday was just a quiet day of the week."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """The bins that experts look at and forecast, and the days that they forecast."""

    days: Days
    season: Season
    bins: Indexes | slice
    targets: slice

    @property
    def near(self) -> Single:
        """[N, targets, D] weights."""
        return self.season.near[:, self.targets]

    @property
    def alike(self) -> Single:
        """[N, targets, D] weights."""
        return self.season.alike[:, self.targets]

    @property
    def weeks(self) -> Single:
        """[N, targets, D] weights."""
        return self.season.weeks[:, self.targets]

    def of(self, days: Single, sources: Indexes) -> Single:
        """Return the source day of each target, `[N, targets, b]`."""
        return np.take_along_axis(days, sources[:, self.targets, None], axis=1)


def past_view(days: Days, season: Season) -> View:
    """Return the view on every known day, at the sampled bins."""
    return View(days=days, season=season, bins=days.sampled_bins, targets=slice(0, -1))


def coming_view(days: Days, season: Season) -> View:
    """Return the view on the day to come, at all bins."""
    return View(days=days, season=season, bins=slice(None), targets=slice(-1, None))


def upper_experts(view: View) -> Single:
    """Return upper bounds `[K, N, targets, b]`; which ones depends on the number of days."""
    peak = view.days.peak[:, :, view.bins]
    highest, second = _two_highest(peak, view)
    hourly = _hourly(view)
    if view.days.count < FULL_DAYS:
        return np.stack([_mean_and_spread(peak, view.near), highest, second, hourly])
    jitter = jittered(view)
    level = view.season.level[:, :, None]
    shape = _mean_and_spread(peak / level, view.alike)
    grown = (view.alike @ level) * view.season.growth[:, view.targets, None]
    return np.stack(
        [
            second,
            hourly,
            view.of(jitter, view.season.last_day),
            view.weeks @ jitter,
            _mean_and_spread(peak, view.alike),
            _highest_alike(peak, view.alike),
            shape * grown,
            shape * view.of(level, view.season.last_day),
        ]
    )


def centre_experts(view: View) -> Single:
    """Return middles `[K, N, targets, b]`."""
    smooth = _smooth(view.days.mean)[:, :, view.bins]
    level = view.season.level[:, :, None]
    grown = (view.alike @ level) * view.season.growth[:, view.targets, None]
    return np.stack(
        [
            view.near @ view.days.mean[:, :, view.bins],
            view.alike @ smooth,
            view.of(smooth, view.season.last_day),
            view.weeks @ smooth,
            (view.alike @ (smooth / level)) * grown,
        ]
    )


def jittered(view: View) -> Single:
    """Return the peaks of the days at the view's bins, a bin early or late, `[N, D, b]`."""
    return _neighbours_max(view.days.peak)[:, :, view.bins]


def _mean_and_spread(bins: Single, weights: Single) -> Single:
    mean = weights @ bins
    variance = weights @ np.square(bins)
    variance -= np.square(mean)
    np.maximum(variance, 0, out=variance)
    mean += np.float32(SPREADS_ABOVE) * np.sqrt(variance)
    return mean


def _two_highest(peak: Single, view: View) -> tuple[Single, Single]:
    """Return the largest and second largest peak of each bin over the days but the target."""
    top = peak[:, 0]
    second = third = np.zeros_like(top)
    for day in range(1, peak.shape[1]):
        value = peak[:, day]
        third = np.maximum(third, np.minimum(second, value))
        second = np.maximum(second, np.minimum(top, value))
        top = np.maximum(top, value)
    if peak.shape[1] == 1 or view.targets.start == -1:
        return top[:, None], (second if peak.shape[1] > 1 else top)[:, None]
    if peak.shape[1] == 2:
        third = second
    is_top, is_second = peak >= top[:, None], peak >= second[:, None]
    return (
        np.where(is_top, second[:, None], top[:, None]),
        np.where(is_second, third[:, None], second[:, None]),
    )


def _highest_alike(peak: Single, alike: Single) -> Single:
    """Return the largest peak of each bin over the days that are most like the target."""
    counts = (alike >= ALIKE_SHARE * alike.max(axis=2, keepdims=True)).astype(np.float32)
    highest: Single = peak[:, :1] * counts[:, :, :1]
    for day in range(1, peak.shape[1]):
        np.maximum(highest, peak[:, day, None] * counts[:, :, day, None], out=highest)
    return highest


def _hourly(view: View) -> Single:
    """Return the level of each hour times what its minutes do in any hour: jobs on the hour."""
    count, days, bins = view.days.peak.shape
    if bins % HOURS:
        return _mean_and_spread(view.days.peak[:, :, view.bins], view.near)
    level = view.season.hour_level + LEVEL_FLOOR
    minute = view.days.peak.reshape(count, days, HOURS, -1) / level[..., None]
    mean = view.alike @ minute.mean(axis=2)
    spread = np.sqrt(np.maximum(view.alike @ np.square(minute).mean(axis=2) - np.square(mean), 0))
    within = mean + np.float32(SPREADS_ABOVE) * spread
    hour = np.repeat(view.alike @ level, bins // HOURS, axis=2)[:, :, view.bins]
    return np.asarray(hour * np.tile(within, HOURS)[:, :, view.bins])


def _neighbours_max(bins: Single) -> Single:
    """Return the largest of each bin and its neighbours in time, across midnight."""
    flat = bins.reshape(len(bins), -1)
    out = flat.copy()
    np.maximum(out[:, 1:], flat[:, :-1], out=out[:, 1:])
    np.maximum(out[:, :-1], flat[:, 1:], out=out[:, :-1])
    return out.reshape(bins.shape)


def _smooth(bins: Single) -> Single:
    """Return the mean of each bin and its neighbours in time, across midnight."""
    flat = bins.reshape(len(bins), -1)
    out = flat.copy()
    out[:, 1:-1] += flat[:, :-2]
    out[:, 1:-1] += flat[:, 2:]
    out[:, 1:-1] *= np.float32(1 / 3)
    return out.reshape(bins.shape)
