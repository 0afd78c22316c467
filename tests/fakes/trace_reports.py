"""Hand-made backtest reports: no replay, but every field filled with what a replay could say."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from gputide.backtest.model import (
    FloatArray,
    Outcome,
    PolicyName,
    Recommendation,
    Timeline,
    Trace,
    TraceReport,
    Workload,
)

START = datetime(2026, 11, 2, tzinfo=UTC)
KNOBS: dict[PolicyName, dict[str, float]] = {
    PolicyName.FIXED: {"replicas": 64},
    PolicyName.HPA: {"target_ratio": 0.7, "stabilization_seconds": 300},
    PolicyName.HPA_TUNED: {"target_ratio": 0.42, "stabilization_seconds": 300},
    PolicyName.HPA_STABILIZED: {"target_ratio": 0.5, "stabilization_seconds": 1800},
    PolicyName.CRANE: {"target_ratio": 0.7, "margin_ratio": 0.15},
    PolicyName.LAST_DAY: {"target_ratio": 0.8},
    PolicyName.LAST_WEEK: {"target_ratio": 0.8},
    PolicyName.GPUTIDE_ONE_TARGET: {"target_ratio": 0.7, "quantile": 0.95},
    PolicyName.GPUTIDE: {"target_ratio": 0.9, "reactive_target_ratio": 0.9, "quantile": 0.99},
    PolicyName.GPUTIDE_TUNED: {
        "target_ratio": 0.9,
        "reactive_target_ratio": 0.9,
        "quantile": 0.995,
        "stabilization_seconds": 900,
    },
    PolicyName.ORACLE: {},
}
FIGURES: dict[PolicyName, tuple[float, float, float]] = {
    PolicyName.FIXED: (4608.0, 0.0, 0.0),
    PolicyName.HPA: (2160.0, 0.0139, 0.0031),
    PolicyName.HPA_TUNED: (3456.0, 0.0009, 0.0002),
    PolicyName.HPA_STABILIZED: (3024.5, 0.0008, 0.0001),
    PolicyName.CRANE: (2736.0, 0.0033, 0.0007),
    PolicyName.LAST_DAY: (2520.0, 0.0125, 0.0049),
    PolicyName.LAST_WEEK: (2664.0, float("nan"), float("nan")),
    PolicyName.GPUTIDE_ONE_TARGET: (2880.0, 0.0004, 0.00002),
    PolicyName.GPUTIDE: (2304.0, 0.0019, 0.0004),
    PolicyName.GPUTIDE_TUNED: (2376.0, 0.0007, 0.0001),
    PolicyName.ORACLE: (1872.0, 0.0, 0.0),
}


def trace_report(
    name: str = "checkout-gpu", *, days: int = 3, step_seconds: int = 60
) -> TraceReport:
    """Return a report on a daily wave that has a gap of two hours."""
    minutes = days * 86_400 // step_seconds
    demand = wave(minutes, step_seconds)
    upper = 1.25 * wave(minutes, step_seconds, is_whole=True) + 2
    pods = np.ceil(np.nan_to_num(demand, nan=20.0) / 0.42)
    return TraceReport(
        trace=Trace(
            name=name, demand=demand, start_utc=START, time_zone="Asia/Shanghai", unit="GPUs"
        ),
        workload=Workload(capacity_per_pod=1.0),
        outcomes=tuple(outcome(policy) for policy in PolicyName),
        curves={policy: curve(policy) for policy in PolicyName if policy is not PolicyName.ORACLE},
        timeline=Timeline(
            start_utc=START,
            step_seconds=step_seconds,
            demand=demand,
            forecast_upper=upper,
            replicas={
                PolicyName.HPA: np.ceil(pods * 0.6),
                PolicyName.HPA_TUNED: pods,
                PolicyName.GPUTIDE: np.ceil(upper / 0.9),
                PolicyName.GPUTIDE_TUNED: np.ceil(upper / 0.88),
            },
        ),
        coverage_ratio=0.953,
        quantile=0.99,
        recommendation=Recommendation(
            is_switch=True,
            headline="Switch to auto: 31 % fewer replica-hours than the tuned HPA.",
            reasons=(
                "0.07 % of the minutes would have been saturated; the budget is 0.1 %.",
                "the load repeats every day, and the forecast covered 95.3 % of the minutes",
            ),
            knobs=KNOBS[PolicyName.GPUTIDE_TUNED],
        ),
        warnings=("2 h of the trace are unknown; they count for no policy.",),
    )


def refusing_report(name: str = "batch-burst") -> TraceReport:
    """Return a report that advises against switching."""
    report = trace_report(name)
    recommendation = Recommendation(
        is_switch=False,
        headline="Keep the HPA: no forecast beats it on this load.",
        reasons=("No period was found.",),
    )
    return replace(report, recommendation=recommendation, coverage_ratio=None, warnings=())


def wave(minutes: int, step_seconds: int = 60, *, is_whole: bool = False) -> FloatArray:
    """Return a daily wave around 20 with ripples, unknown for two hours unless whole."""
    hours = np.arange(minutes) * step_seconds / 3600
    values = 20 + 12 * np.sin(2 * np.pi * (hours - 9) / 24) + 2 * np.sin(hours * 17.3)
    if not is_whole:
        values[(hours >= 30) & (hours < 32)] = np.nan
    return np.asarray(values, dtype=np.float64)


def outcome(policy: PolicyName, *, cost: float = 1.0, harm: float = 1.0) -> Outcome:
    """Return the headline row of a policy, its cost and harms multiplied."""
    replica_hours, saturated, late = FIGURES[policy]
    return Outcome(
        policy=policy,
        knobs=KNOBS[policy],
        is_walk_forward=policy
        in {PolicyName.HPA_TUNED, PolicyName.HPA_STABILIZED, PolicyName.GPUTIDE_TUNED},
        replica_hours=replica_hours * cost,
        saturated_ratio=saturated * harm,
        late_ratio=late * harm,
        lost_ratio=late * harm / 3,
        changes_per_day=183.0 / cost,
        pods_started_per_day=788.0 / cost,
        evaluated_seconds=252_000.0,
    )


def curve(policy: PolicyName) -> tuple[Outcome, ...]:
    """Return eight settings of a policy, cheapest last: the less it costs, the more it hurts."""
    costs = [1.6, 1.4, 1.25, 1.1, 1.0, 0.9, 0.8, 0.7]
    harms = [0.0, 0.05, 0.2, 0.5, 1.0, 2.5, 7.0, 20.0]
    return tuple(
        replace(
            outcome(policy, cost=cost, harm=harm),
            knobs=KNOBS[policy] | {"target_ratio": round(0.35 / cost + 0.3, 2)},
        )
        for cost, harm in zip(costs, harms, strict=True)
    )
