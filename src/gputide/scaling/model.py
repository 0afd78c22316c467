"""What a decision is made from and what it says: situation, decisions, steps with reasons."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gputide.scaling.policy import Policies

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Reason(StrEnum):
    """Why replicas came out as they did; also the condition reason on the resource."""

    PAUSED = "ScalingPaused"
    DEMAND_UNKNOWN = "DemandUnknown"
    DEMAND = "Demand"
    WITHIN_TOLERANCE = "WithinTolerance"
    NO_FORECAST = "NoForecast"
    FORECAST = "Forecast"
    FORECAST_CAPPED = "ForecastCapped"
    NO_SCALE_IN_ON_UNKNOWN = "NoScaleInOnUnknown"
    RECOVERY_GRACE = "RecoveryGrace"
    NO_SCALE_IN_ON_FORECAST = "NoScaleInOnForecast"
    DEAD_BAND = "DeadBand"
    STABILIZED = "ScaleDownStabilized"
    STABILIZED_UP = "ScaleUpStabilized"
    RATE_LIMITED = "ScaleDownLimit"
    RATE_LIMITED_UP = "ScaleUpLimit"
    AT_MINIMUM = "TooFewReplicas"
    AT_MAXIMUM = "TooManyReplicas"
    OBSERVED_ONLY = "ObservedOnly"
    STEADY = "Steady"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodUsage:
    """What the pods of N rows report; every array is `[N]`."""

    usage: FloatArray
    """Sum over the ready pods with a sample, one fully busy pod being 1; NaN: unknown."""

    ready: FloatArray
    """Ready pods with a sample."""

    unready: FloatArray
    """Pods that are pending or not ready."""

    missing: FloatArray
    """Running pods without a sample."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Situation:
    """What is known about N rows at one moment; every array is `[N]`.

    Replica counts are whole numbers held in float64.
    """

    now_seconds: float
    """Unix time, or any clock that never goes back."""

    current: FloatArray
    """Replicas that the workload's spec asks for."""

    min_replicas: FloatArray
    max_replicas: FloatArray
    """The bound in force now (see `bounds`)."""

    is_fresh: BoolArray
    """The newest sample of the demand is recent enough to act on; where not, demand is unknown."""

    is_complete: BoolArray
    """The sample covers every pod (or site); where not, it is a lower bound and never scales in."""

    forecast_upper: FloatArray
    """Upper value of the demand over the lead; NaN: there is no forecast."""

    demand: FloatArray | None = None
    """Total demand (arrivals and backlog) by a demand metric; NaN or None: the row goes by `pods`."""

    pods: PodUsage | None = None
    """What the pods report; None where every row has a demand metric."""

    recent_peak: FloatArray | None = None
    """Largest demand of the last days, for the forecast's cap; NaN or None: no cap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One link of a reason chain: after it, `replicas` were wanted."""

    reason: Reason
    replicas: float
    """NaN where the step found nothing to say."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """What to run for N rows and how it came about; arrays `[N]` of whole numbers in float64.

    The stages are kept as they were computed; words are made for one row, on demand.
    """

    policies: Policies
    situation: Situation
    proactive_need: FloatArray
    """Forecast / target, not rounded; NaN: no forecast."""

    reactive_need: FloatArray
    """Demand / target, not rounded, or the HPA rule's count; NaN: demand unknown."""

    recommended: FloatArray
    """Larger of proactive and reactive (as the strategy asks), before every rule; NaN: nothing known."""

    wanted: FloatArray
    """After holding back scale-in (unknown demand, grace, dead band)."""

    stabilized: FloatArray
    limited: FloatArray
    desired: FloatArray
    """What to run (observer: what auto would run): always within the bounds, unless paused."""

    is_write: BoolArray
    """Whether `desired` is to be written: it differs from current, and the strategy may write."""

    @property
    def published(self) -> FloatArray:
        """What the resource shows as desired: in observer mode what load asks for, not clamped."""
        known = np.where(np.isnan(self.recommended), self.situation.current, self.recommended)
        return np.where(self.policies.is_observer, known, self.desired)
