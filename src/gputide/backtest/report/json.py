"""The report for programs; docs/reference/backtest-report.md describes every field.

Unknown is null. Ratios are 0 to 1, times ISO 8601 in UTC.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec
import numpy as np

from gputide import __version__
from gputide.backtest.model import FloatArray, Outcome, Timeline, TraceReport
from gputide.backtest.report.figures import OPPONENTS, first_of, saving
from gputide.charts.numbers import rounded


class TraceJson(msgspec.Struct, frozen=True, kw_only=True):
    """What was replayed."""

    name: str
    unit: str
    start_utc: datetime
    time_zone: str
    step_seconds: int
    recorded_step_seconds: int
    steps: int
    unknown_ratio: float


class WorkloadJson(msgspec.Struct, frozen=True, kw_only=True):
    """How its pods behave."""

    capacity_per_pod: float
    start_delay_seconds: float
    min_replicas: int
    max_replicas: int
    initial_queue_limit_seconds: float


class OutcomeJson(msgspec.Struct, frozen=True, kw_only=True):
    """One policy with one set of knobs."""

    policy: str
    knobs: dict[str, float]
    is_walk_forward: bool
    replica_hours: float | None
    saving_ratio: float | None
    saturated_ratio: float | None
    late_ratio: float | None
    lost_ratio: float | None
    changes_per_day: float | None
    pods_started_per_day: float | None
    evaluated_seconds: float


class RecommendationJson(msgspec.Struct, frozen=True, kw_only=True):
    """What to do."""

    is_switch: bool
    headline: str
    reasons: tuple[str, ...]
    knobs: dict[str, float]


class TimelineJson(msgspec.Struct, frozen=True, kw_only=True):
    """Series over the evaluated span, one value a step."""

    start_utc: datetime
    step_seconds: int
    demand: Sequence[float | None]
    forecast_upper: Sequence[float | None]
    replicas: dict[str, Sequence[int | None]]


class TraceReportJson(msgspec.Struct, frozen=True, kw_only=True):
    """All about one trace."""

    trace: TraceJson
    workload: WorkloadJson
    quantile: float
    harm_budget_ratio: float
    coverage_ratio: float | None
    recommendation: RecommendationJson
    warnings: tuple[str, ...]
    outcomes: list[OutcomeJson]
    curves: dict[str, list[OutcomeJson]]
    timeline: TimelineJson


class ReportJson(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    format: Literal["gputide-backtest/1"] = "gputide-backtest/1"
    gputide_version: str = __version__
    traces: list[TraceReportJson]


def render(reports: Sequence[TraceReport]) -> str:
    """Return the reports as JSON text that ends with a newline."""
    document = ReportJson(traces=[_trace_report(report) for report in reports])
    return msgspec.json.encode(document).decode() + "\n"


def _trace_report(report: TraceReport) -> TraceReportJson:
    trace, workload, advice = report.trace, report.workload, report.recommendation
    opponent = first_of(report, OPPONENTS)
    return TraceReportJson(
        trace=TraceJson(
            name=trace.name,
            unit=trace.unit,
            start_utc=trace.start_utc,
            time_zone=trace.time_zone,
            step_seconds=trace.step_seconds,
            recorded_step_seconds=trace.recorded_step_seconds,
            steps=len(trace.demand),
            unknown_ratio=float(np.isnan(trace.demand).mean()),
        ),
        workload=WorkloadJson(
            capacity_per_pod=workload.capacity_per_pod,
            start_delay_seconds=workload.start_delay_seconds,
            min_replicas=workload.min_replicas,
            max_replicas=workload.max_replicas,
            initial_queue_limit_seconds=workload.initial_queue_limit_seconds,
        ),
        quantile=report.quantile,
        harm_budget_ratio=report.harm_budget_ratio,
        coverage_ratio=report.coverage_ratio,
        recommendation=RecommendationJson(
            is_switch=advice.is_switch,
            headline=advice.headline,
            reasons=advice.reasons,
            knobs=advice.knobs,
        ),
        warnings=report.warnings,
        outcomes=[_outcome(outcome, opponent) for outcome in report.outcomes],
        curves={
            str(policy): [_outcome(outcome, opponent) for outcome in outcomes]
            for policy, outcomes in report.curves.items()
        },
        timeline=_timeline(report.timeline),
    )


def _outcome(outcome: Outcome, opponent: Outcome | None) -> OutcomeJson:
    return OutcomeJson(
        policy=str(outcome.policy),
        knobs=outcome.knobs,
        is_walk_forward=outcome.is_walk_forward,
        replica_hours=outcome.replica_hours,
        saving_ratio=saving(outcome, opponent),
        saturated_ratio=outcome.saturated_ratio,
        late_ratio=outcome.late_ratio,
        lost_ratio=outcome.lost_ratio,
        changes_per_day=outcome.changes_per_day,
        pods_started_per_day=outcome.pods_started_per_day,
        evaluated_seconds=outcome.evaluated_seconds,
    )


def _timeline(timeline: Timeline) -> TimelineJson:
    return TimelineJson(
        start_utc=timeline.start_utc,
        step_seconds=timeline.step_seconds,
        demand=_series(timeline.demand),
        forecast_upper=_series(timeline.forecast_upper),
        replicas={str(policy): _pods(pods) for policy, pods in timeline.replicas.items()},
    )


def _pods(values: FloatArray) -> list[int | None]:
    return [None if np.isnan(value) else round(value) for value in values.tolist()]


def _series(values: FloatArray) -> list[float]:
    """Return plain floats to six digits; msgspec writes the unknown ones as null."""
    return rounded(values, digits=6)
