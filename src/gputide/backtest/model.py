"""What a backtest replays and what it finds: trace, workload, outcome, report."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """The recorded load of one workload on a regular grid of minutes.

    `demand[T]` is the sum over the workload's pods in units of `unit` (fully busy GPUs, requests in
    flight, ...): at least 0, NaN where unknown. A value holds for its whole step.
    """

    name: str
    demand: FloatArray
    start_utc: datetime
    time_zone: str
    """IANA name of the zone whose days and weeks the load follows."""

    unit: str = ""
    step_seconds: int = 60
    recorded_step_seconds: int = 60
    """The cadence of the source; coarser sources are held for their step."""

    replicas: FloatArray | None = None
    """[T] pods that really ran, where the source tells; for the pod chart."""

    is_censored: NDArray[np.bool_] | None = None
    """[T] the value is only a lower bound (a saturated GPU), where the source tells."""

    min_replicas: FloatArray | None = None
    """[T] fewest pods that a window of its resource allowed; NaN outside every window."""

    max_replicas: FloatArray | None = None
    """[T] most pods, likewise."""

    warnings: tuple[str, ...] = ()
    """What its reader had to assume or mend; sentences for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """How the replayed workload's pods behave and what is asked of it."""

    capacity_per_pod: float
    """Demand that one pod serves when fully busy, in the trace's unit."""

    start_delay_seconds: float = 180
    min_replicas: int = 1
    max_replicas: int = 1_000_000
    initial_queue_limit_seconds: float = 10
    """Demand that waits longer than this counts as not served in time."""


class PolicyName(StrEnum):
    """The contestants, in the order of the table."""

    FIXED = "fixed"
    HPA = "hpa"
    HPA_TUNED = "hpa-tuned"
    HPA_STABILIZED = "hpa-stabilized"
    CRANE = "crane"
    LAST_DAY = "last-day"
    LAST_WEEK = "last-week"
    GPUTIDE_ONE_TARGET = "gputide-one-target"
    GPUTIDE = "gputide"
    GPUTIDE_TUNED = "gputide-tuned"
    ORACLE = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one policy with one set of knobs would have cost, and where it would have hurt.

    Measured over the evaluated span alone, `evaluated_seconds` of known demand.
    """

    policy: PolicyName
    knobs: dict[str, float]
    """Settings by name (target_ratio, quantile, ...); of a walk-forward run the latest."""

    is_walk_forward: bool
    """Whether the knobs came from a replay of earlier days only; else they are fixed."""

    replica_hours: float
    saturated_ratio: float
    """Share of the minutes with any moment of demand above the ready capacity."""

    late_ratio: float
    """Share of the demand that was not served within the workload's limit."""

    lost_ratio: float
    """Share of the demand above the capacity of its moment (were there no queue)."""

    changes_per_day: float
    pods_started_per_day: float
    evaluated_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """Series for the charts, one value a minute of the evaluated span: `[M]`; NaN: unknown."""

    start_utc: datetime
    step_seconds: int
    demand: FloatArray
    forecast_upper: FloatArray
    """The upper quantile of the demand, as it was issued one lead before."""

    replicas: dict[PolicyName, FloatArray]
    """Pods of each policy; `PolicyName.HPA` stands for actual where the source has no replicas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Whether to switch to auto, with which settings, and why; sentences for people."""

    is_switch: bool
    headline: str
    reasons: tuple[str, ...]
    knobs: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceReport:
    """All that a backtest found for one trace."""

    trace: Trace
    workload: Workload
    outcomes: tuple[Outcome, ...]
    """The headline rows, one a policy, in the order of `PolicyName`."""

    curves: dict[PolicyName, tuple[Outcome, ...]]
    """Each policy's knobs swept: the curve of replica-hours against harm, cheapest last."""

    timeline: Timeline
    coverage_ratio: float | None
    """Share of minutes whose demand lay at or below the forecast that was issued for them."""

    quantile: float
    recommendation: Recommendation
    harm_budget_ratio: float = 0.001
    """What saturated minutes and late demand may each come to; rows above it are marked."""

    warnings: tuple[str, ...] = ()
