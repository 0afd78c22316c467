"""What a forecast has to beat: naive peers and its own past, walked forward over the last days."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gputide.forecast.model import BoolArray, FloatArray, History
from gputide.forecast.score import coverage_ratio, pinball_loss_ratio

LAST_DAY = "last-day"
LAST_WEEK = "last-week"
MAX_OF_DAYS = "max-of-days"
PERSISTENCE = "persistence"

LOOK_SECONDS = 300
"""Peers are scored on one value every five minutes: the same on average, at a fifth of the cost."""

SCORED_DAYS = 5
"""Own and naive forecasts are scored on the same days."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """How a bound did, walked forward; `[W]` each, NaN where nothing could be scored."""

    coverage_ratio: FloatArray
    pinball_loss_ratio: FloatArray


def scores_of(
    actual: FloatArray, upper: FloatArray, quantile: float, *, is_censored: BoolArray | None = None
) -> Scores:
    """Return the scores of bounds that were issued before their actuals, `[W, N]` both."""
    return Scores(
        coverage_ratio=coverage_ratio(actual, upper, is_censored=is_censored),
        pinball_loss_ratio=pinball_loss_ratio(actual, upper, quantile, is_censored=is_censored),
    )


def walk_forward(
    history: History,
    quantile: float,
    forecast: Callable[[History], FloatArray],
    *,
    day_count: int = SCORED_DAYS,
) -> Scores:
    """Return how `forecast` would have done on each of the last days, knowing only what was before.

    `forecast` takes a history and returns the bound `[W, H]` of the 24 h after it; it is called
    once a day.
    """
    per_day = history.steps_per_day
    width = history.values.shape[1]
    ends = [width - day * per_day for day in range(min(day_count, width // per_day - 1), 0, -1)]
    if not ends:
        unknown = np.full(len(history.values), np.nan)
        return Scores(coverage_ratio=unknown, pinball_loss_ratio=unknown)
    upper = np.hstack([forecast(_until(history, end)) for end in ends])
    actual = history.values[:, ends[0] :]
    marks = None if history.is_censored is None else history.is_censored[:, ends[0] :]
    return scores_of(actual, upper, quantile, is_censored=marks)


def naive_scores(history: History, quantile: float) -> Mapping[str, Scores]:
    """Return the scores of the naive peers, day-ahead, over at most the last five days.

    last-day and last-week repeat that day; max-of-days takes the highest of the same minute on all
    days before; persistence is the quantile of the 24 h before, the same all day: what one knows
    who knows the level and no clock.
    """
    days, marks = _cut(history)
    first = max(days.shape[1] - SCORED_DAYS, 1)
    actual = days[:, first:]
    scored = None if marks is None else marks[:, first:].reshape(len(days), -1)
    highest = np.fmax.accumulate(days, axis=1)[:, :-1]  # of the days before day 1, 2, ...
    bounds = {
        LAST_DAY: days[:, first - 1 : -1],
        LAST_WEEK: _week_before(days, first),
        MAX_OF_DAYS: highest[:, first - 1 :],
        PERSISTENCE: np.broadcast_to(_levels(days[:, first - 1 : -1], quantile), actual.shape),
    }
    return {
        name: scores_of(
            actual.reshape(len(days), -1),
            bound.reshape(len(days), -1),
            quantile,
            is_censored=scored,
        )
        for name, bound in bounds.items()
    }


def _until(history: History, end: int) -> History:
    marks = None if history.is_censored is None else history.is_censored[:, :end]
    return replace(history, values=history.values[:, :end], is_censored=marks)


def _cut(history: History) -> tuple[FloatArray, BoolArray | None]:
    """Return the last whole days as `[W, D, look]`, and which of their values are censored."""
    per_day = history.steps_per_day
    day_count = history.values.shape[1] // per_day
    thin = max(LOOK_SECONDS // history.step_seconds, 1)
    begin = history.values.shape[1] - day_count * per_day
    shape = (len(history.values), day_count, per_day)
    days = history.values[:, begin:].reshape(shape)[:, :, ::thin]
    if history.is_censored is None:
        return days, None
    return days, history.is_censored[:, begin:].reshape(shape)[:, :, ::thin]


def _week_before(days: FloatArray, first: int) -> FloatArray:
    """Return the day seven days before each day from `first` on; NaN where there is none."""
    padded = np.concatenate([np.full((len(days), 7, days.shape[2]), np.nan), days], axis=1)
    return padded[:, first : days.shape[1]]


def _levels(days: FloatArray, quantile: float) -> FloatArray:
    """Return the quantile of each day's known values, `[W, D, 1]`; NaN where none is known."""
    ordered = np.sort(days, axis=2)
    count = (~np.isnan(ordered)).sum(axis=2, keepdims=True)
    at = np.minimum(np.ceil(quantile * count).astype(int), count) - 1
    return np.take_along_axis(ordered, np.maximum(at, 0), axis=2)
