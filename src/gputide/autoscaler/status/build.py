"""The status object of one outcome. Pure."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from gputide.autoscaler.model import Demand, Outcome, Subject
from gputide.autoscaler.status.conditions import Condition, conditions_of, to_objects
from gputide.autoscaler.status.numbers import amount_text, quantity_text, rounded
from gputide.clock import utc_from_unix
from gputide.scaling import MetricKind, MetricTarget, TargetKind

JsonObject = dict[str, Any]
MAX_REASON = 500


def time_text(seconds: float) -> str:
    """Return a Unix time as Kubernetes writes it."""
    return utc_from_unix(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def build_status(
    subject: Subject, outcome: Outcome, before: Mapping[str, Any], *, generation: int
) -> JsonObject:
    """Return the whole status; lists are never null, and unknown fields are left out."""
    autoscaler = subject.autoscaler
    metric, demand = autoscaler.metrics[0], outcome.demands[0]
    found: JsonObject = {
        "observedGeneration": generation,
        "metric": metric.name,
        "target": amount_text(metric.target, metric),
        "current": amount_text(demand.value, metric),
        "demandState": demand.state.value,
        "podsWithSamples": _coverage_of(demand),
        "forecast": amount_text(outcome.forecast_demand, metric),
        "currentReplicas": outcome.current_replicas,
        "desiredReplicas": outcome.published_replicas,
        "minReplicas": outcome.bound.min_replicas,
        "maxReplicas": outcome.bound.max_replicas,
        "proactiveReplicas": outcome.proactive_replicas,
        "reactiveReplicas": outcome.reactive_replicas,
        "bound": outcome.bound.path,
        "timeZone": autoscaler.bounds.zone.key,
        "reason": reason_text(outcome),
        "lastScaleTime": before.get("lastScaleTime"),
        "targetMetric": {
            "name": metric.name,
            "type": metric.kind.value,
            "targets": amount_text(metric.target, metric),
        },
        "currentMetrics": [
            _current_metric(one, value)
            for one, value in zip(autoscaler.metrics, outcome.demands, strict=True)
        ],
    }
    if autoscaler.target is not None:
        found["targetRef"] = {
            "apiVersion": autoscaler.target.api_version,
            "kind": autoscaler.target.kind,
            "name": autoscaler.target.name,
        }
    found |= _season(outcome)
    found["conditions"] = to_objects(
        conditions_of(subject, outcome),
        before.get("conditions") or (),
        now_text=time_text(outcome.decided_at_seconds),
        generation=generation,
    )
    return {name: value for name, value in found.items() if value not in (None, "")}


def invalid_status(
    conditions: Sequence[Condition],
    before: Mapping[str, Any],
    *,
    now_seconds: float,
    generation: int,
) -> JsonObject:
    """Return the status of a resource that cannot be read: what was known stays, and says why."""
    kept = dict(before)
    kept["observedGeneration"] = generation
    kept["conditions"] = to_objects(
        conditions,
        before.get("conditions") or (),
        now_text=time_text(now_seconds),
        generation=generation,
    )
    return kept


def reason_text(outcome: Outcome) -> str:
    """Return the reason chain in one line."""
    parts = []
    for step in outcome.steps:
        replicas = "?" if isnan(step.replicas) else f"{step.replicas:.0f}"
        parts.append(f"{step.reason.value} {replicas} ({step.text})")
    return " -> ".join(parts)[:MAX_REASON]


def _coverage_of(demand: Demand) -> str:
    return f"{demand.pods_known}/{demand.pods_expected}" if demand.pods_expected else ""


def _season(outcome: Outcome) -> JsonObject:
    verdict = outcome.verdict
    if verdict is None:
        return {"periods": []}
    found: JsonObject = {"periods": list(verdict.periods_seconds)}
    if verdict.periods_seconds:
        found["periodicity"] = verdict.periods_seconds[0]
    if verdict.coverage_ratio is not None:
        found["coverage"] = f"{verdict.coverage_ratio:.2f}"
    return found


def _current_metric(metric: MetricTarget, demand: Demand) -> JsonObject:
    """Return one metric as autoscaling/v2 shows it; `current` stays empty where it is unknown."""
    current: JsonObject = {}
    if demand.value is not None:
        if metric.target_kind is TargetKind.UTILIZATION:
            current["averageUtilization"] = round(demand.value * 100)
        else:
            current["averageValue"] = quantity_text(rounded(demand.value))
    if metric.kind is MetricKind.RESOURCE:
        return {"type": "Resource", "resource": {"name": metric.name, "current": current}}
    field = metric.kind.value.lower()
    return {
        "type": metric.kind.value,
        field: {"metric": {"name": metric.name}, "current": current},
    }
