"""Fits one batch of workloads: what the past says of the coming day. Pure, and takes a while."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import isnan

import numpy as np

from gputide.autoscaler.model import Key
from gputide.autoscaler.outlook.packed import PackedForecaster
from gputide.clock import utc_from_unix
from gputide.forecast import History, Lead, Verdict
from gputide.forecast.calendar import to_local_grid
from gputide.forecast.lead import fit_lead
from gputide.forecast.model import FloatArray
from gputide.forecast.verdict import judge

STEP_SECONDS = 60
PEAK_MINUTES = 3 * 1440
"""A forecast is capped in terms of the largest demand of so many minutes."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What workloads of one batch have in common."""

    lead_steps: int
    quantile: float
    zone: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A batch, fitted."""

    terms: Terms
    keys: tuple[Key, ...]
    fitted_minute: int
    offset_minutes: int
    """Of the zone's clock from UTC when it was fitted."""

    forecaster: PackedForecaster
    peaks: tuple[float, ...]
    """Largest demand of the last days; not a number where none is known."""

    verdicts: tuple[Verdict, ...]


def local_history(values: FloatArray, newest_minute: int, zone: str) -> History:
    """Return `values[W, T]` (UTC minutes, the newest last) on the zone's clock."""
    start = utc_from_unix((newest_minute - values.shape[1] + 1) * STEP_SECONDS)
    grid = to_local_grid(values, start, zone, STEP_SECONDS)
    return History(values=grid.values, step_seconds=STEP_SECONDS, start_local=grid.start_local)


def fit_batch(keys: Sequence[Key], values: FloatArray, terms: Terms, *, newest_minute: int) -> Fit:
    """Return the fit of `values[W, T]`; float64, NaN where unknown."""
    history = local_history(values, newest_minute, terms.zone)
    lead = Lead(first_step=1, last_step=terms.lead_steps)
    forecaster = fit_lead(history, lead=lead, quantiles=[terms.quantile])
    with np.errstate(all="ignore"):
        recent = values[:, -PEAK_MINUTES:]
        highest = np.fmax.reduce(recent, axis=1, initial=-np.inf)
    peaks = tuple(float(peak) if peak > -np.inf else float("nan") for peak in highest)
    return Fit(
        terms=terms,
        keys=tuple(keys),
        fitted_minute=newest_minute,
        offset_minutes=zone_offset(terms.zone, newest_minute),
        forecaster=PackedForecaster.pack(forecaster),
        peaks=peaks,
        verdicts=judge(history, terms.quantile),
    )


def issue(fit: Fit, newest: FloatArray, *, minute: int) -> FloatArray:
    """Return `upper[W]` of the maximum over the lead from `newest[W, needed]` at that minute.

    Where the zone's clock changed since the fit, the day's phase moves with it.
    """
    moved = zone_offset(fit.terms.zone, minute) - fit.offset_minutes
    steps = (minute - fit.fitted_minute + moved) % 1440
    upper: FloatArray = fit.forecaster.unpack().issue(newest, steps_since_fit=steps)[0]
    return upper


def zone_offset(zone: str, minute: int) -> int:
    """Return how far a zone's clock is ahead of UTC at a minute, in minutes."""
    grid = to_local_grid(np.zeros((1, 1)), utc_from_unix(minute * STEP_SECONDS), zone, STEP_SECONDS)
    utc = utc_from_unix(minute * STEP_SECONDS).replace(tzinfo=None)
    return round((grid.start_local - utc) / timedelta(minutes=1))


def higher(peak: float, demand: float | None) -> float:
    """Return the larger of a peak and a demand, either of which may be unknown."""
    if demand is None:
        return peak
    return demand if isnan(peak) else max(peak, demand)
