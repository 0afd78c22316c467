"""What of a history can be learnt from: masks beside the values; nothing filled, nothing changed.

A peak that comes every day is no outlier, a burst among many bursts is none either; a spike of a
minute or two that no other day knows is one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.level import level_starts
from gputide.forecast.model import (
    CENSORED_UTILIZATION_RATIO,
    DAY_SECONDS,
    BoolArray,
    FloatArray,
    History,
)
from gputide.forecast.outlier import find_outliers
from gputide.forecast.runs import longest_runs, runs_of

CHUNK_ROWS = 32
"""Workloads at a time, so that the work stays in the processor's cache."""

LOST_DAY_RATIO = 0.1
"""A day with less than this share of known values is lost; below `PART_DAY_RATIO` partly lost."""

PART_DAY_RATIO = 0.75
STUCK_SECONDS = 6 * 3600
"""A value that moves all the time and then stays for this long, exactly, is a stuck reading."""

INTERMITTENT_ZERO_RATIO = 0.75
"""From this share of zeros on a load is intermittent."""

FLAT_RATIO = 0.1
"""A load whose 1 to 99 % range is at most this share of its median is flat.

Such a load stays within the tolerance of an HPA: there is nothing to scale, whatever is foreseen.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Soundness:
    """What may be learnt from, per workload and minute."""

    is_known: BoolArray
    """[W, T]: holds a value."""

    is_outlier: BoolArray
    """[W, T]: an isolated spike or drop that no other day knows."""

    is_stuck: BoolArray
    """[W, T]: within a reading that stopped moving."""

    is_censored: BoolArray
    """[W, T]: only a lower bound of the demand."""

    day_known_ratio: FloatArray
    """[W, D]: share of known values in each 24 h back from the newest value, oldest first."""

    longest_gap_seconds: FloatArray
    """[W]: longest stretch without a value."""

    level_start_step: NDArray[np.int64]
    """[W]: column where the present level began, to the day; 0 where it never shifted."""

    is_flat: BoolArray
    """[W]: never moves, zero included."""

    is_intermittent: BoolArray
    """[W]: mostly zero."""

    @property
    def is_usable(self) -> BoolArray:
        """[W, T]: known, and neither outlier nor stuck."""
        return self.is_known & ~self.is_outlier & ~self.is_stuck

    @property
    def is_lost_day(self) -> BoolArray:
        """[W, D]: hardly a value; leave it out, a mean of other days is no day."""
        return np.asarray(self.day_known_ratio < LOST_DAY_RATIO, bool)

    @property
    def is_part_day(self) -> BoolArray:
        """[W, D]: a good part of the values is missing, but not all."""
        return np.asarray(self.day_known_ratio < PART_DAY_RATIO, bool) & ~self.is_lost_day

    @property
    def known_ratio(self) -> FloatArray:
        """[W]: share of the columns that hold a value; 0 of an empty history."""
        return _share(self.is_known, np.ones_like(self.is_known))

    @property
    def censored_ratio(self) -> FloatArray:
        """[W]: share of the known values that are only lower bounds."""
        return _share(self.is_censored & self.is_known, self.is_known)


def inspect(history: History, *, capacity: float | None = None) -> Soundness:
    """Return what of a history can be learnt from.

    `capacity` says that values are limited by it (1.0 for a utilization ratio): from 95 % of it on
    they count as censored, beside what the history itself marks.
    """
    values = history.values
    is_known = ~np.isnan(values)
    is_censored = np.zeros_like(is_known) if history.is_censored is None else history.is_censored
    if capacity is not None:
        is_censored = is_censored | (values >= CENSORED_UTILIZATION_RATIO * capacity)
    is_outlier, is_stuck = np.zeros_like(is_known), np.zeros_like(is_known)
    for start in range(0, len(values), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        is_outlier[rows] = find_outliers(values[rows], history.steps_per_day)
        is_stuck[rows] = _find_stuck(values[rows], STUCK_SECONDS // history.step_seconds)
    is_flat, is_intermittent = _shapes(values)
    return Soundness(
        is_known=is_known,
        is_outlier=is_outlier,
        is_stuck=is_stuck,
        is_censored=is_censored,
        day_known_ratio=_day_known_ratio(is_known, history.steps_per_day),
        longest_gap_seconds=longest_runs(~is_known) * float(history.step_seconds),
        level_start_step=level_starts(history),
        is_flat=is_flat,
        is_intermittent=is_intermittent,
    )


def gap_seconds(history: History) -> FloatArray:
    """Return for each column the length of the gap that it lies in, `[W, T]`; 0 where known."""
    lengths = np.zeros(history.values.shape)
    for row, first, last in runs_of(np.isnan(history.values)):
        lengths[row, first:last] = (last - first) * history.step_seconds
    return lengths


def _share(part: BoolArray, whole: BoolArray) -> FloatArray:
    return np.asarray(part.sum(axis=1) / np.maximum(whole.sum(axis=1), 1), float)


def _day_known_ratio(is_known: BoolArray, steps_per_day: int) -> FloatArray:
    days = is_known.shape[1] // steps_per_day
    whole = is_known[:, is_known.shape[1] - days * steps_per_day :]
    return np.asarray(whole.reshape(len(whole), days, steps_per_day).mean(axis=2), float)


def _find_stuck(values: FloatArray, least_steps: int) -> BoolArray:
    """Return where a value above the lowest and below the highest stays put, `[W, T]`.

    Loads that often repeat a value (whole GPUs, coarse samples) cannot be told from stuck ones.
    """
    is_stuck = np.zeros(values.shape, bool)
    if values.shape[1] < 2 or least_steps < 3:
        return is_stuck
    is_same = values[:, 1:] == values[:, :-1]
    long = [run for run in runs_of(is_same) if run[2] - run[1] >= least_steps]
    for row, first, last in long:
        held = sum(end - begin for other, begin, end in long if other == row)
        moving = is_same.shape[1] - held
        repeats = int(is_same[row].sum()) - held
        at = values[row, first]
        is_inside = np.nanmin(values[row]) < at < np.nanmax(values[row])
        if is_inside and moving > 0 and repeats < 0.5 * moving:
            is_stuck[row, first : last + 1] = True
    return is_stuck


def _shapes(values: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return which workloads are flat and which are mostly zero, from every fifth value."""
    thin = np.sort(values[:, ::5] if values.shape[1] > DAY_SECONDS // 300 else values, axis=1)
    if thin.shape[1] == 0:
        return np.zeros(len(values), bool), np.zeros(len(values), bool)
    count = (~np.isnan(thin)).sum(axis=1)
    last = np.maximum(count, 1) - 1
    at = np.arange(len(thin))
    low, middle, high = (thin[at, np.rint(last * q).astype(int)] for q in (0.01, 0.5, 0.99))
    is_flat = (count > 0) & (high - low <= FLAT_RATIO * middle)
    top = np.where(count > 0, thin[at, last], 0)
    zeros = (thin <= 1e-9 * top[:, None]).sum(axis=1)
    is_intermittent = (count > 0) & (zeros >= INTERMITTENT_ZERO_RATIO * count) & ~is_flat
    return np.asarray(is_flat, bool), np.asarray(is_intermittent, bool)
