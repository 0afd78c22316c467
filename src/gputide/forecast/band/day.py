"""The band for the next 24 h: cut into days, let experts forecast, mix, calibrate, cap."""

from datetime import timedelta

import numpy as np

from gputide.forecast.band.calibration import Evidence, best_factors, evidence_of
from gputide.forecast.band.days import Days, Single, cut_days
from gputide.forecast.band.experts import FULL_DAYS, centre_experts, upper_experts
from gputide.forecast.band.mixing import Live, carry_live, live_of, mix
from gputide.forecast.band.season import relate
from gputide.forecast.band.view import View, look
from gputide.forecast.model import DayBand, FloatArray, History, Verdict, parse_quantile

CHUNK_ROWS = 32
"""Workloads at a time, so that the work stays in the processor's cache."""

MIN_DAYS = 2
TREND_SHARE = 0.3
"""Of a rise over the weeks, this much is added for the day to come."""

LOW_QUANTILE = 0.85
MAX_OVER_PEAK = 1.3
"""No bound lies further above the largest value of the history."""


def forecast_day(
    history: History, *, quantile: float = 0.95, verdicts: tuple[Verdict, ...] = ()
) -> DayBand:
    """Return the median and the upper quantile of the 24 h after the history, on its step.

    Any length will do: below two days the band is flat, from two days it follows the day, from
    ten the week, and at most the last 28 days are used. `verdicts` are passed on.
    """
    fraction = parse_quantile(quantile)
    seconds = history.values.shape[1] * history.step_seconds
    shape = (len(history.values), history.steps_per_day)
    median, upper = np.zeros(shape), np.zeros(shape)
    for start in range(0, shape[0], CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        median[rows], upper[rows] = _forecast_rows(history, rows, fraction)
    return DayBand(
        median=median,
        upper=upper,
        quantile=fraction,
        step_seconds=history.step_seconds,
        start_local=history.start_local + timedelta(seconds=seconds),
        verdicts=verdicts,
    )


def _forecast_rows(history: History, rows: slice, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return median and upper `[N, H]` of some rows."""
    if history.values.shape[1] < MIN_DAYS * history.steps_per_day:
        return _flat(history.values[rows], quantile, history.steps_per_day)
    days = cut_days(history, rows)
    upper, median = _bounds(days, quantile)
    if quantile > 0.5:
        median = np.minimum(median, upper)
    upper = np.maximum(upper, median)
    steps = history.steps_per_day // upper.shape[1]
    scale = days.scale[:, None]
    return np.repeat(median * scale, steps, axis=1), np.repeat(upper * scale, steps, axis=1)


def _bounds(days: Days, quantile: float) -> tuple[Single, Single]:
    """Return upper bound and median of the coming day, `[N, B]` each."""
    season = relate(days)
    past, coming = look(days, season)
    peak = days.peak.max(axis=(1, 2))[:, None]
    middles = [centre_experts(view) for view in (past, coming)]
    bounds = [upper_experts(view) for view in (past, coming)]
    if quantile < LOW_QUANTILE:  # stretched middles bound it better than lowered peaks
        bounds = [np.concatenate(both) for both in zip(bounds, middles, strict=True)]
    live = live_of(days, season)
    evidence = evidence_of(days, _asked_of_seen_days(quantile, days.count))
    upper = _mixture(bounds, live, evidence)
    upper *= np.exp(TREND_SHARE * season.log_trend)[:, None]
    if days.count < FULL_DAYS:
        upper = np.maximum(upper, _last_week(past, coming, evidence))
    median = _mixture(middles, live, evidence_of(days, 0.5))
    return np.minimum(upper, MAX_OVER_PEAK * peak), np.minimum(median, peak)


def _asked_of_seen_days(quantile: float, count: int) -> float:
    """Return the quantile to ask of `count` days so that the next one keeps to the asked one.

    Seen days never show all that can come: of n + 1 alike days the next is as likely the worst one.
    """
    return 1 - (1 - quantile) * count / (count + 1) if quantile > 0.5 else quantile


def _mixture(experts: list[Single], live: Live, evidence: Evidence) -> Single:
    """Return one quantile of the coming day `[N, B]` from experts on the past and on that day."""
    past, coming = experts
    before, ahead = mix(past.reshape(*past.shape[:2], -1), coming[:, :, 0], evidence)
    return carry_live(before, ahead, live, evidence)


def _last_week(past: View, coming: View, evidence: Evidence) -> Single:
    """Return the day a week ago as a bound `[N, B]`: untried, but the only day of its kind.

    Taken as it was, or lowered as the day before would have to be for a low quantile.
    """
    tried = past.day_before(past.jitter)
    factor = best_factors(tried.reshape(len(tried), -1), evidence)
    last_week = (coming.weeks @ coming.jitter)[:, 0]
    return np.asarray(last_week * np.minimum(factor, 1)[:, None])


def _flat(values: FloatArray, quantile: float, width: int) -> tuple[FloatArray, FloatArray]:
    """Return a level band for histories too short for a season: what was seen, and its top."""
    nothing = np.isnan(values).all(axis=1, keepdims=True)
    known = np.where(nothing, 0.0, values) if values.size else np.zeros((len(values), 1))
    median = np.nanmedian(known, axis=1, keepdims=True)
    top = np.nanmax(known, axis=1, keepdims=True)
    upper = top if quantile > 0.5 else median
    return np.repeat(median, width, axis=1), np.repeat(upper, width, axis=1)
