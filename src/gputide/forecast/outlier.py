"""Isolated spikes and drops, told from the peaks of every day and from bursts."""

import numpy as np

from gputide.forecast.model import BoolArray, FloatArray

MAX_SHARE = 3e-4
"""Where more of the columns would be outliers, they are the load's own bursts."""

CONTRAST = 0.6
"""What surrounds a spike, and the same time of other days, stays below this share of it."""

LONE_STEPS = 2
"""A spike lasts at most this long; longer is a burst that pods have to serve."""

AROUND_STEPS = 15


def find_outliers(values: FloatArray, steps_per_day: int) -> BoolArray:
    """Return spikes and drops of one or two steps that no other day knows, `[W, T]`."""
    is_outlier = np.zeros(values.shape, bool)
    if values.shape[1] < 4 * AROUND_STEPS:
        return is_outlier
    high, low = _fences(values)
    is_outlier |= _lone(values, values > high[:, None], steps_per_day, sign=1)
    is_outlier |= _lone(values, values < low[:, None], steps_per_day, sign=-1)
    return is_outlier


def _fences(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what a value must exceed or undercut to be looked at, from every seventh value."""
    thin = np.sort(values[:, ::7], axis=1)
    last = np.maximum((~np.isnan(thin)).sum(axis=1), 1) - 1
    at = np.arange(len(thin))
    low, middle, high = (thin[at, (last * q).astype(int)] for q in (0.01, 0.5, 0.99))
    return np.maximum(1.5 * high, middle + 3 * (high - middle)), 0.5 * low


def _lone(values: FloatArray, suspects: BoolArray, steps_per_day: int, *, sign: int) -> BoolArray:
    """Return the suspects that stand alone in their quarter of an hour and among the days."""
    found = np.zeros(values.shape, bool)
    row, column = np.divmod(np.flatnonzero(suspects), values.shape[1])
    budget = np.maximum(MAX_SHARE * values.shape[1], 3)
    is_rare = np.bincount(row, minlength=len(values))[row] <= 2 * budget
    row, column = row[is_rare], column[is_rare]
    if not len(row):
        return found
    value = values[row, column]
    near = np.arange(LONE_STEPS, AROUND_STEPS + 1)
    is_lone = _is_apart(values, (row, column), np.concatenate([-near, near]), value, sign)
    if sign > 0:  # a drop needs no other day: it hides demand, it makes none
        days = values.shape[1] // steps_per_day
        jitter = np.arange(-AROUND_STEPS, AROUND_STEPS + 1)
        for day in [*range(-days, 0), *range(1, days + 1)]:
            offsets = day * steps_per_day + jitter
            is_lone &= _is_apart(values, (row, column), offsets, value, sign)
    row, column = row[is_lone], column[is_lone]
    is_rare = np.bincount(row, minlength=len(values))[row] <= budget
    found[row[is_rare], column[is_rare]] = True
    return found


def _is_apart(
    values: FloatArray,
    place: tuple[np.ndarray, np.ndarray],
    offsets: np.ndarray,
    value: FloatArray,
    sign: int,
) -> BoolArray:
    """Return which values tower over (sign 1) or lie under (-1) all known values at offsets."""
    row, column = place
    at = column[:, None] + offsets
    is_inside = (at >= 0) & (at < values.shape[1])
    around = values[row[:, None], np.clip(at, 0, values.shape[1] - 1)]
    if sign > 0:
        around = np.where(is_inside & ~np.isnan(around), around, -np.inf)
        return np.asarray(around.max(axis=1) < CONTRAST * value, bool)
    around = np.where(is_inside & ~np.isnan(around), around, np.inf)
    return np.asarray(CONTRAST * around.min(axis=1) > value, bool)
