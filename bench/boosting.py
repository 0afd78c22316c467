"""Gradient-boosted quantile trees (scikit-learn), trained anew at each origin on its history."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from bench.windows import Task, Window
from gputide.forecast.model import FloatArray, Lead

Columns = NDArray[np.int64]

TRAIN_EVERY_STEPS = 7
"""Not a divisor of an hour or a day, so that every minute of the day is trained on."""

TREES = 100


def boosted_trees(window: Window, task: Task, quantile: float) -> FloatArray:
    """Return the bound that boosted trees give: phase, lags and, for a lead, the rolling level.

    Trained on issues of the history alone. Raises ImportError without scikit-learn.
    """
    from sklearn.ensemble import (  # type: ignore[import-untyped]  # ships no types
        HistGradientBoostingRegressor,
    )
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # likewise

    table = _Table.of(window, task.value)
    trained = table.training_rows(window)
    target = table.target[trained]
    known = ~np.isnan(target)
    if known.sum() < 50:
        return np.full(window.steps_per_day, np.nan)
    model = HistGradientBoostingRegressor(
        loss="quantile",
        quantile=quantile,
        max_iter=TREES,
        learning_rate=0.1,
        max_leaf_nodes=15,
        min_samples_leaf=20,
        early_stopping=False,
        random_state=0,
    )
    seen = table.features(trained[known])
    told = ~np.isnan(seen).all(axis=0)  # a week of history knows no day a week before
    issues = window.origin - 1 + np.arange(window.steps_per_day)
    with threadpool_limits(limits=1):  # as everybody else, so that CPU times compare
        model.fit(seen[:, told], target[known])
        bound = model.predict(table.features(issues)[:, told])
    return np.asarray(np.maximum(bound, 0), float)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """What is known when an issue is made with the columns up to and including `at`."""

    window: Window
    lead: Lead | None
    padded: FloatArray
    """The values with a NaN behind, which every look outside them finds."""

    target: FloatArray
    """[T]: what followed each column of the history; NaN where that lies beyond the origin."""

    levels: FloatArray
    """[T, 4]: mean of the last 5, 60 and 1,440 steps, highest of the last 60."""

    @classmethod
    def of(cls, window: Window, lead: Lead | None) -> "_Table":
        values = window.values
        target = np.full(len(values), np.nan)
        span = lead or Lead(first_step=1, last_step=1)
        past = window.past
        spans = np.lib.stride_tricks.sliding_window_view(
            past[span.first_step :], span.last_step - span.first_step + 1
        )
        target[: len(spans)] = np.fmax.reduce(spans, axis=1)
        levels = [_rolling_mean(values, steps) for steps in (5, 60, window.steps_per_day)]
        return cls(
            window=window,
            lead=lead,
            padded=np.append(values, np.nan),
            target=target,
            levels=np.stack(levels, axis=1),
        )

    def training_rows(self, window: Window) -> Columns:
        """Return columns of the history to train on; the first day has no day before it."""
        return np.arange(window.steps_per_day, window.origin - 1, TRAIN_EVERY_STEPS)

    def features(self, at: Columns) -> FloatArray:
        """Return what is known of the target of an issue made at columns, `[N, feature]`."""
        per_day = self.window.steps_per_day
        span = self.lead or Lead(first_step=1, last_step=1)
        goal = at + span.last_step
        start = self.window.start_local
        midnight = start - timedelta(hours=start.hour, minutes=start.minute, seconds=start.second)
        offset = int((start - midnight).total_seconds()) // self.window.step_seconds
        phase = (goal + offset) % per_day
        weekday = (start.weekday() + (goal + offset) // per_day) % 7
        columns = [phase, weekday, np.sin(2 * np.pi * phase / per_day)]
        columns += [self._look(goal - day * per_day, at) for day in (1, 2, 3, 7)]
        around = [self._look(goal - per_day + shift, at) for shift in range(-30, 31, 5)]
        columns.append(np.fmax.reduce(around, axis=0))
        week = [self._look(goal - day * per_day, at) for day in range(1, 8)]
        columns += [np.fmax.reduce(week, axis=0), _row_mean(np.stack(week, axis=1))]
        if self.lead is not None:
            columns.append(self._look(at, at))
            columns += [self.levels[at, level] for level in range(self.levels.shape[1])]
        else:  # only the level of whole days before is known all day long
            columns.append(self._day_level(at))
        return np.stack(columns, axis=1).astype(float)

    def _look(self, column: Columns, at: Columns) -> FloatArray:
        """Return values at columns, NaN for what lies before the history or after the issue."""
        limit = at if self.lead is not None else self._day_start(at) - 1
        is_seen = (column >= 0) & (column <= limit)
        found: FloatArray = self.padded[np.where(is_seen, column, len(self.padded) - 1)]
        return found

    def _day_level(self, at: Columns) -> FloatArray:
        """Return the mean of the 24 h before the day that a target belongs to."""
        level: FloatArray = self.levels[np.maximum(self._day_start(at) - 1, 0), 2]
        return level

    def _day_start(self, at: Columns) -> Columns:
        """Return the first column of the 24 h, counted from the origin, that hold column at + 1."""
        per_day, origin = self.window.steps_per_day, self.window.origin
        start: Columns = origin + (at + 1 - origin) // per_day * per_day
        return start


def _rolling_mean(values: FloatArray, steps: int) -> FloatArray:
    """Return the mean of the known of the last steps up to each column, `[T]`."""
    known = ~np.isnan(values)
    sums = np.cumsum(np.concatenate([[0.0], np.where(known, values, 0)]))
    counts = np.cumsum(np.concatenate([[0], known]))
    first = np.maximum(np.arange(1, len(values) + 1) - steps, 0)
    count = counts[1:] - counts[first]
    total = sums[1:] - sums[first]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _row_mean(rows: FloatArray) -> FloatArray:
    known = ~np.isnan(rows)
    count = known.sum(axis=1)
    return np.where(count > 0, np.where(known, rows, 0).sum(axis=1) / np.maximum(count, 1), np.nan)
