"""Histories cut into days that end where the history ends, and days into 5-minute bins."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.bins import MAX_DAYS, steps_per_bin
from gputide.forecast.model import BoolArray, FloatArray, History
from gputide.forecast.outlier import find_outliers

Single = NDArray[np.float32]
"""Inside, single precision on values near 1: twice as fast, and far below what a forecast knows."""

Indexes = NDArray[np.intp]
Kind = TypeVar("Kind", np.float64, np.bool_)

LOST_DAY_KNOWN_RATIO = 0.5
"""A day with a smaller share of known values is lost: it takes no part, and is not guessed."""

OUTLIER_STEP_SECONDS = 60
"""At longer steps a lone high value is an hour's demand rather than a glitch."""

BINS_PER_HOUR_BLOCK = 12
SAMPLE_EVERY_BINS = 4
"""Past days are judged by every fourth bin, other ones each hour: as good as by all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Days:
    """N workloads, D days, oldest first, of B bins; in units of each workload's own mean.

    Gaps in `mean` and `peak` hold the mean of the same bin on the other days; in `samples` nothing
    is filled.
    """

    mean: Single
    """[N, D, B] mean of the bin's known steps."""

    peak: Single
    """[N, D, B] largest of the bin's known steps."""

    trust: Single
    """[N, D] share of the day that is known; 0 where the day is lost."""

    sampled_bins: Indexes
    """[S] which bins are held against what forecasts said of them."""

    samples: Single
    """[N, D, S] a single step of each sampled bin, NaN where unknown."""

    is_censored: BoolArray | None
    """[N, D, S]: the sample is only a lower bound; None: none is."""

    scale: FloatArray
    """[N] the workload's mean in its own unit; 1 where that is 0 or unknown."""

    @property
    def count(self) -> int:
        """Days held, D."""
        return int(self.mean.shape[1])


def cut_days(history: History, rows: slice) -> Days:
    """Cut some rows of a history of at least a day into days counted back from its end."""
    values = _end_aligned(history.values[rows], history.steps_per_day, np.nan)
    if history.step_seconds <= OUTLIER_STEP_SECONDS:
        values = _without_outliers(values)
    steps = steps_per_bin(history.step_seconds)
    by_bin = (len(values), values.shape[1], -1, steps)
    scale = _known_mean(values.reshape(len(values), -1))
    scale[~(scale > 0)] = 1.0
    scaled = np.divide(values, scale[:, None, None], dtype=np.float64).astype(np.float32)
    scaled = scaled.reshape(by_bin)
    mean, peak, trust = _summarize(scaled)
    bins, picks = _sample_plan(scaled.shape[2], steps)
    is_censored = None
    if history.is_censored is not None:
        marks = _end_aligned(history.is_censored[rows], history.steps_per_day, fill=False)
        is_censored = marks.reshape(by_bin)[:, :, bins, picks]
    return Days(
        mean=mean,
        peak=peak,
        trust=trust,
        sampled_bins=bins,
        samples=scaled[:, :, bins, picks],
        is_censored=is_censored,
        scale=scale,
    )


def _end_aligned(rows: NDArray[Kind], steps_per_day: int, fill: float) -> NDArray[Kind]:
    """Return days that end with the rows `[N, D, steps]`; half a day or more is padded."""
    days = max(1, min(round(rows.shape[1] / steps_per_day - 1e-9), MAX_DAYS))
    recent = rows[:, -days * steps_per_day :]
    missing = days * steps_per_day - recent.shape[1]
    if missing:
        recent = np.pad(recent, ((0, 0), (missing, 0)), constant_values=fill)
    return recent.reshape(len(rows), days, steps_per_day)


def _without_outliers(values: FloatArray) -> FloatArray:
    """Return the days with spikes and drops of a minute that no other day knows made unknown."""
    is_outlier = find_outliers(values.reshape(len(values), -1), values.shape[2])
    if not is_outlier.any():
        return values
    return np.where(is_outlier.reshape(values.shape), np.nan, values)


def _sample_plan(bins: int, steps: int) -> tuple[Indexes, Indexes]:
    """Return which bins are sampled, and which step of each: all phases of an hour in turn."""
    every = np.arange(bins)
    block = every // BINS_PER_HOUR_BLOCK
    sampled = every
    if bins >= 24 * SAMPLE_EVERY_BINS * 2:
        sampled = every[(every + block) % SAMPLE_EVERY_BINS == 0]
    return sampled, sampled % steps


def _known_mean(rows: FloatArray) -> FloatArray:
    mean = np.asarray(rows.mean(axis=1), float)
    for row in np.flatnonzero(np.isnan(mean)):
        known = rows[row][~np.isnan(rows[row])]
        mean[row] = known.mean() if known.size else np.nan
    return mean


def _summarize(scaled: Single) -> tuple[Single, Single, Single]:
    """Return mean, peak `[N, D, B]`, gaps filled, and the days' trust `[N, D]`."""
    steps = scaled.shape[3]
    mean = scaled @ np.full(steps, 1 / steps, np.float32)
    peak = scaled[..., 0].copy()
    for step in range(1, steps):
        np.fmax(peak, scaled[..., step], out=peak)
    is_torn = np.isnan(mean)
    if not is_torn.any():
        return mean, peak, np.ones(mean.shape[:2], np.float32)
    known = 1 - np.isnan(scaled).mean(axis=(2, 3), dtype=np.float32)
    trust = np.where(known < LOST_DAY_KNOWN_RATIO, np.float32(0), known)
    torn = scaled[is_torn]
    counts = (~np.isnan(torn)).sum(axis=1)
    mean[is_torn] = np.where(counts > 0, np.nansum(torn, axis=1) / np.maximum(counts, 1), np.nan)
    return _fill(mean, trust), _fill(peak, trust), trust


def _fill(bins: Single, trust: Single) -> Single:
    """Return the bins with gaps and lost days filled by the mean of the same bin on other days."""
    is_known = ~np.isnan(bins) & (trust[:, :, None] > 0)
    count = is_known.sum(axis=1, dtype=np.float32)
    total = np.where(is_known, bins, 0).sum(axis=1)
    flat = total.sum(axis=1) / np.maximum(count.sum(axis=1), 1)
    profile = np.where(count > 0, total / np.maximum(count, 1), flat[:, None])
    return np.asarray(np.where(is_known, bins, profile[:, None]), np.float32)
