"""What comes after a trace: the next 24 h, the bound over the lead, and whether to trust them."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from zoneinfo import ZoneInfo

import numpy as np

from gputide.backtest.model import FloatArray, Trace
from gputide.errors import SettingError
from gputide.forecast.band import forecast_day
from gputide.forecast.calendar import to_local_grid
from gputide.forecast.lead import fit_lead
from gputide.forecast.model import BoolArray, History, Lead, Verdict
from gputide.forecast.peers import walk_forward
from gputide.forecast.verdict import judge
from gputide.quantile import parse_quantile
from gputide.scaling import Autoscaler

DAY_MINUTES = 1440
MINUTE_SECONDS = 60
MAX_HISTORY_DAYS = 366
SCORED_DAYS = 7
"""The verdict's coverage comes from forecasts of the last days, each issued at its start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlookSettings:
    """What to forecast; raises SettingError, one line that names the flag."""

    quantile: float = 95
    """How sure the upper bound is: percent, or a fraction below 1."""

    history_days: int = 28
    """Newest days of the load that the forecast may learn from."""

    lead_seconds: float = 180
    """How far ahead a decision looks: the time from it until a pod serves."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantile", parse_quantile(self.quantile))
        if not 1 <= self.history_days <= MAX_HISTORY_DAYS:
            raise SettingError("history-days", f"must be 1 to {MAX_HISTORY_DAYS}")
        if not MINUTE_SECONDS <= self.lead_seconds <= DAY_MINUTES * MINUTE_SECONDS:
            raise SettingError("lead-seconds", "must be 60 to 86400")

    def fit(self, autoscaler: Autoscaler) -> "OutlookSettings":
        """Return the settings with a resource's quantile and lead where a person set none."""
        default, lead = OutlookSettings(), max(autoscaler.lead_seconds, MINUTE_SECONDS)
        return replace(
            self,
            quantile=autoscaler.quantile if self.quantile == default.quantile else self.quantile,
            lead_seconds=lead if self.lead_seconds == default.lead_seconds else self.lead_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outlook:
    """One trace's forecast: `median[1440]` and `upper[1440]` hold minutes from `start_utc`."""

    trace: Trace
    """The history that was used: the newest days."""

    start_utc: datetime
    quantile: float
    median: FloatArray
    upper: FloatArray
    lead_seconds: int
    lead_upper: float | None
    """Upper quantile of the largest demand within the lead; None where nothing is known."""

    verdict: Verdict


def look_ahead(trace: Trace, settings: OutlookSettings) -> Outlook:
    """Return the forecast from the end of a trace, on the trace's own local clock."""
    trace = _newest(trace, settings.history_days * DAY_MINUTES)
    history = history_of(trace)
    quantile = settings.quantile
    own = walk_forward(
        history,
        quantile,
        lambda past: forecast_day(past, quantile=quantile).upper,
        day_count=SCORED_DAYS,
    )
    band = forecast_day(history, quantile=quantile)
    start_utc = trace.start_utc + timedelta(minutes=len(trace.demand))
    columns = _columns_by_utc(start_utc, trace.time_zone, band.start_local)
    lead = Lead(first_step=1, last_step=ceil(settings.lead_seconds / MINUTE_SECONDS))
    bound = _bound_over(history, lead, quantile)
    return Outlook(
        trace=trace,
        start_utc=start_utc,
        quantile=quantile,
        median=band.median[0, columns],
        upper=band.upper[0, columns],
        lead_seconds=lead.last_step * MINUTE_SECONDS,
        lead_upper=bound if np.isfinite(bound) else None,
        verdict=judge(history, quantile, own=own)[0],
    )


def history_of(trace: Trace) -> History:
    """Return a trace as the one row of a history, on the local clock of its zone."""
    grid = to_local_grid(trace.demand[None], trace.start_utc, trace.time_zone, trace.step_seconds)
    marks: BoolArray | None = None
    if trace.is_censored is not None:
        flags = trace.is_censored[None].astype(np.float64)
        moved = to_local_grid(flags, trace.start_utc, trace.time_zone, trace.step_seconds)
        marks = np.nan_to_num(moved.values) > 0
    return History(
        values=grid.values,
        step_seconds=trace.step_seconds,
        start_local=grid.start_local,
        is_censored=marks,
    )


def _newest(trace: Trace, minutes: int) -> Trace:
    cut = max(len(trace.demand) - minutes, 0)
    if not cut:
        return trace
    return replace(
        trace,
        demand=trace.demand[cut:],
        start_utc=trace.start_utc + timedelta(minutes=cut),
        replicas=None,  # what a forecast does not read
        min_replicas=None,
        max_replicas=None,
        is_censored=None if trace.is_censored is None else trace.is_censored[cut:],
    )


def _bound_over(history: History, lead: Lead, quantile: float) -> float:
    forecaster = fit_lead(history, lead=lead, quantiles=(quantile,))
    missing = max(forecaster.needed_steps - history.values.shape[1], 0)
    padded = np.pad(history.values, ((0, 0), (missing, 0)), constant_values=np.nan)
    newest = padded[:, -forecaster.needed_steps :]
    return float(forecaster.issue(newest, steps_since_fit=0)[0, 0])


def _columns_by_utc(start_utc: datetime, zone: str, start_local: datetime) -> list[int]:
    """Return the band's column of each coming minute, read off a wall clock that may change."""
    clock = ZoneInfo(zone)
    offsets = [
        (start_utc + timedelta(minutes=minute)).astimezone(clock).utcoffset() or timedelta()
        for minute in range(DAY_MINUTES)
    ]
    begin = start_utc.replace(tzinfo=None) - start_local
    return [
        ((begin + offset) // timedelta(minutes=1) + minute) % DAY_MINUTES
        for minute, offset in enumerate(offsets)
    ]
