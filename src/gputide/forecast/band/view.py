"""What experts look at: the known days at the sampled bins, and the day to come at all bins."""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.days import Days, Indexes, Single
from gputide.forecast.band.season import LEVEL_FLOOR, Season

HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """All days `[N, D, b]` at some bins, and which days to forecast from them: the targets."""

    day_count: int
    season: Season
    targets: slice
    bins: Indexes
    bins_per_day: int
    mean: Single
    smooth: Single
    """`mean` averaged with the bins before and after."""

    peak: Single
    jitter: Single
    """Largest of `peak` and the bins before and after: what comes a little early or late."""

    minutes: tuple[Single, Single] | None
    """[N, D, bins of an hour] mean over the hours of peak / level, and of its square; None where
    bins make no hours."""

    @property
    def is_of_coming_day(self) -> bool:
        """Whether the target is the day to come, else every known day in turn."""
        return bool(self.targets.start == -1)

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

    def day_before(self, days: Single) -> Single:
        """Return the day before each target, `[N, targets, b]`."""
        sources = self.season.last_day[:, self.targets, None]
        return np.take_along_axis(days, sources, axis=1)


def look(days: Days, season: Season) -> tuple[View, View]:
    """Return the view on every known day, at the sampled bins, and on the day to come."""
    coming = View(
        day_count=days.count,
        season=season,
        targets=slice(-1, None),
        bins=np.arange(days.mean.shape[2]),
        bins_per_day=days.mean.shape[2],
        mean=days.mean,
        smooth=_smooth(days.mean),
        peak=days.peak,
        jitter=_neighbours_max(days.peak),
        minutes=_minutes(days, season),
    )
    bins = days.sampled_bins
    past = View(
        day_count=days.count,
        season=season,
        targets=slice(0, -1),
        bins=bins,
        bins_per_day=coming.bins_per_day,
        mean=days.mean[:, :, bins],
        smooth=coming.smooth[:, :, bins],
        peak=days.peak[:, :, bins],
        jitter=coming.jitter[:, :, bins],
        minutes=coming.minutes,
    )
    return past, coming


def _minutes(days: Days, season: Season) -> tuple[Single, Single] | None:
    count, known, bins = days.peak.shape
    if bins % HOURS:
        return None
    level = season.hour_level[..., None] + LEVEL_FLOOR
    minutes = np.asarray(days.peak.reshape(count, known, HOURS, -1) / level, np.float32)
    return np.asarray(minutes.mean(axis=2)), np.asarray(np.square(minutes).mean(axis=2))


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
