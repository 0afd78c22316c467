"""What to ask Prometheus for the workload of an AHPA resource."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gputide.errors import SettingError
from gputide.prometheus.catalog import (
    DEMAND,
    Metric,
    capacity_query,
    demand_query,
    fill,
    parse_metric,
    ready_query,
)
from gputide.prometheus.model import quote
from gputide.prometheus.workload import Workload
from gputide.scaling import Autoscaler, MetricKind, MetricTarget, TargetKind
from gputide.scaling.wire import LabelExpression

METRIC_FIELD = "spec.metrics[0]"
ONE_DEVICE = frozenset({Metric.GPU, Metric.GPU_ENGINE})
"""Metrics of which a pod has one, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """PromQL for one workload, and how to read its answers."""

    demand: str
    unit: str
    target: float
    """A ratio, or a value a pod."""

    is_ratio: bool
    """Whether the target is a share of what a pod may use."""

    is_utilization: bool = False
    """Whether the demand is read off the devices: then it cannot exceed what the pods have."""

    ready: str | None = None
    """Number of ready pods."""

    capacity: str | None = None
    """What one pod may use, in the unit of the demand."""

    assumed_capacity: float | None = None
    """... where Prometheus does not know it; None: do not guess."""

    warnings: tuple[str, ...] = ()


def question_of(autoscaler: Autoscaler, *, query: str | None) -> Question:
    """Return the question; `query` is a person's own PromQL for the demand.

    Raises SettingError for a metric that is no demand, or a workload that nobody names.
    """
    first = autoscaler.metrics[0]
    if first.kind is MetricKind.RESOURCE:
        return _of_resource(autoscaler, first, query)
    workload = _workload(autoscaler) if first.kind is MetricKind.PODS or query else None
    demand, warnings = query, tuple[str, ...]()
    if demand is None:
        demand = f"sum({_selector(first, has_pods=first.kind is MetricKind.PODS)})"
        warnings = (f"{first.kind.value} metric {first.name} is read as {demand}",)
    return Question(
        demand=demand if workload is None else fill(demand, workload),
        unit=first.name,
        target=first.target,
        is_ratio=False,
        warnings=warnings,
    )


def _of_resource(autoscaler: Autoscaler, metric: MetricTarget, query: str | None) -> Question:
    kind = parse_metric(metric.name, setting=f"{METRIC_FIELD}.resource.name")
    row, workload = DEMAND[kind], _workload(autoscaler)
    if query is None and not row.is_additive:
        problem = f"{metric.name} is no load that pods share: say with --query what is"
        raise SettingError(f"{METRIC_FIELD}.resource.name", problem)
    return Question(
        demand=demand_query(kind, workload, template=query),
        unit=row.unit,
        target=metric.target,
        is_ratio=metric.target_kind is TargetKind.UTILIZATION,
        is_utilization=query is None and kind in ONE_DEVICE,
        ready=ready_query(kind, workload),
        capacity=capacity_query(kind, workload),
        assumed_capacity=1.0 if kind in ONE_DEVICE else None,
    )


def _workload(autoscaler: Autoscaler) -> Workload:
    if autoscaler.target is None:
        raise SettingError("spec.scaleTargetRef", "is missing: nothing names the pods")
    target = autoscaler.target
    return Workload(namespace=autoscaler.namespace, name=target.name, kind=target.kind)


def _selector(metric: MetricTarget, *, has_pods: bool) -> str:
    if not re.fullmatch(r"[A-Za-z_:][A-Za-z0-9_:]*", metric.name):
        field = f"{METRIC_FIELD}.{metric.kind.value.lower()}.metric.name"
        raise SettingError(field, f"{metric.name!r} is no name of a metric: say it with --query")
    pods = ('namespace="$namespace"', 'pod=~"$pods"') if has_pods else ()
    labels = (f"{name}={quote(value)}" for name, value in metric.labels.items())
    return f"{metric.name}{{{', '.join((*pods, *labels, *_matchers(metric.expressions)))}}}"


def _matchers(expressions: tuple[LabelExpression, ...]) -> Iterator[str]:
    """Yield a label selector's requirements as PromQL has them."""
    for number, one in enumerate(expressions):
        among = quote("|".join(map(re.escape, one.values)))
        matchers = {
            "In": f"=~{among}",
            "NotIn": f"!~{among}",
            "Exists": '!=""',
            "DoesNotExist": '=""',
        }
        if one.operator not in matchers:
            field = f"{METRIC_FIELD}.external.metric.selector.matchExpressions[{number}].operator"
            raise SettingError(field, f"{one.operator!r} is none of {', '.join(matchers)}")
        yield f"{one.key}{matchers[one.operator]}"
