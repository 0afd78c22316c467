"""The band for the next 24 h: cut into days, let experts forecast, mix, calibrate, cap."""

from datetime import timedelta

import numpy as np

from gputide.forecast.band.calibration import evidence_of
from gputide.forecast.band.days import Days, Single, cut_days
from gputide.forecast.band.experts import centre_experts, forecast_days, upper_experts
from gputide.forecast.band.mixing import awake, live_deviation, mix, with_live_level
from gputide.forecast.model import DayBand, FloatArray, History, Verdict, parse_quantile

CHUNK_ROWS = 16
"""Workloads at a time, so that the work stays in the processor's cache."""

MIN_DAYS = 2
MAX_OVER_PEAK = 1.3
"""No bound lies further above the largest value of the history."""

FULL_UPPER = (
    "mean-and-spread",
    "second-highest",
    "last-day",
    "last-week",
    "shape-at-last-day",
    "shape-at-last-week",
    "shape-at-recent",
)
SHORT_UPPER = ("mean-and-spread", "highest")
"""Without a second week nobody knows whether a quiet yesterday was a quiet day of the week."""

CENTRE = ("mean", "recent", "last-day", "last-week", "shape-at-last-day", "shape-at-last-week")


def forecast_day(
    history: History, *, quantile: float = 0.95, verdicts: tuple[Verdict, ...] = ()
) -> DayBand:
    """Return the median and the upper quantile of the 24 h after the history, on its step.

    Any length will do: below two days the band is flat, from two days it follows the day, from
    eight the week, and at most the last 28 days are used. `verdicts` are passed on.
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
    upper = _upper(days, quantile)
    median = np.minimum(_median(days), upper) if quantile > 0.5 else _median(days)
    upper = np.maximum(upper, median)
    steps = history.steps_per_day // upper.shape[1]
    scale = days.scale[:, None]
    return np.repeat(median * scale, steps, axis=1), np.repeat(upper * scale, steps, axis=1)


def _upper(days: Days, quantile: float) -> Single:
    targets = forecast_days(days.day_count)
    evidence = evidence_of(days, len(targets) - 1, quantile)
    experts = upper_experts(days, targets)
    has_week_before = not np.isnan(experts["last-week"]).any()
    names = FULL_UPPER if has_week_before else SHORT_UPPER
    mixture = mix(awake(experts, names), evidence)
    upper = with_live_level(mixture, live_deviation(days, targets), evidence)
    if not has_week_before:  # untried, but the only day of its kind
        upper = np.fmax(upper, experts["last-week"][:, -1])
    return np.minimum(upper, MAX_OVER_PEAK * days.peak.max(axis=(1, 2))[:, None])


def _median(days: Days) -> Single:
    targets = forecast_days(days.day_count)
    evidence = evidence_of(days, len(targets) - 1, 0.5)
    mixture = mix(awake(centre_experts(days, targets), CENTRE), evidence)
    median = with_live_level(mixture, live_deviation(days, targets), evidence)
    return np.minimum(median, days.peak.max(axis=(1, 2))[:, None])


def _flat(values: FloatArray, quantile: float, width: int) -> tuple[FloatArray, FloatArray]:
    """Return a level band for histories too short for a season: what was seen, and its top."""
    nothing = np.isnan(values).all(axis=1, keepdims=True)
    known = np.where(nothing, 0.0, values) if values.size else np.zeros((len(values), 1))
    median = np.nanmedian(known, axis=1, keepdims=True)
    top = np.nanmax(known, axis=1, keepdims=True)
    upper = top if quantile > 0.5 else median
    return np.repeat(median, width, axis=1), np.repeat(upper, width, axis=1)
