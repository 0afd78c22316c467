"""Replay the lead forecast over a history: what would have been issued at every minute."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gputide.errors import SettingError
from gputide.forecast.lead.fit import fit_lead
from gputide.forecast.lead.plan import Plan
from gputide.forecast.model import FloatArray, History, Lead


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
    padded = _pad(history, plan.window_steps + plan.needed_steps)
    shift = padded.values.shape[1] - total
    out = np.empty((len(quantiles), count, total - first_step))
    for fit_at in range(first_step, total, refit_steps):
        end = min(fit_at + refit_steps, total)
        known = _cut(padded, slice(fit_at + shift - plan.window_steps, fit_at + shift))
        forecaster = fit_lead(known, lead=lead, quantiles=quantiles)
        newest = padded.values[:, fit_at + shift - plan.needed_steps : end - 1 + shift]
        out[..., fit_at - first_step : end - first_step] = forecaster.issue_span(
            newest, count=end - fit_at
        )
    return out


def _pad(history: History, steps: int) -> History:
    """Return the history with unknown columns in front; only its values and flags are right."""
    front = ((0, 0), (steps, 0))
    flags = history.is_censored
    return replace(
        history,
        values=np.pad(history.values, front, constant_values=np.nan),
        is_censored=None if flags is None else np.pad(flags, front),
    )


def _cut(history: History, columns: slice) -> History:
    flags = history.is_censored
    return replace(
        history,
        values=history.values[:, columns],
        is_censored=None if flags is None else flags[:, columns],
    )
