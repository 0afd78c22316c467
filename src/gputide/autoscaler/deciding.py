"""Demands and bounds to decisions and outcomes: the arrays that `scaling.decide` wants. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isnan

import numpy as np

from gputide.autoscaler.model import Demand, DemandState, FloatArray, Key, Outcome, Target
from gputide.autoscaler.outlook.book import Book
from gputide.autoscaler.rows import Row
from gputide.clock import utc_from_unix
from gputide.scaling import BoundInForce, Decisions, MetricTarget, Situation, TargetKind
from gputide.scaling.hpa import largest_need
from gputide.scaling.rounding import ceil_replicas

Demands = Mapping[Key, tuple[Demand, ...]]


def situation_of(
    rows: Sequence[Row],
    demands: Demands,
    bounds: Sequence[BoundInForce],
    book: Book,
    *,
    now_seconds: float,
) -> Situation:
    """Return what is known about the rows at one moment."""
    first = [demands[row.subject.key][0] for row in rows]
    others, is_other_known = _other_needs(rows, demands)
    upper = [_upper(row, book) for row in rows]
    complete = [one.state is DemandState.FRESH for one in first]
    return Situation(
        now_seconds=now_seconds,
        current=np.array([_current(row.subject.target) for row in rows], np.float64),
        min_replicas=np.array([one.min_replicas for one in bounds], np.float64),
        max_replicas=np.array([one.max_replicas for one in bounds], np.float64),
        is_fresh=np.array([one.value is not None for one in first], np.bool_),
        is_complete=np.array(complete, np.bool_) & is_other_known,
        forecast_upper=np.array([one for one, _ in upper], np.float64),
        recent_peak=np.array([peak for _, peak in upper], np.float64),
        demand=np.array(
            [
                _asked(one, row.subject.autoscaler.policy.reactive_target, row.subject.target)
                for one, row in zip(first, rows, strict=True)
            ],
            np.float64,
        ),
        other_needs=others,
    )


def _upper(row: Row, book: Book) -> tuple[float, float]:
    """Return bound and recent peak; not a number where there is none."""
    entry = book.get(row.subject.key)
    return (np.nan, np.nan) if entry is None else (entry.upper, entry.peak)


def _current(target: Target | None) -> float:
    return 0.0 if target is None else float(target.replicas)


def _asked(demand: Demand, per_pod: float, target: Target | None) -> float:
    """Return the demand to decide on: pods that are not ready keep replicas, and ask for none."""
    if demand.value is None:
        return np.nan
    if not demand.unready_value:
        return demand.value
    held = min(demand.value + demand.unready_value, _current(target) * per_pod)
    return max(demand.value, held)


def _other_needs(
    rows: Sequence[Row], demands: Demands
) -> tuple[FloatArray | None, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return the largest need of the further metrics `[N]`, 0 where there are none."""
    most = max((len(row.subject.autoscaler.metrics) for row in rows), default=1)
    known = np.ones(len(rows), np.bool_)
    if most <= 1:
        return None, known
    needs = np.zeros((most - 1, len(rows)))
    for column, row in enumerate(rows):
        target = row.subject.target
        metrics = row.subject.autoscaler.metrics[1:]
        for place, (metric, demand) in enumerate(
            zip(metrics, demands[row.subject.key][1:], strict=True)
        ):
            needs[place, column] = _need(metric, demand, target)
            known[column] &= demand.state is DemandState.FRESH
    largest, is_known = largest_need(needs)
    return largest, known & is_known


def _need(metric: MetricTarget, demand: Demand, target: Target | None) -> float:
    """Return the replicas that one further metric asks for; a total, or a ratio of what runs."""
    if demand.value is None:
        return np.nan
    ratio = _asked(demand, metric.target, target) / metric.target
    if metric.target_kind is not TargetKind.VALUE or target is None or not target.replicas:
        return ratio
    return ratio * sum(pod.is_ready for pod in target.pods)


def bounds_at(rows: Sequence[Row], now_seconds: float) -> list[BoundInForce]:
    """Return the bound in force of each row; equal bounds are looked up once."""
    now: datetime = utc_from_unix(now_seconds)
    found: dict[int, BoundInForce] = {}
    for row in rows:
        bounds = row.subject.autoscaler.bounds
        if id(bounds) not in found:
            found[id(bounds)] = bounds.at(now)
    return [found[id(row.subject.autoscaler.bounds)] for row in rows]


def outcomes_of(
    rows: Sequence[Row],
    demands: Demands,
    bounds: Sequence[BoundInForce],
    decisions: Decisions,
    book: Book,
    *,
    now_seconds: float,
) -> list[Outcome]:
    """Return one outcome a row."""
    published = decisions.published
    reactive = ceil_replicas(decisions.reactive_need)
    proactive = ceil_replicas(decisions.proactive_need)
    now = utc_from_unix(now_seconds)
    made = []
    for place, row in enumerate(rows):
        subject = row.subject
        entry = book.get(subject.key)
        has_target = subject.target is not None
        made.append(
            Outcome(
                key=subject.key,
                decided_at_seconds=now_seconds,
                demands=demands[subject.key],
                forecast_demand=None if entry is None else known(entry.upper),
                proactive_replicas=whole(proactive[place]),
                reactive_replicas=whole(reactive[place]),
                current_replicas=subject.target.replicas if subject.target else None,
                published_replicas=whole(published[place]) if has_target else None,
                desired_replicas=whole(decisions.desired[place]) if has_target else None,
                is_write=bool(decisions.is_write[place]) and subject.obstacle is None,
                bound=bounds[place],
                bounds_conditions=row.conditions_at(now),
                verdict=None if entry is None else entry.verdict,
                history_text=history_text(row, book),
                steps=decisions.explain(place),
            )
        )
    return made


def history_text(row: Row, book: Book) -> str:
    """Return what keeps a workload's forecast from being made; empty where it is made."""
    entry = book.get(row.subject.key)
    reasons = (
        (bool(row.problem), row.problem),
        (not row.is_additive, "the first metric does not add up over the pods: no forecast"),
        (entry is not None and entry.fit is not None and not isnan(entry.upper), ""),
        (bool(row.load_problem), f"the history cannot be read: {row.load_problem}"),
        (row.per_pod is None, "the history waits for what a pod requests"),
        (row.loaded_to_minute is None, "the history is being read"),
    )
    return next((text for holds, text in reasons if holds), "too little history yet")


def known(value: float) -> float | None:
    """Return a number, or None for what is not one."""
    return None if isnan(value) else float(value)


def whole(value: float) -> int | None:
    """Return a whole number, or None for what is not a number."""
    return None if isnan(value) else int(value)
