"""The contestants: gputide's forecasts and the rules that they have to beat.

Each takes what may be seen from an origin and returns one bound an issue: for the coming day one a
step, for a lead one for each issue of the day.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from bench.windows import Task, Window
from gputide.forecast.band import forecast_day
from gputide.forecast.lead import replay_lead
from gputide.forecast.model import FloatArray, History, Lead

Contestant = Callable[[Window, Task, float], FloatArray]

GPUTIDE = "gputide"
LAST_DAY = "last day"
LAST_WEEK = "last week"
MAX_OF_DAYS = "max of days"
PERSISTENCE = "persistence"
BOOSTING = "boosted trees"

PERSISTENCE_STEPS = (1, 5, 15, 60, 1440)
MARGIN_FLOORS = (0.1, 1e3)
"""Margins are relative to the level plus this many means: a tenth, so that zeros have one too, or
so many that the margin is in truth an absolute one."""


def gputide(window: Window, task: Task, quantile: float) -> FloatArray:
    """Return the package's own bound."""
    if task.value is None:
        upper = forecast_day(window.history(), quantile=quantile).upper
        return np.asarray(upper[0], float)
    issued = replay_lead(
        History(
            values=np.append(window.values, np.nan)[None],  # no issue sees the last column
            step_seconds=window.step_seconds,
            start_local=window.start_local,
        ),
        lead=task.value,
        quantiles=(quantile,),
        first_step=window.origin,
        refit_steps=window.steps_per_day,
    )
    return np.asarray(issued[0, 0], float)


def last_day(window: Window, task: Task, _quantile: float) -> FloatArray:
    """Return what the same time held a day before."""
    return _same_time(window, task, days=(1,))


def last_week(window: Window, task: Task, _quantile: float) -> FloatArray:
    """Return what the same time held a week before."""
    return _same_time(window, task, days=(7,))


def max_of_days(window: Window, task: Task, _quantile: float) -> FloatArray:
    """Return the highest of the same time on all days of the history."""
    count = -(-window.origin // window.steps_per_day)
    return _same_time(window, task, days=tuple(range(1, count + 1)))


def persistence(window: Window, task: Task, quantile: float) -> FloatArray:
    """Return the recent level with the margin that held `quantile` of the history.

    The level is the highest of the last 1, 5, 15, 60 or 1,440 steps and the margin relative or
    absolute, whichever has lost least over the history. For the day ahead it is the quantile of
    the last day.
    """
    if task.value is None:
        day = window.past[-window.steps_per_day :]
        known = day[~np.isnan(day)]
        flat = float(np.quantile(known, quantile)) if len(known) else np.nan
        return np.full(window.steps_per_day, flat)
    past = window.past[~np.isnan(window.past)]
    mean = float(past.mean()) if len(past) else 0.0
    target = _target(window.past, task.value)
    best, least = np.full(window.steps_per_day, np.nan), np.inf
    for steps, share in product(PERSISTENCE_STEPS, MARGIN_FLOORS):
        level, floor = _trailing_max(window.values, steps), share * mean + 1e-12
        seen = level[: len(target)]
        margins = (target - seen) / (seen + floor)
        is_known = ~np.isnan(margins)
        if not is_known.any():
            continue
        margin = float(np.quantile(margins[is_known], quantile))
        short = (target - seen - margin * (seen + floor))[is_known]
        loss = float(np.maximum(quantile * short, (quantile - 1) * short).mean())
        if loss < least:
            at_issue = level[window.origin - 1 :]
            best, least = at_issue + margin * (at_issue + floor), loss
    return np.asarray(np.maximum(best, 0), float)


def _same_time(window: Window, task: Task, *, days: tuple[int, ...]) -> FloatArray:
    """Return the highest of the target's own span on some days before, as known at the origin."""
    per_day = window.steps_per_day
    lead = task.value or Lead(first_step=1, last_step=1)
    best = np.full(per_day, np.nan)
    for day in days:
        for step in range(lead.first_step, lead.last_step + 1):
            at = window.origin - 1 + np.arange(per_day) + step - day * per_day
            # A lead's target may lie in the next day: then "a day before" is seen only in part.
            seen = (at >= 0) & (at < window.origin + (np.arange(per_day) if task.value else 0))
            value = np.where(seen, window.values[np.clip(at, 0, len(window.values) - 1)], np.nan)
            best = np.fmax(best, value)
    return best


def _target(past: FloatArray, lead: Lead) -> FloatArray:
    """Return what each column of a history was followed by, `[T - last step]`."""
    width = lead.last_step - lead.first_step + 1
    spans = np.lib.stride_tricks.sliding_window_view(past[lead.first_step :], width)
    return np.asarray(np.fmax.reduce(spans, axis=1), float)


def _trailing_max(values: FloatArray, steps: int) -> FloatArray:
    """Return the highest known of the last steps up to each column, `[T]`."""
    padded = np.concatenate([np.full(steps - 1, np.nan), values])
    spans = np.lib.stride_tricks.sliding_window_view(padded, steps)
    return np.asarray(np.fmax.reduce(spans, axis=1), float)


CONTESTANTS: dict[str, Contestant] = {
    GPUTIDE: gputide,
    MAX_OF_DAYS: max_of_days,
    LAST_DAY: last_day,
    LAST_WEEK: last_week,
    PERSISTENCE: persistence,
}
