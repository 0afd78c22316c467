"""Fit a lead forecast once a day or hour: judge the candidates on the trailing days."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gputide.errors import SettingError
from gputide.forecast.lead.calibrate import FLOOR, Experts, Samples, calibrate
from gputide.forecast.lead.candidates import (
    DayTables,
    Seasons,
    combine,
    look_up_seasons,
    read_live,
    read_outcome,
    tabulate_days,
)
from gputide.forecast.lead.forecaster import LeadForecaster, join_forecasters
from gputide.forecast.lead.guard import guard_share
from gputide.forecast.lead.mix import bound_by, known_shares, mix
from gputide.forecast.lead.plan import CALIBRATION_DAYS, WEEK_DAYS, Plan
from gputide.forecast.lead.windows import Array
from gputide.forecast.model import BoolArray, FloatArray, History, Lead

CHUNK_WORKLOADS = 16
"""Rows worked on at once: few enough to stay in the cache."""

LIFT_RATIO = 0.5
"""Part of the mixture's miscalibration on the trailing days that is corrected."""

LIFT_MIN_SAMPLES = 50


def fit_lead(history: History, *, lead: Lead, quantiles: Sequence[float]) -> LeadForecaster:
    """Learn to bound the maximum demand over `lead` at each quantile (ascending fractions).

    Reads the newest 14 days. Raises SettingError on a lead beyond a day or unordered quantiles.
    """
    check_quantiles(quantiles)
    plan = Plan(step_seconds=history.step_seconds, lead=lead)
    count = len(history.values)
    parts = []
    for at in range(0, max(count, 1), CHUNK_WORKLOADS):
        rows = slice(at, at + CHUNK_WORKLOADS)
        is_censored = None if history.is_censored is None else history.is_censored[rows]
        parts.append(_fit_rows(history.values[rows], is_censored, plan, tuple(quantiles)))
    return join_forecasters(parts)


def check_quantiles(quantiles: Sequence[float]) -> None:
    """Raise SettingError unless the quantiles ascend within (0, 1)."""
    is_ascending = all(low < high for low, high in pairwise(quantiles))
    if not quantiles or not is_ascending or not 0 < quantiles[0] <= quantiles[-1] < 1:
        raise SettingError("quantiles", "must be ascending fractions between 0 and 1")


def _fit_rows(
    values: FloatArray, is_censored: BoolArray | None, plan: Plan, quantiles: tuple[float, ...]
) -> LeadForecaster:
    days, scale = _cut_days(values, plan)
    tables = tabulate_days(days, plan)
    censored_days = None if is_censored is None else _cut_flags(is_censored, plan)
    samples = _walk_forward(days, censored_days, tables, plan)
    experts = calibrate(samples, quantiles)
    recent = days[:, -WEEK_DAYS:].reshape(len(days), WEEK_DAYS * plan.day_steps)
    return LeadForecaster(
        plan=plan,
        quantiles=quantiles,
        seasons=_coming_seasons(tables, days.shape[1], plan),
        experts=experts,
        lift=_lift(experts, samples, quantiles),
        guard=guard_share(experts, samples, days, plan, quantiles),
        scale=scale,
        highest=np.fmax.reduce(recent, axis=1, initial=0),
    )


def _cut_days(values: FloatArray, plan: Plan) -> tuple[Array, FloatArray]:
    """Return the newest whole days `[w, D, n]` in units of the mean, and that mean `[w]`.

    Days before the history are unknown.
    """
    newest = values[:, -plan.window_steps :]
    is_known = np.isfinite(newest)
    total = np.where(is_known, newest, 0).sum(axis=1)
    scale = total / np.maximum(is_known.sum(axis=1), 1)
    scale = np.where(scale > 0, scale, 1.0)
    days = np.full((len(values), plan.window_steps), np.nan, dtype=np.float32)
    days[:, plan.window_steps - newest.shape[1] :] = newest / scale[:, None]
    return days.reshape(len(values), CALIBRATION_DAYS + WEEK_DAYS, plan.day_steps), scale


def _cut_flags(flags: BoolArray, plan: Plan) -> BoolArray:
    newest = flags[:, -plan.window_steps :]
    out = np.zeros((len(flags), plan.window_steps), dtype=np.bool_)
    out[:, plan.window_steps - newest.shape[1] :] = newest
    return out


def _walk_forward(
    days: Array, censored: BoolArray | None, tables: DayTables, plan: Plan
) -> Samples:
    """Return what candidates would have said on trailing days, each knowing only earlier days."""
    day_count, day_steps = days.shape[1:]
    series = days.reshape(len(days), days.shape[1] * days.shape[2])
    start = (day_count - CALIBRATION_DAYS) * day_steps
    lookback = min(start, plan.live_steps)
    origins = [
        np.arange((day_count - 1 - age) * day_steps, (day_count - age) * day_steps)[phases] - 1
        for age, phases in enumerate(plan.origins)
    ]
    columns = np.concatenate(origins) - start + lookback
    newest = series[:, start - lookback :]
    live = read_live(newest, plan, columns)
    candidates, at = [], 0
    for age, phases in enumerate(plan.origins):
        seasons = look_up_seasons(tables, day_count - 1 - age, phases)
        count = len(origins[age])
        candidates.append(combine(seasons, live.part(slice(at, at + count))))
        at += count
    flags = None
    if censored is not None:
        newest_flags = censored[:, start - lookback :].astype(np.float32)
        flags = read_outcome(newest_flags, plan, columns) > 0
    return Samples(
        candidates=np.concatenate(candidates, axis=-1),
        actual=live.outcome,
        is_censored=flags,
    )


def _coming_seasons(tables: DayTables, day_count: int, plan: Plan) -> Seasons:
    """Return the seasons from a while before the fit to a day after it, `[..., phases, w]`."""
    before = slice(plan.day_steps - plan.lookback_phases, None)
    last = look_up_seasons(tables, day_count - 1, before)
    coming = look_up_seasons(tables, day_count, slice(None))
    envelopes = np.concatenate([last.envelopes, coming.envelopes], axis=-1)
    levels = np.concatenate([last.levels, coming.levels], axis=-1)
    return Seasons(envelopes=envelopes.transpose(0, 2, 1), levels=levels.transpose(0, 2, 1))


def _lift(experts: Experts, samples: Samples, quantiles: Sequence[float]) -> Array:
    """Return `[Q, w]`: how far the mixture's own quantile on the trailing days was off."""
    lifts = []
    for index, quantile in enumerate(quantiles):
        bounds = bound_by(experts, index, samples.candidates, workload_axis=1)
        mixture = mix(bounds, known_shares(bounds, experts.loss[index][..., None]))
        residual = np.sort((samples.actual - mixture) / (mixture + np.float32(FLOOR)), axis=-1)
        count = residual.shape[-1] - np.isnan(residual).sum(axis=-1)
        rank = np.clip(np.ceil(quantile * (count + 1)) - 1, 0, np.maximum(count - 1, 0))
        lift = np.take_along_axis(residual, rank.astype(np.intp)[:, None], axis=-1)[:, 0]
        lifts.append(np.where(count > LIFT_MIN_SAMPLES, np.float32(LIFT_RATIO) * lift, 0))
    return np.stack(lifts).astype(np.float32)
