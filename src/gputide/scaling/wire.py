"""The AdvancedHorizontalPodAutoscaler object as others write it; the CRD's schema is made from it.

Structs mirror the resource field by field and know nothing else; `resource` translates them.
"""

from typing import Any

import msgspec

API_VERSION = "autoscaling.alibabacloud.com/v1beta1"


class Strict(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A struct in camelCase that refuses fields it does not know."""


class ScaleTargetRef(Strict, frozen=True, kw_only=True):
    """What is scaled: anything with a scale subresource."""

    api_version: str = "apps/v1"
    kind: str
    name: str


class Target(Strict, frozen=True, kw_only=True):
    """What one pod should serve; quantities as Kubernetes writes them."""

    type: str
    average_utilization: float | None = None
    """Percent of what the pod may use, for Utilization."""

    average_value: float | str | None = None
    value: float | str | None = None


class ResourceMetric(Strict, frozen=True, kw_only=True):
    """A resource of the pods: gpu, cpu, memory, rps, rt, concurrency."""

    name: str
    target: Target


class LabelExpression(Strict, frozen=True, kw_only=True):
    """One requirement of a label selector."""

    key: str
    operator: str
    values: list[str] = []


class LabelSelector(Strict, frozen=True, kw_only=True):
    """Which series of a metric count."""

    match_labels: dict[str, str] = {}
    match_expressions: list[LabelExpression] = []


class MetricIdentifier(Strict, frozen=True, kw_only=True):
    """A metric by name and labels."""

    name: str
    selector: LabelSelector | None = None


class NamedMetric(Strict, frozen=True, kw_only=True):
    """A metric of the External or the custom (Pods) metrics API."""

    metric: MetricIdentifier
    target: Target


class Metric(Strict, frozen=True, kw_only=True):
    """One metric; the field named by `type` holds it."""

    type: str
    resource: ResourceMetric | None = None
    external: NamedMetric | None = None
    pods: NamedMetric | None = None


class Prediction(Strict, frozen=True, kw_only=True):
    """How far ahead, and how surely."""

    quantile: float = 95
    """Percent, or a fraction below 1."""

    scale_up_forward: float = 180
    """Seconds that a pod needs until it is ready."""


class CronBound(Strict, frozen=True, kw_only=True):
    """Replicas for the minutes that a cron expression matches."""

    cron: str
    min_replicas: int
    max_replicas: int


class InstanceBound(Strict, frozen=True, kw_only=True):
    """Bounds that count within a window of time."""

    start_time: Any = None
    """Text; YAML makes a date of what is not quoted, which is taken too."""

    end_time: Any = None
    bounds: list[CronBound]


class RatePolicy(Strict, frozen=True, kw_only=True):
    """As in autoscaling/v2: at most so many pods, or percent, in a period."""

    type: str
    value: float
    period_seconds: float


class ScalingRules(Strict, frozen=True, kw_only=True):
    """As in autoscaling/v2, one direction; what is not set is Kubernetes' default."""

    stabilization_window_seconds: float | None = None
    select_policy: str | None = None
    policies: list[RatePolicy] | None = None
    tolerance: float | str | None = None


class Behavior(Strict, frozen=True, kw_only=True):
    """As in autoscaling/v2 (ours)."""

    scale_up: ScalingRules = ScalingRules()
    scale_down: ScalingRules = ScalingRules()


class Spec(Strict, frozen=True, kw_only=True):
    """What is asked for; the fields from `time_zone` on are ours, and optional."""

    scale_target_ref: ScaleTargetRef | None = None
    metrics: list[Metric]
    min_replicas: int = 1
    max_replicas: int
    stabilization_window_seconds: float | None = None
    prediction: Prediction = Prediction()
    scale_strategy: str = "observer"
    instance_bounds: list[InstanceBound] = []

    time_zone: str | None = None
    reactive_target: float | str | None = None
    behavior: Behavior = Behavior()
    scale_in_dead_band_percent: float | None = None
    forecast_cap_percent: float | None = None
    scale_in_on_forecast_alone: bool = True
    recovery_grace_seconds: float = 120


class Metadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What we read of the object's metadata; a server adds many more fields."""

    name: str
    namespace: str = "default"


class Resource(Strict, frozen=True, kw_only=True):
    """The whole object, as a file or the API server holds it."""

    api_version: str
    kind: str
    metadata: Metadata
    spec: Spec
    status: Any = None
