"""What the controller sees of a workload, and what one round made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gputide.forecast import DayBand, Verdict
from gputide.scaling import Autoscaler, BoundInForce, BoundsCondition, Step

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Key:
    """Name of one autoscaler resource."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One pod of the workload that counts (not being deleted, not finished)."""

    name: str
    is_ready: bool
    started_at_seconds: float | None = None
    """Unix time; None: not started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The workload behind an autoscaler, as the cluster last told."""

    replicas: int
    """What its spec asks for."""

    pods: tuple[Pod, ...] = ()
    requests: Mapping[str, float] = field(default_factory=dict)
    """What one pod asks for, in base units: `cpu` cores, `memory` bytes, `nvidia.com/gpu`, ..."""


class Obstacle(StrEnum):
    """Why an autoscaler is left alone; also the reason of its AbleToScale condition."""

    TARGET_MISSING = "TargetNotFound"
    TARGET_NOT_SCALABLE = "TargetNotScalable"
    HPA_ON_TARGET = "HorizontalPodAutoscalerOnTarget"
    SHARED_TARGET = "AnotherAutoscalerOnTarget"
    CACHE_NOT_READY = "ClusterStateUnknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One valid autoscaler with its workload, at the start of a round.

    With an obstacle it is still observed (demand, forecast), and never written.
    """

    key: Key
    uid: str
    autoscaler: Autoscaler
    target: Target | None
    obstacle: Obstacle | None = None
    obstacle_text: str = ""


class DemandState(StrEnum):
    """What the newest demand is worth; also the reason of the DemandKnown condition."""

    FRESH = "DemandKnown"
    PARTIAL = "PodsWithoutSample"
    STALE = "SampleTooOld"
    NOT_A_NUMBER = "SampleNotANumber"
    EMPTY = "QueryEmpty"
    SEVERAL = "SeveralSeries"
    SOURCE_DOWN = "SourceUnreachable"
    SOURCE_REFUSED = "SourceRefused"
    NOT_CONFIGURED = "SourceNotConfigured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The newest demand of one metric of one workload."""

    value: float | None
    """Sum over the pods: a ratio (1.89 is 189 %) for Utilization, else base units; None unknown."""

    state: DemandState
    text: str = ""
    """What is missing or failed, in words; for a person."""

    at_seconds: float | None = None
    """Unix time of the sample."""

    pods_known: int = 0
    pods_expected: int = 0
    unready_value: float = 0.0
    """What pods that are not ready use beside `value`: it keeps replicas, and asks for none.

    A pod that loads its model may be as busy as one that serves: were that demand, each new pod
    would ask for more new pods.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one round found out and decided for one autoscaler."""

    key: Key
    decided_at_seconds: float
    demands: tuple[Demand, ...]
    """One a metric, in the resource's order; the first is the one that is forecast."""

    forecast_demand: float | None
    """Upper value of the maximum over [now, now + lead], in the first demand's unit."""

    proactive_replicas: int | None
    reactive_replicas: int | None
    current_replicas: int | None
    published_replicas: int | None
    """What the resource shows as desired: an observer's is the bare recommendation."""

    desired_replicas: int | None
    """What to run, within bounds and behavior."""

    is_write: bool
    """Whether the workload has to be scaled to `desired_replicas` now."""

    bound: BoundInForce
    bounds_conditions: tuple[BoundsCondition, ...]
    verdict: Verdict | None
    """None until the history was read."""

    history_text: str = ""
    """What keeps the forecast from being made, in words; empty where it is made."""

    steps: tuple[Step, ...] = ()
    """The reason chain."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """Everything that the observer's page shows of one workload; demand in the metric's unit.

    `past_*` are `[T]` on the history's grid, NaN where unknown; `predicted` is what was (or would
    have been) forecast for that time before it came. The band starts where the past ends.
    """

    key: Key
    issued_at_seconds: float
    unit: str
    quantile: float
    step_seconds: int
    past_unix_seconds: FloatArray
    past_demand: FloatArray
    past_predicted: FloatArray
    past_pods: FloatArray
    past_predicted_pods: FloatArray
    band: DayBand | None
    band_pods: FloatArray
    """`[H]` pods that the band's upper value asks for, before bounds."""
