"""The replay: what each policy would have cost on a trace, and where it would have hurt."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gputide.backtest.frame import Frame, forecasts, frame_of, seasonal_share
from gputide.backtest.model import (
    FloatArray,
    Outcome,
    PolicyName,
    Timeline,
    Trace,
    TraceReport,
    Workload,
)
from gputide.backtest.outcome import coverage, front, issued_before, outcome_of
from gputide.backtest.policies.field import build_field, forecast_quantiles, series_name
from gputide.backtest.policies.series import DAY_MINUTES, lead_minutes
from gputide.backtest.race import Progress, Race, Result, run_races
from gputide.backtest.recommend import Evidence, recommend
from gputide.backtest.settings import BacktestSettings
from gputide.errors import SettingError

FIXED_SWEEP_QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1.0)
MINUTE_SECONDS = 60


def replay(
    trace: Trace,
    workload: Workload,
    settings: BacktestSettings,
    *,
    on_progress: Progress = lambda _share: None,
) -> TraceReport:
    """Return what every policy would have done on this trace.

    Pure but for `on_progress`. Raises InputError where the trace cannot be replayed, SettingError
    where the workload makes no sense.
    """
    return replay_all([trace], [workload], settings, on_progress=on_progress)[0]


def replay_all(
    traces: Sequence[Trace],
    workloads: Sequence[Workload],
    settings: BacktestSettings,
    *,
    on_progress: Progress = lambda _share: None,
) -> tuple[TraceReport, ...]:
    """Return what `replay` returns for each trace; side by side, four cost little more than one.

    All workloads must have the same start delay.
    """
    if len({workload.start_delay_seconds for workload in workloads}) > 1:
        raise SettingError("start-delay-seconds", "must be the same for all that run side by side")
    races = [
        _race(trace, workload, settings) for trace, workload in zip(traces, workloads, strict=True)
    ]
    results = run_races(races, on_progress=on_progress)
    return tuple(_report(race, result) for race, result in zip(races, results, strict=True))


def _race(trace: Trace, workload: Workload, settings: BacktestSettings) -> Race:
    """Return who runs on a trace, with every forecast that they read."""
    frame = frame_of(trace, workload, settings)
    settings = replace(settings, policies=frame.policies)
    field = build_field(
        settings,
        fixed_replicas=_size(frame.demand[: frame.first], 1 - settings.harm_budget_ratio),
        fixed_sweep=[_size(frame.demand[frame.first :], q) for q in FIXED_SWEEP_QUANTILES],
    )
    table = forecasts(
        frame,
        start_delay_seconds=workload.start_delay_seconds,
        quantiles=forecast_quantiles(settings),
    )
    return Race(frame=frame, field=field, table=table, workload=workload, settings=settings)


def _report(race: Race, result: Result) -> TraceReport:
    """Return the report of a race that has been run."""
    frame, settings = race.frame, race.settings
    outcomes = _headlines(race, result)
    timeline = _timeline(race, result)
    covered = coverage(timeline.demand, timeline.forecast_upper)
    return TraceReport(
        trace=frame.trace,
        workload=race.workload,
        outcomes=outcomes,
        curves=_curves(race, result),
        timeline=timeline,
        coverage_ratio=covered,
        quantile=settings.quantile,
        recommendation=recommend(_evidence(race, outcomes, covered)),
        harm_budget_ratio=settings.harm_budget_ratio,
        warnings=(*frame.trace.warnings, *frame.warnings, *_gaps(frame)),
    )


def _evidence(race: Race, outcomes: tuple[Outcome, ...], covered: float | None) -> Evidence:
    frame, settings = race.frame, race.settings
    share = None
    if not frame.is_short:
        share = seasonal_share(
            frame,
            start_delay_seconds=race.workload.start_delay_seconds,
            quantile=settings.quantile,
        )
    censored = frame.trace.is_censored
    return Evidence(
        outcomes=outcomes,
        budget_ratio=settings.harm_budget_ratio,
        quantile=settings.quantile,
        coverage_ratio=covered,
        seasonal_share=share,
        censored_ratio=0.0 if censored is None else float(censored.mean()),
        evaluated_days=(frame.end - frame.first) / DAY_MINUTES,
        is_short=frame.is_short,
    )


def _headlines(race: Race, result: Result) -> tuple[Outcome, ...]:
    latest = {
        tuned.policy: choice
        for tuned, choice in zip(race.field.tuned, result.choices[-1], strict=True)
    }
    return tuple(
        outcome_of(
            result.ledger,
            row,
            policy=name,
            knobs=race.field.settings[latest.get(name, row)].knobs,
            is_walk_forward=name in latest,
        )
        for name, row in race.shown.items()
    )


def _curves(race: Race, result: Result) -> dict[PolicyName, tuple[Outcome, ...]]:
    return {
        name: front(
            [
                outcome_of(
                    result.ledger,
                    at,
                    policy=name,
                    knobs=race.field.settings[at].knobs,
                    is_walk_forward=False,
                )
                for at in race.field.curves[name]
            ]
        )
        for name in PolicyName
        if name in race.field.curves
    }


def _timeline(race: Race, result: Result) -> Timeline:
    frame, lead = race.frame, lead_minutes(race.workload.start_delay_seconds)
    upper = race.table.values[race.table.names.index(series_name(race.settings.quantile))]
    issued = issued_before(upper, lead_minutes=lead) * race.workload.capacity_per_pod
    return Timeline(
        start_utc=frame.evaluated_start,
        step_seconds=MINUTE_SECONDS,
        demand=frame.trace.demand[frame.first :],
        forecast_upper=issued[frame.first :],
        replicas=result.replicas,
    )


def _gaps(frame: Frame) -> tuple[str, ...]:
    """Return a sentence on unknown minutes, where there are any."""
    unknown = int(np.isnan(frame.demand[frame.first :]).sum())
    if not unknown:
        return ()
    sentence = (
        f"{unknown} of {frame.end - frame.first} evaluated minutes are unknown: "
        "policies hold there, and they count neither as served nor as harm"
    )
    return (sentence,)


def _size(demand: FloatArray, quantile: float) -> float:
    """Return the fixed size that saturates in at most 1 - quantile of the known minutes."""
    known = demand[~np.isnan(demand)]
    if not len(known):
        return 1.0
    needed = float(np.quantile(known, quantile, method="higher"))
    return max(float(np.ceil(needed - 1e-9)), 1.0)
