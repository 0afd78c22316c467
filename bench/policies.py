"""What each scaling policy would have cost and where it would have hurt, walked forward."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from bench.traces import Skipped
from gputide.backtest.model import Outcome, PolicyName, Trace
from gputide.backtest.replay import replay
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings, size
from gputide.errors import GputideError

Progress = Callable[[str], None]
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """One policy on one trace."""

    trace: str
    policy: str
    is_walk_forward: bool
    replica_hours: float
    saturated_ratio: float
    late_ratio: float
    changes_per_day: float
    pods_started_per_day: float
    saving_to_hpa_ratio: float | None
    """Share of the replica-hours of HPA tuned by the same replay that it saves."""

    saving_to_stabilized_ratio: float | None
    """The same, against HPA tuned over target and stabilization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySummary:
    """One policy over all traces."""

    policy: str
    is_walk_forward: bool
    traces: int
    saturated_median: float
    saturated_worst: float
    late_median: float
    late_worst: float
    changes_median: float
    pods_started_median: float
    saving_to_hpa_median: float
    saving_to_hpa_worst: float
    saving_to_stabilized_median: float
    saving_to_stabilized_worst: float


def race(
    traces: Sequence[Trace],
    settings: BacktestSettings,
    *,
    on_progress: Progress = lambda _what: None,
) -> tuple[list[PolicyRow], list[Skipped]]:
    """Return a row for each policy and trace; a trace that cannot be replayed is named."""
    rows: list[PolicyRow] = []
    skipped: list[Skipped] = []
    for trace in traces:
        needed = (settings.history_days + 1) * DAY_SECONDS
        if len(trace.demand) * trace.step_seconds < needed:
            length = len(trace.demand) * trace.step_seconds / DAY_SECONDS
            reason = f"holds {length:.1f} days; a replay needs {settings.history_days + 1}"
            skipped.append(Skipped(name=trace.name, reason=reason))
            continue
        on_progress(f"{trace.name}, replay")
        try:
            sized = size(trace, PodSettings(mean_pods=20))
            outcomes = replay(trace, sized.workload, settings).outcomes
        except GputideError as error:
            skipped.append(Skipped(name=trace.name, reason=str(error)))
            continue
        rows += _rows(trace.name, outcomes)
    return rows, skipped


def _rows(trace: str, outcomes: Sequence[Outcome]) -> list[PolicyRow]:
    hours = {outcome.policy: outcome.replica_hours for outcome in outcomes}
    return [
        PolicyRow(
            trace=trace,
            policy=outcome.policy,
            is_walk_forward=outcome.is_walk_forward,
            replica_hours=outcome.replica_hours,
            saturated_ratio=outcome.saturated_ratio,
            late_ratio=outcome.late_ratio,
            changes_per_day=outcome.changes_per_day,
            pods_started_per_day=outcome.pods_started_per_day,
            saving_to_hpa_ratio=_saving(outcome, hours.get(PolicyName.HPA_TUNED)),
            saving_to_stabilized_ratio=_saving(outcome, hours.get(PolicyName.HPA_STABILIZED)),
        )
        for outcome in outcomes
    ]


def _saving(outcome: Outcome, rival_hours: float | None) -> float | None:
    return None if not rival_hours else 1 - outcome.replica_hours / rival_hours


def summarize(rows: Sequence[PolicyRow]) -> list[PolicySummary]:
    """Return each policy over all traces, in the order of `PolicyName`."""
    by_policy = {name: [row for row in rows if row.policy == name] for name in map(str, PolicyName)}
    return [_summary(name, mine) for name, mine in by_policy.items() if mine]


def _summary(name: str, rows: Sequence[PolicyRow]) -> PolicySummary:
    to_hpa = [r.saving_to_hpa_ratio for r in rows if r.saving_to_hpa_ratio is not None]
    to_stable = [
        r.saving_to_stabilized_ratio for r in rows if r.saving_to_stabilized_ratio is not None
    ]
    nothing = float("nan")
    return PolicySummary(
        policy=name,
        is_walk_forward=rows[0].is_walk_forward,
        traces=len(rows),
        saturated_median=median(row.saturated_ratio for row in rows),
        saturated_worst=max(row.saturated_ratio for row in rows),
        late_median=median(row.late_ratio for row in rows),
        late_worst=max(row.late_ratio for row in rows),
        changes_median=median(row.changes_per_day for row in rows),
        pods_started_median=median(row.pods_started_per_day for row in rows),
        saving_to_hpa_median=median(to_hpa) if to_hpa else nothing,
        saving_to_hpa_worst=min(to_hpa, default=nothing),
        saving_to_stabilized_median=median(to_stable) if to_stable else nothing,
        saving_to_stabilized_worst=min(to_stable, default=nothing),
    )
