"""Where a replay begins, what it evaluates, and the load in fully busy pods."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from gputide.backtest.model import FloatArray, PolicyName, Trace, Workload
from gputide.backtest.policies.field import series_name
from gputide.backtest.policies.series import (
    DAY_MINUTES,
    WEEK_MINUTES,
    SeriesTable,
    lead_minutes,
    naive_series,
)
from gputide.backtest.settings import BacktestSettings
from gputide.errors import InputError, SettingError
from gputide.forecast.lead import fit_lead, replay_lead
from gputide.forecast.model import History, Lead

MINUTE_SECONDS = 60
MIN_MINUTES = 120
NEEDED_MINUTES = {
    PolicyName.CRANE: DAY_MINUTES,
    PolicyName.LAST_DAY: DAY_MINUTES,
    PolicyName.LAST_WEEK: WEEK_MINUTES,
}
MAX_START_DELAY_SECONDS = 6 * 3600


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """One trace cut into days: replayed for tuning from `start`, counted from `first` on."""

    trace: Trace
    demand: FloatArray
    """[T] in fully busy pods."""

    start: int
    first: int
    policies: tuple[PolicyName, ...]
    """Who can take part: a policy that repeats a past needs that past."""

    is_short: bool = False
    """Whether the history is too short for what a forecast needs."""

    warnings: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """T."""
        return len(self.demand)

    @property
    def evaluated_start(self) -> datetime:
        """When the evaluated span begins, UTC."""
        return self.trace.start_utc + timedelta(minutes=self.first)


def frame_of(trace: Trace, workload: Workload, settings: BacktestSettings) -> Frame:
    """Return the cut of a trace; InputError where there is nothing to replay."""
    if trace.step_seconds != MINUTE_SECONDS:
        raise InputError(trace.name, f"has steps of {trace.step_seconds} s; a replay needs minutes")
    check_workload(workload)
    demand = trace.demand / workload.capacity_per_pod
    total = len(demand)
    if total < MIN_MINUTES:
        raise InputError(trace.name, f"{total} minutes are too few to replay: two hours at least")
    if np.isnan(demand).all():
        raise InputError(trace.name, f"all of its {total} minutes are unknown")
    history, warnings = settings.history_days * DAY_MINUTES, []
    is_short = total < history + DAY_MINUTES
    if is_short:
        history = total // 2
        warnings.append(
            f"{total / DAY_MINUTES:.1f} days of history are too few for a forecast: "
            f"{settings.history_days + 1} or more tell what it is worth"
        )
    if workload.min_replicas == 0:
        warnings.append("at 0 pods nothing is measured that could wake a workload: 1 is kept")
    first = max(history, total - settings.evaluated_days * DAY_MINUTES)
    policies = tuple(p for p in settings.policies if first >= NEEDED_MINUTES.get(p, 0))
    if not policies:
        raise InputError(trace.name, "is too short for every policy that is asked for")
    left_out = [p.value for p in settings.policies if p not in policies]
    if left_out:
        warnings.append(f"too short a history to repeat: without {', '.join(left_out)}")
    tuned_days = min(settings.tuning_days, first // DAY_MINUTES)
    return Frame(
        trace=trace,
        demand=demand,
        start=first - tuned_days * DAY_MINUTES,
        first=first,
        policies=policies,
        is_short=is_short,
        warnings=tuple(warnings),
    )


def check_workload(workload: Workload) -> None:
    """Raise SettingError where no such pods can exist."""
    checks = {
        "capacity-per-pod": (0 < workload.capacity_per_pod < inf, "must be above 0"),
        "start-delay-seconds": (
            0 <= workload.start_delay_seconds <= MAX_START_DELAY_SECONDS,
            f"must be at least 0 and at most {MAX_START_DELAY_SECONDS}",
        ),
        "min-replicas": (workload.min_replicas >= 0, "must be at least 0"),
        "max-replicas": (
            workload.max_replicas >= max(workload.min_replicas, 1),
            "must be at least 1 and min-replicas",
        ),
        "initial-queue-limit-seconds": (
            workload.initial_queue_limit_seconds >= 0,
            "must be at least 0",
        ),
    }
    for setting, (is_good, problem) in checks.items():
        if not is_good:
            raise SettingError(setting, problem)


def local_start(trace: Trace) -> datetime:
    """Return the naive local time of the first minute."""
    try:
        zone = ZoneInfo(trace.time_zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise SettingError("time-zone", f"{trace.time_zone!r} is no IANA time zone") from error
    return trace.start_utc.astimezone(zone).replace(tzinfo=None)


def forecasts(
    frame: Frame, *, start_delay_seconds: float, quantiles: tuple[float, ...]
) -> SeriesTable:
    """Return every forecast that a policy reads: ours at each quantile, and the naive ones."""
    naive = naive_series(frame.demand, start_delay_seconds=start_delay_seconds)
    ours = np.full((len(quantiles), frame.end), np.nan)
    first = max(frame.start, 1)
    upper = replay_lead(
        _history(frame), lead=_lead(start_delay_seconds), quantiles=quantiles, first_step=first
    )
    ours[:, first:] = upper[:, 0]
    names = tuple(series_name(quantile) for quantile in quantiles)
    return SeriesTable(names=names + naive.names, values=np.concatenate([ours, naive.values]))


def seasonal_share(frame: Frame, *, start_delay_seconds: float, quantile: float) -> float:
    """Return how much of the newest forecast rests on other days, 0 to 1."""
    fitted = fit_lead(_history(frame), lead=_lead(start_delay_seconds), quantiles=(quantile,))
    return float(fitted.seasonal_share[0, 0])


def _history(frame: Frame) -> History:
    return History(
        values=frame.demand[np.newaxis],
        step_seconds=MINUTE_SECONDS,
        start_local=local_start(frame.trace),
        is_censored=_row(frame.trace.is_censored),
    )


def _lead(start_delay_seconds: float) -> Lead:
    """Return the minutes that today's decision must cover: until the next one's pods are ready."""
    return Lead(first_step=1, last_step=lead_minutes(start_delay_seconds) + 1)


def _row(flags: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    return None if flags is None else flags[np.newaxis]
