"""Replay the lead forecast over a history: what would have been issued at every minute."""

from collections.abc import Sequence

import numpy as np

from gputide.errors import SettingError
from gputide.forecast.lead.fit import fit_lead
from gputide.forecast.lead.plan import CALIBRATION_DAYS, WEEK_DAYS, Plan
from gputide.forecast.model import FloatArray, History, Lead


def replay_lead(
    history: History,
    *,
    lead: Lead,
    quantiles: Sequence[float],
    first_step: int,
    refit_steps: int = 1440,
) -> FloatArray:
    """Return `upper[Q, W, T - first_step]`: entry i is issued knowing columns before `first_step + i`.

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
    window = (CALIBRATION_DAYS + WEEK_DAYS) * plan.day_steps
    front = np.full((count, window + plan.needed_steps), np.nan)
    padded = np.concatenate([front, history.values], axis=1)
    shift = front.shape[1]
    for fit_at in range(first_step, total, refit_steps):
        end = min(fit_at + refit_steps, total)
        known = History(
            values=padded[:, fit_at + shift - window : fit_at + shift],
            step_seconds=history.step_seconds,
            start_local=history.start_local,
        )
        forecaster = fit_lead(known, lead=lead, quantiles=quantiles)
        newest = padded[:, fit_at + shift - plan.needed_steps : end - 1 + shift]
        out[..., fit_at - first_step : end - first_step] = forecaster.issue_span(
            newest, slice(0, end - fit_at)
        )
    return out
