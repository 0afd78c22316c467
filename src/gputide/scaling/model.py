"""What a decision is made from and what it says: situation, reasons, decisions."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gputide.scaling.hpa import PodUsage
from gputide.scaling.policies import BoolArray, FloatArray, IntArray, Policies


class Reason(StrEnum):
    """Why replicas came out as they did; also the condition reason on the resource."""

    DEMAND = "Demand"
    DEMAND_UNKNOWN = "DemandUnknown"
    DEMAND_PARTIAL = "DemandPartial"
    FORECAST = "Forecast"
    FORECAST_CAPPED = "ForecastCapped"
    NO_FORECAST = "NoForecast"
    WITHIN_TOLERANCE = "WithinTolerance"
    HELD_UNKNOWN = "HeldWhileUnknown"
    HELD_GRACE = "HeldAfterUnknown"
    HELD_FORECAST_ALONE = "HeldOnForecastAlone"
    STABILIZED_DOWN = "ScaleDownStabilized"
    STABILIZED_UP = "ScaleUpStabilized"
    DEAD_BAND = "WithinDeadBand"
    LIMITED_UP = "ScaleUpLimit"
    LIMITED_DOWN = "ScaleDownLimit"
    AT_MINIMUM = "TooFewReplicas"
    AT_MAXIMUM = "TooManyReplicas"
    PAUSED = "ScalingDisabled"
    OBSERVED = "ObservedOnly"


REASONS = tuple(Reason)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Situation:
    """What is known about N rows at one moment; every array is `[N]`.

    Replica counts are whole numbers held in float64. A row goes by `demand` where that is known,
    else by `pods`; demand, usage, forecast and targets share one unit. Negative and infinite values
    are unknown, as NaN is.
    """

    now_seconds: float
    """Unix time, or any clock that never goes back."""

    current: FloatArray
    """Replicas that the workload's spec asks for."""

    min_replicas: FloatArray
    max_replicas: FloatArray
    """The bound in force now."""

    is_fresh: BoolArray
    """The newest sample is recent enough to act on; where not, demand is unknown."""

    is_complete: BoolArray
    """The sample covers every pod and site; else it is a lower bound: no scale-in on it."""

    forecast_upper: FloatArray
    """Upper value of the demand over the lead; NaN: there is no forecast."""

    recent_peak: FloatArray | None = None
    """Largest demand of the last days, for the forecast's cap; NaN or None: no cap."""

    demand: FloatArray | None = None
    """Total demand (arrivals and backlog) by a demand metric; NaN: unknown, or none is set."""

    pods: PodUsage | None = None
    """What the pods report; None where every row has a demand metric. A row that has one leaves its
    usage NaN here, so that a metric that fails is unknown."""

    other_needs: FloatArray | None = None
    """Largest need of the workload's further metrics (`hpa.largest_need`); NaN: none is known, 0:
    there are none. Where only some are known, `is_complete` is False."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One link of a reason chain: after it, `replicas` were asked for."""

    reason: Reason
    replicas: float
    """A whole number; NaN where the step knows none."""

    text: str
    """The numbers behind it, in words."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """What to run for N rows, and every stage on the way there; arrays `[N]`.

    `explain` puts one row into words; nothing is worded before somebody asks.
    """

    policies: Policies
    situation: Situation
    proactive_need: FloatArray
    """Forecast / target, not rounded; NaN: no forecast."""

    reactive_need: FloatArray
    """Demand / target, or the count of the HPA rule; NaN: demand unknown."""

    may_scale_in: BoolArray
    """Demand is fresh and complete, and was so for the grace period."""

    is_known: BoolArray
    """Demand is fresh and complete now."""

    recommended: FloatArray
    """Replicas by forecast and demand as the strategy asks, before all else; NaN: nothing known."""

    wanted: FloatArray
    """... with scale-in held where demand is not certain."""

    stabilized: FloatArray
    settled: FloatArray
    """... with scale-in held in the dead band."""

    limited: FloatArray
    desired: FloatArray
    """What to run (`observer`: what `auto` would run): within the bounds, or 0 when paused."""

    is_paused: BoolArray
    """0 replicas though the minimum is above 0: somebody switched the workload off."""

    is_write: BoolArray
    """`desired` differs from current, and the strategy may write."""

    @property
    def reasons(self) -> IntArray:
        """`[N]` the reason that decided each row, as an index into `REASONS`."""
        from gputide.scaling.explain import deciding

        return deciding(self)

    @property
    def published(self) -> FloatArray:
        """`[N]` what the resource shows as desired; an observer's is the recommendation itself."""
        known = np.where(np.isnan(self.recommended), self.situation.current, self.recommended)
        return np.where(self.policies.is_writer, self.desired, known)

    def explain(self, row: int) -> tuple[Step, ...]:
        """Return the reason chain of one row, from demand and forecast to what is run."""
        from gputide.scaling.explain import explain

        return explain(self, row)
