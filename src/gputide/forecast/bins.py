"""Histories as tamed 5-minute bins: the form in which seasons are looked for."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.model import DAY_SECONDS, BoolArray, History

BIN_SECONDS = 300
MAX_DAYS = 28
"""Older days say little about the seasons of today."""

CHUNK_ROWS = 32
"""Workloads at a time, so that the work stays in the processor's cache."""

Float32Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """Whole days up to the newest value: `values[W, B]` tamed, 0 where unknown."""

    values: Float32Array
    is_known: BoolArray
    """[W, B]: at least half of the bin's minutes hold a value."""

    bins_per_day: int
    is_weekend: BoolArray
    """[D]: most of the day's 24 h from the cut on lie on a Saturday or Sunday."""

    @property
    def day_count(self) -> int:
        """Whole days held."""
        days: int = self.values.shape[1] // self.bins_per_day
        return days

    def detrended(self) -> Float32Array:
        """Return the values less their greatest step and their running mean of 24 h, `[W, B]`.

        Both look at means of whole days, which no daily season moves. Unknown bins are 0.
        """
        filled = self._filled()
        step = _greatest_step(filled, self.bins_per_day)
        level = step + _running_mean(filled - step, self.bins_per_day)
        return np.where(self.is_known, self.values - level, np.float32(0))

    def _filled(self) -> Float32Array:
        """Return unknown bins as their time of day's mean, so that a gap tilts no day's level."""
        if self.is_known.all():
            return self.values
        shape = (len(self.values), self.day_count, self.bins_per_day)
        count = np.maximum(self.is_known.reshape(shape).sum(axis=1, dtype=np.float32), 1)
        profile = self.values.reshape(shape).sum(axis=1) / count
        filled = np.where(
            self.is_known.reshape(shape), self.values.reshape(shape), profile[:, None]
        )
        return filled.reshape(self.values.shape)

    def blocks(self, per_day: int) -> tuple[Float32Array, BoolArray]:
        """Return means of the known bins as `[W, day, per_day]`, and which are known."""
        shape = (len(self.values), self.day_count, per_day, -1)
        count = self.is_known.reshape(shape).sum(axis=3)
        total = self.values.reshape(shape).sum(axis=3)
        is_known = count * 2 >= self.bins_per_day // per_day
        means = np.divide(total, count, out=np.zeros_like(total), where=is_known)
        return means, is_known


def bin_history(history: History, *, rows: slice) -> Bins:
    """Return the last whole days (at most 28) of some rows, each value tamed to within -1 to 1.

    Taming squeezes what lies far from the median, so that an outlier weighs little more than a
    peak of every day, and levels of any unit compare.
    """
    steps = steps_per_bin(history.step_seconds)
    per_day = history.steps_per_day // steps
    days = min(history.values.shape[1] // history.steps_per_day, MAX_DAYS)
    width = days * history.steps_per_day
    values = history.values[rows, history.values.shape[1] - width :]
    means, is_known = _bin_means(values.astype(np.float32), steps)
    start = history.start_local + timedelta(
        seconds=(history.values.shape[1] - width) * history.step_seconds
    )
    noons = [start + timedelta(days=day, hours=12) for day in range(days)]
    return Bins(
        values=_tame(means, is_known),
        is_known=is_known,
        bins_per_day=per_day,
        is_weekend=np.array([noon.weekday() >= 5 for noon in noons], bool),
    )


def steps_per_bin(step_seconds: int) -> int:
    """Return how many steps make a bin: 5 minutes, or the next longer that divides a day."""
    steps = -(-BIN_SECONDS // step_seconds)
    while DAY_SECONDS % (steps * step_seconds):
        steps += 1
    return steps


def _bin_means(values: Float32Array, steps: int) -> tuple[Float32Array, BoolArray]:
    """Return the mean of the known values of each bin, and whether half of them are known."""
    parts = values.reshape(len(values), values.shape[1] // steps, steps)
    means = parts @ np.full(steps, 1 / steps, np.float32)
    is_known = ~np.isnan(means)
    if is_known.all():
        return means, is_known
    row, column = np.divmod(np.flatnonzero(~is_known), is_known.shape[1])
    torn = parts[row, column]
    count = (~np.isnan(torn)).sum(axis=1)
    is_known[row, column] = count * 2 >= steps
    means[row, column] = np.nansum(torn, axis=1) / np.maximum(count, 1)
    means[~is_known] = 0
    return means, is_known


def _tame(means: Float32Array, is_known: BoolArray) -> Float32Array:
    """Return tanh of the distance to the median in units of the spread; 0 where unknown."""
    ordered = np.sort(np.where(is_known, means, np.float32(np.inf)), axis=1)
    count = is_known.sum(axis=1)
    ordered[count == 0] = 0
    last = np.maximum(count, 1) - 1
    at = np.arange(len(means))
    low, middle, high = (ordered[at, (last * q).astype(int)] for q in (0.05, 0.5, 0.95))
    top = ordered[at, last]
    spread = np.where(high > low, high - low, top - ordered[:, 0])
    spread = np.where(spread > 0, spread, np.float32(1))
    tamed = np.tanh((means - middle[:, None]) / spread[:, None])
    result: Float32Array = np.where(is_known, tamed, np.float32(0)).astype(np.float32)
    return result


def _greatest_step(values: Float32Array, window: int) -> Float32Array:
    """Return the step, where the means of a window before and after differ most, as `[W, B]`."""
    count = values.shape[1]
    means = _window_means(values, window)
    jump = means[:, window:] - means[:, :-window]
    at = np.abs(jump).argmax(axis=1)
    height = jump[np.arange(len(values)), at]
    return np.where(np.arange(count) >= at[:, None] + window, height[:, None], np.float32(0))


def _running_mean(values: Float32Array, window: int) -> Float32Array:
    """Return the mean of half a window on each side, of a whole one at the ends, `[W, B]`."""
    count = values.shape[1]
    means = _window_means(values, window)
    return means[:, np.clip(np.arange(count) - window // 2, 0, count - window)]


def _window_means(values: Float32Array, window: int) -> Float32Array:
    """Return the mean of each whole window, by its first column, `[W, B - window + 1]`."""
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    means: Float32Array = ((sums[:, window:] - sums[:, :-window]) / window).astype(np.float32)
    return means
