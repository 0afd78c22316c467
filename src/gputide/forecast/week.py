"""Whether a load repeats with the week, that is, whether this Monday looks like the last one."""

from math import gcd

import numpy as np

from gputide.forecast.bins import Bins, Float32Array
from gputide.forecast.model import BoolArray, FloatArray

BLOCKS_PER_DAY = 8
WEEK_DAYS = 7
MIN_LIKENESS = 0.5
"""Least correlation of the days a week apart, after what all days share is taken out."""

MIN_LIKENESS_OF_TWO_WEEKS = 0.6
"""The same where two weeks are all: red noise looks alike now and then."""

MIN_WEAK_LIKENESS = 0.7
"""The same on 8 to 13 days, where it rests on one to six pairs."""

MIN_WEEKEND_GAP = 2.0
"""Least distance of weekend and working days, in units of the range of either."""

MIN_LEAD = 0.3
"""By how much that correlation must exceed the one of days three or four apart."""


def weekly_shares(bins: Bins) -> FloatArray:
    """Return the share of the variance that repeats with the week (0: no week), `[W]`.

    Looks at what remains of 3-hour means after the drift and the profile that all days share. Needs
    8 days; below 14 the claim rests on the few days that were seen twice.
    """
    shares = np.zeros(len(bins.values))
    if bins.day_count <= WEEK_DAYS:
        return shares
    blocks, is_known = bins.blocks(gcd(BLOCKS_PER_DAY, bins.bins_per_day))
    is_weak = bins.day_count < 2 * WEEK_DAYS
    # On less than two weeks a straight line would take the weekend for drift.
    level = blocks if is_weak else _without_drift(blocks, is_known)
    rest = _without_day(level, is_known)
    likeness = np.stack([_likeness(rest, is_known, lag) for lag in (3, 4, WEEK_DAYS)])
    week = likeness[2]
    least = MIN_LIKENESS if bins.day_count >= 3 * WEEK_DAYS else MIN_LIKENESS_OF_TWO_WEEKS
    is_week = (week >= least) & (week - likeness[:2].max(axis=0) >= MIN_LEAD)
    if is_weak:
        is_week &= (week >= MIN_WEAK_LIKENESS) & _is_weekend_apart(bins)
    whole = _variance(blocks, is_known)
    part = np.where(is_known, np.square(rest), 0).mean(axis=(1, 2))
    np.divide(week * part, whole, out=shares, where=is_week & (whole > 0))
    return np.clip(shares, 0, 1)


def _is_weekend_apart(bins: Bins) -> BoolArray:
    """Whether every known Saturday and Sunday lies beyond, and far from, every working day."""
    blocks, is_known = bins.blocks(1)
    means, known = blocks[:, :, 0], is_known[:, :, 0]
    is_weekend, is_working = known & bins.is_weekend, known & ~bins.is_weekend
    low = [np.where(part, means, np.inf).min(axis=1) for part in (is_weekend, is_working)]
    high = [np.where(part, means, -np.inf).max(axis=1) for part in (is_weekend, is_working)]
    gap = np.maximum(low[0] - high[1], low[1] - high[0])
    spread = np.maximum(high[0] - low[0], high[1] - low[1])
    seen_both = (is_weekend.sum(axis=1) >= 2) & (is_working.sum(axis=1) >= 3)
    return np.asarray(seen_both & (gap >= MIN_WEEKEND_GAP * spread), bool)


def _variance(blocks: Float32Array, is_known: BoolArray) -> FloatArray:
    count = np.maximum(is_known.sum(axis=(1, 2)), 1)
    mean = blocks.sum(axis=(1, 2), where=is_known) / count
    square = np.square(blocks - mean[:, None, None]).sum(axis=(1, 2), where=is_known)
    return np.asarray(square / blocks[0].size, float)


def _without_drift(blocks: Float32Array, is_known: BoolArray) -> Float32Array:
    """Return the blocks less a straight line through the days."""
    days = blocks.shape[1]
    ramp = (np.arange(days, dtype=np.float32) - (days - 1) / 2)[None, :, None]
    rest = _without_day(blocks, is_known)
    lever = (np.square(ramp) * is_known).sum(axis=(1, 2))
    slope = (rest * ramp).sum(axis=(1, 2)) / np.maximum(lever, 1e-9)
    line: Float32Array = slope[:, None, None] * ramp
    return blocks - line


def _without_day(blocks: Float32Array, is_known: BoolArray) -> Float32Array:
    """Return the blocks less the mean of their time of day; 0 where unknown."""
    count = np.maximum(is_known.sum(axis=1, keepdims=True, dtype=np.float32), 1)
    mean = blocks.sum(axis=1, keepdims=True, where=is_known) / count
    rest: Float32Array = np.where(is_known, blocks - mean, np.float32(0))
    return rest


def _likeness(rest: Float32Array, is_known: BoolArray, lag: int) -> FloatArray:
    """Return the correlation of days `lag` apart, over the blocks known on both, `[W]`."""
    early, late = rest[:, :-lag], rest[:, lag:]
    both = is_known[:, :-lag] & is_known[:, lag:]
    product = (early * late).sum(axis=(1, 2), where=both)
    power = np.square(early).sum(axis=(1, 2), where=both) * np.square(late).sum(
        axis=(1, 2), where=both
    )
    return np.asarray(product / np.maximum(np.sqrt(power), 1e-12), float)
