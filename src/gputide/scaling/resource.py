"""An AdvancedHorizontalPodAutoscaler object translated into what we decide with."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from gputide.errors import SettingError
from gputide.quantile import parse_quantile
from gputide.scaling import wire
from gputide.scaling.bounds import SPEC_PATH, Bounds
from gputide.scaling.fields import (
    TARGETS_OF,
    MetricKind,
    TargetKind,
    amount,
    choice,
    named,
    within,
)
from gputide.scaling.knobs import bounds_of, policy_of
from gputide.scaling.policy import Policy

KIND = "AdvancedHorizontalPodAutoscaler"
TEMPLATE_KIND = "AdvancedHorizontalPodAutoscalerTemplate"
"""Knative's form: the Knative Service refers to it, so it names no target."""

MAX_LEAD_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRef:
    """The object that is scaled."""

    api_version: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTarget:
    """One metric and what a pod should serve of it: a ratio for Utilization, else a quantity."""

    kind: MetricKind
    name: str
    target_kind: TargetKind
    target: float
    labels: Mapping[str, str]
    expressions: tuple[wire.LabelExpression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaler:
    """One resource, ready to decide with."""

    name: str
    namespace: str
    target: TargetRef | None
    """None for Knative's template."""

    metrics: tuple[MetricTarget, ...]
    """The first is the one that is forecast."""

    policy: Policy
    bounds: Bounds
    quantile: float
    lead_seconds: float
    """How long before the demand its pods must be asked for."""


def read_autoscaler(source: object, *, default_time_zone: str = "UTC") -> Autoscaler:
    """Return what a parsed YAML or JSON object asks for, or name the field that is wrong."""
    try:
        found = msgspec.convert(source, wire.Resource)
    except msgspec.ValidationError as error:
        raise named(str(error)) from error
    if found.api_version != wire.API_VERSION:
        raise SettingError("apiVersion", f"{found.api_version!r} is not {wire.API_VERSION}")
    if found.kind not in (KIND, TEMPLATE_KIND):
        raise SettingError("kind", f"{found.kind!r} is neither {KIND} nor {TEMPLATE_KIND}")
    spec = found.spec
    metrics = tuple(_metric(metric, index) for index, metric in enumerate(spec.metrics))
    if not metrics:
        raise SettingError(f"{SPEC_PATH}.metrics", "needs at least one metric")
    return Autoscaler(
        name=found.metadata.name,
        namespace=found.metadata.namespace,
        target=_target_ref(found),
        metrics=metrics,
        policy=policy_of(spec, target=metrics[0].target, target_kind=metrics[0].target_kind),
        bounds=bounds_of(spec, default_time_zone=default_time_zone),
        quantile=parse_quantile(
            spec.prediction.quantile, setting=f"{SPEC_PATH}.prediction.quantile"
        ),
        lead_seconds=within(
            spec.prediction.scale_up_forward,
            f"{SPEC_PATH}.prediction.scaleUpForward",
            most=MAX_LEAD_SECONDS,
        ),
    )


def _target_ref(found: wire.Resource) -> TargetRef | None:
    ref = found.spec.scale_target_ref
    if ref is None:
        if found.kind == KIND:
            raise SettingError(f"{SPEC_PATH}.scaleTargetRef", "is missing")
        return None
    return TargetRef(api_version=ref.api_version, kind=ref.kind, name=ref.name)


def _metric(metric: wire.Metric, index: int) -> MetricTarget:
    path = f"{SPEC_PATH}.metrics[{index}]"
    kind = choice(MetricKind, metric.type, f"{path}.type")
    field = kind.value.lower()
    for other in MetricKind:
        if (getattr(metric, other.value.lower()) is not None) != (other is kind):
            problem = "is missing" if other is kind else f"does not go with type {kind.value}"
            raise SettingError(f"{path}.{other.value.lower()}", problem)
    source: wire.ResourceMetric | wire.NamedMetric = getattr(metric, field)
    path = f"{path}.{field}.target"
    target_kind = choice(TargetKind, source.target.type, f"{path}.type", TARGETS_OF[kind])
    if target_kind is TargetKind.VALUE and index == 0:
        problem = "the first metric is forecast, so it must add up over the pods: use AverageValue"
        raise SettingError(f"{path}.type", problem)
    selector = None if isinstance(source, wire.ResourceMetric) else source.metric.selector
    return MetricTarget(
        kind=kind,
        name=source.name if isinstance(source, wire.ResourceMetric) else source.metric.name,
        target_kind=target_kind,
        target=_target(source.target, target_kind, path),
        labels={} if selector is None else selector.match_labels,
        expressions=() if selector is None else tuple(selector.match_expressions),
    )


def _target(target: wire.Target, kind: TargetKind, path: str) -> float:
    """Return the one target that the kind names; another one beside it is a mistake."""
    given = {
        TargetKind.UTILIZATION: ("averageUtilization", target.average_utilization),
        TargetKind.AVERAGE_VALUE: ("averageValue", target.average_value),
        TargetKind.VALUE: ("value", target.value),
    }
    for other, (name, value) in given.items():
        if (value is not None) != (other is kind):
            problem = "is missing" if other is kind else f"does not go with type {kind.value}"
            raise SettingError(f"{path}.{name}", problem)
    name, value = given[kind]
    return amount(value, kind, f"{path}.{name}")
