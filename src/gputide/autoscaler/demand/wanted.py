"""Which source each metric of an autoscaler is read from. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from gputide.autoscaler.demand.assess import Wanted
from gputide.autoscaler.demand.catalog import QUERIES, PodQuery, Shape
from gputide.autoscaler.demand.model import ApiSource, PodsSource, SeriesSource, Source
from gputide.errors import SettingError
from gputide.prometheus.catalog import fill, parse_metric
from gputide.prometheus.workload import Workload
from gputide.scaling import Autoscaler, MetricKind, MetricTarget, TargetKind


def workload_of(autoscaler: Autoscaler) -> Workload | None:
    """Return the workload whose pods' names we know how to read; None for other kinds."""
    target = autoscaler.target
    if target is None:
        return None
    try:
        return Workload(namespace=autoscaler.namespace, name=target.name, kind=target.kind)
    except SettingError:
        return None


def wanted_of(
    autoscaler: Autoscaler, queries: Mapping[str, str], *, window_seconds: int
) -> tuple[Wanted, ...]:
    """Return one source a metric; SettingError names the metric that nobody can read.

    `queries` are a person's own PromQL by metric name: with the labels namespace and pod for
    Resource metrics; with $namespace, $workload, $pods and $window for External and Pods metrics.
    """
    return tuple(
        Wanted(
            source=_source(autoscaler, metric, queries, index, window_seconds),
            namespace=autoscaler.namespace,
            is_share=metric.target_kind is TargetKind.UTILIZATION,
        )
        for index, metric in enumerate(autoscaler.metrics)
    )


def _source(
    autoscaler: Autoscaler,
    metric: MetricTarget,
    queries: Mapping[str, str],
    index: int,
    window_seconds: int,
) -> Source:
    own = queries.get(metric.name)
    if metric.kind is MetricKind.RESOURCE:
        return _resource(metric, own, f"spec.metrics[{index}].resource.name")
    if own is not None:
        workload = workload_of(autoscaler)
        if workload is None:
            kind = autoscaler.target.kind if autoscaler.target else "no target"
            raise SettingError(f"spec.metrics[{index}]", f"a query cannot name pods of {kind}")
        expression = fill(own, workload, window_seconds=window_seconds)
        return SeriesSource(name=metric.name, expression=expression)
    return ApiSource(
        name=metric.name,
        namespace=autoscaler.namespace,
        label_selector=selector_text(metric),
        is_external=metric.kind is MetricKind.EXTERNAL,
    )


def _resource(metric: MetricTarget, own: str | None, setting: str) -> PodsSource:
    is_share = metric.target_kind is TargetKind.UTILIZATION
    shape = Shape.SHARE if is_share else Shape.AMOUNT
    if own is not None:
        base = _known(metric.name, shape)
        query = PodQuery(expression=own, unit="") if base is None else replace(base, expression=own)
        return PodsSource(name=metric.name, query=query)
    row = QUERIES.get((parse_metric(metric.name, setting=setting), shape))
    if row is None:
        kinds = " and ".join(
            "Utilization" if one is Shape.SHARE else "AverageValue"
            for one in Shape
            if (parse_metric(metric.name), one) in QUERIES
        )
        problem = f"{metric.name} is measured by {kinds} alone, unless a query is set for it"
        raise SettingError(setting, problem)
    return PodsSource(name=metric.name, query=row)


def _known(name: str, shape: Shape) -> PodQuery | None:
    try:
        return QUERIES.get((parse_metric(name), shape))
    except SettingError:
        return None


def selector_text(metric: MetricTarget) -> str:
    """Return a metric's labels as a label selector."""
    parts = [f"{name}={value}" for name, value in sorted(metric.labels.items())]
    for one in metric.expressions:
        values = ",".join(one.values)
        parts.append(
            {
                "In": f"{one.key} in ({values})",
                "NotIn": f"{one.key} notin ({values})",
                "Exists": one.key,
                "DoesNotExist": f"!{one.key}",
            }[one.operator]
        )
    return ",".join(parts)
