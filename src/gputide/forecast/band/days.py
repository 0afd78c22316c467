"""Histories cut into days that end where the history ends, and days into bins of about 5 minutes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.bins import MAX_DAYS, steps_per_bin
from gputide.forecast.model import BoolArray, FloatArray, History

Single = NDArray[np.float32]
"""Inside, single precision on values near 1: twice as fast, and far below what a forecast knows."""

LOST_DAY_KNOWN_RATIO = 0.5
"""A day with a smaller share of known values is lost: it takes no part, rather than a guessed one."""

SAMPLES_PER_BIN = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Days:
    """N workloads, D days, oldest first, of B bins; in units of each workload's own mean.

    Gaps are filled in `mean` and `peak` (never in `samples`) by the same bin of the other days, lost
    days by the day before; `weight` says how far a day may be trusted.
    """

    mean: Single
    """[N, D, B] mean of the bin's known steps."""

    peak: Single
    """[N, D, B] largest of the bin's known steps."""

    weight: Single
    """[N, D] share of the day that is known; 0 where the day is lost."""

    samples: Single
    """[N, D, B, S] single steps of the bin, NaN where unknown: what bounds are scored on."""

    is_censored: BoolArray | None
    """[N, D, B, S]: the sample is only a lower bound; None: none is."""

    scale: FloatArray
    """[N] the workload's mean in its own unit; 1 where that is 0 or unknown."""

    @property
    def day_count(self) -> int:
        """Days held, D."""
        return self.mean.shape[1]


def cut_days(history: History, rows: slice) -> Days:
    """Cut some rows of a history into days counted back from its end, the oldest often partial."""
    values = _end_aligned(history.values[rows], history.steps_per_day, np.nan)
    steps = steps_per_bin(history.step_seconds)
    bins = history.steps_per_day // steps
    by_bin = values.reshape(len(values), -1, bins, steps)
    scale = _known_mean(values.reshape(len(values), -1))
    scale[~(scale > 0)] = 1.0
    scaled = (by_bin / scale[:, None, None, None]).astype(np.float32)
    picks = _picked_steps(bins, steps)
    is_censored = None
    if history.is_censored is not None:
        marks = _end_aligned(history.is_censored[rows], history.steps_per_day, fill=False)
        is_censored = np.take_along_axis(marks.reshape(by_bin.shape), picks, axis=3)
    mean, peak, weight = _summarize(scaled)
    return Days(
        mean=mean,
        peak=peak,
        weight=weight,
        samples=np.take_along_axis(scaled, picks, axis=3),
        is_censored=is_censored,
        scale=scale,
    )


def _end_aligned(rows: NDArray[np.generic], steps_per_day: int, fill: float) -> NDArray[np.generic]:
    """Return `[N, D, steps]`: whole days that end with the rows, the oldest padded at its front."""
    days = min(-(-rows.shape[1] // steps_per_day), MAX_DAYS)
    recent = rows[:, -days * steps_per_day :]
    missing = days * steps_per_day - recent.shape[1]
    if missing:
        recent = np.pad(recent, ((0, 0), (missing, 0)), constant_values=fill)
    return recent.reshape(len(rows), days, steps_per_day)


def _picked_steps(bins: int, steps: int) -> NDArray[np.intp]:
    """Return which steps of each bin are samples `[1, 1, B, S]`: spread, and another pair each bin."""
    first = np.arange(bins) % steps
    count = min(SAMPLES_PER_BIN, steps)
    picks = (first[:, None] + np.arange(count) * steps // count) % steps
    return picks[None, None]


def _known_mean(rows: FloatArray) -> FloatArray:
    is_known = ~np.isnan(rows)
    total = np.where(is_known, rows, 0).sum(axis=1)
    return np.asarray(total / np.maximum(is_known.sum(axis=1), 1), float)


def _summarize(scaled: Single) -> tuple[Single, Single, Single]:
    """Return mean, peak `[N, D, B]`, gaps filled, and the days' weight `[N, D]`."""
    steps = scaled.shape[3]
    mean = scaled @ np.full(steps, 1 / steps, np.float32)
    peak = scaled[..., 0].copy()
    for step in range(1, steps):
        np.fmax(peak, scaled[..., step], out=peak)
    is_torn = np.isnan(mean)
    if not is_torn.any():
        return mean, peak, np.ones(mean.shape[:2], np.float32)
    known = 1 - np.isnan(scaled).mean(axis=(2, 3), dtype=np.float32)
    weight = np.where(known < LOST_DAY_KNOWN_RATIO, np.float32(0), known)
    torn = scaled[is_torn]
    counts = (~np.isnan(torn)).sum(axis=1)
    mean[is_torn] = np.where(counts > 0, np.nansum(torn, axis=1) / np.maximum(counts, 1), np.nan)
    return _fill(mean, weight), _fill(peak, weight), weight


def _fill(bins: Single, weight: Single) -> Single:
    """Return the bins with gaps filled by the same bin of other days, lost days by earlier ones."""
    filled = np.where(weight[:, :, None] > 0, bins, np.nan)
    is_known = ~np.isnan(filled)
    count = is_known.sum(axis=1, dtype=np.float32)
    total = np.where(is_known, filled, 0).sum(axis=1)
    flat = total.sum(axis=1) / np.maximum(count.sum(axis=1), 1)
    profile = np.where(count > 0, total / np.maximum(count, 1), flat[:, None])
    filled = np.where(is_known, filled, profile[:, None])
    for day in range(1, filled.shape[1]):
        is_lost = weight[:, day] == 0
        source = day - 7 if day >= 7 else day - 1
        filled[is_lost, day] = filled[is_lost, source]
    return np.asarray(filled, np.float32)
