"""Replay the lead forecast over a history: what would have been issued at every minute."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gputide.errors import SettingError
from gputide.forecast.lead.fit import fit_lead
from gputide.forecast.lead.plan import Plan
from gputide.forecast.model import FloatArray, History, Lead

CHUNK_WORKLOADS = 8
"""Rows replayed at once, so that memory does not grow with the number of workloads."""


def replay_lead(
    history: History,
    *,
    lead: Lead,
    quantiles: Sequence[float],
    first_step: int,
    refit_steps: int = 1440,
) -> FloatArray:
    """Return `upper[Q, W, T - first_step]`; entry i knows only columns before `first_step + i`.

    It bounds the maximum over columns `first_step + i + lead.first_step - 1` to
    `first_step + i + lead.last_step - 1`. Refits every `refit_steps` columns, from the past alone.
    """
    count, total = history.values.shape
    if not 0 < first_step <= total:
        raise SettingError("first-step", f"must lie in 1..{total}")
    plan = Plan(step_seconds=history.step_seconds, lead=lead)
    if not 0 < refit_steps <= plan.day_steps:
        raise SettingError("refit-steps", f"must lie in 1..{plan.day_steps}")
    out = np.empty((len(quantiles), count, total - first_step))
    for at in range(0, count, CHUNK_WORKLOADS):
        rows = slice(at, at + CHUNK_WORKLOADS)
        padded = _pad(_cut(history, rows, slice(None)), plan.window_steps + plan.needed_steps)
        for fit_at in range(first_step, total, refit_steps):
            end = min(fit_at + refit_steps, total)
            issued = slice(fit_at - first_step, end - first_step)
            out[:, rows, issued] = _issue_until(padded, plan, quantiles, end - fit_at, end - total)
    return out


def _issue_until(
    padded: History, plan: Plan, quantiles: Sequence[float], count: int, behind: int
) -> FloatArray:
    """Return `upper[Q, w, count]` of the steps before the column `behind` the last (0 or less)."""
    end = padded.values.shape[1] + behind
    fit_at = end - count
    known = _cut(padded, slice(None), slice(fit_at - plan.window_steps, fit_at))
    forecaster = fit_lead(known, lead=plan.lead, quantiles=quantiles)
    newest = padded.values[:, fit_at - plan.needed_steps : end - 1]
    return forecaster.issue_span(newest, count=count)


def _pad(history: History, steps: int) -> History:
    """Return the history with unknown columns in front; only its values and flags are right."""
    front = ((0, 0), (steps, 0))
    flags = history.is_censored
    return replace(
        history,
        values=np.pad(history.values, front, constant_values=np.nan),
        is_censored=None if flags is None else np.pad(flags, front),
    )


def _cut(history: History, rows: slice, columns: slice) -> History:
    flags = history.is_censored
    return replace(
        history,
        values=history.values[rows, columns],
        is_censored=None if flags is None else flags[rows, columns],
    )
