"""How one workload may be scaled: its knobs, and Kubernetes' defaults for them."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite

from gputide.errors import SettingError

MAX_PERIOD_SECONDS = 1800
MAX_STABILIZATION_SECONDS = 3600
HPA_TOLERANCE_RATIO = 0.1


class Strategy(StrEnum):
    """Who decides, and whether anything is written."""

    OBSERVER = "observer"
    """Computes and publishes what `auto` would do; never writes."""

    AUTO = "auto"
    """The larger of proactive and reactive."""

    PROACTIVE = "proactive"
    """The forecast alone."""

    REACTIVE = "reactive"
    """The Kubernetes HPA rule alone."""


class Select(StrEnum):
    """Which of several limits holds: the most permissive, the strictest, or no move at all."""

    MAX = "Max"
    MIN = "Min"
    DISABLED = "Disabled"


class LimitKind(StrEnum):
    """What a limit counts."""

    PODS = "Pods"
    PERCENT = "Percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `value` pods (or percent of the replicas at the period's start) within a period."""

    kind: LimitKind
    value: float
    period_seconds: float

    def __post_init__(self) -> None:
        if not (self.value > 0 and isfinite(self.value)):
            raise SettingError("value", f"must be above 0, is {self.value:g}")
        if not 0 < self.period_seconds <= MAX_PERIOD_SECONDS:
            raise SettingError(
                "period-seconds", f"must be above 0 and at most {MAX_PERIOD_SECONDS}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """How fast replicas may move one way."""

    stabilization_seconds: float = 0
    """Up: the least recommendation of this window counts; down: the largest."""

    limits: tuple[Limit, ...] = ()
    """No limit at all where empty."""

    select: Select = Select.MAX

    def __post_init__(self) -> None:
        if not 0 <= self.stabilization_seconds <= MAX_STABILIZATION_SECONDS:
            problem = f"must be at least 0 and at most {MAX_STABILIZATION_SECONDS}"
            raise SettingError("stabilization-window-seconds", problem)


HPA_UP = Direction(
    limits=(
        Limit(kind=LimitKind.PODS, value=4, period_seconds=15),
        Limit(kind=LimitKind.PERCENT, value=100, period_seconds=15),
    )
)
"""Kubernetes' default: at once, doubling or 4 pods each 15 s, whichever is more."""

HPA_DOWN = Direction(
    stabilization_seconds=300,
    limits=(Limit(kind=LimitKind.PERCENT, value=100, period_seconds=15),),
)
"""Kubernetes' default: down to the largest recommendation of the last 300 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How one workload may be scaled.

    Targets are the demand that one pod should serve, in the unit of the demand: a ratio in (0, 1]
    where demand is counted in fully busy pods, requests per second where it is counted in those.
    """

    strategy: Strategy = Strategy.OBSERVER
    proactive_target: float
    reactive_target: float
    """The proactive target again for safety, or just under capacity (0.9) as a net, for savings."""

    is_utilization: bool = True
    """Whether pods report a share of their capacity: one without a sample then counts as busy."""

    tolerance_up_ratio: float = 0.0
    tolerance_down_ratio: float = 0.0
    """Usage within this ratio of the target changes nothing. Kubernetes: 0.1 both ways."""

    up: Direction = HPA_UP
    down: Direction = HPA_DOWN
    dead_band_ratio: float = 0.0
    """Scale in only where the need is below (1 - this) times the current replicas."""

    forecast_cap_ratio: float = inf
    """A forecast counts up to this multiple of the recent peak of demand."""

    recovery_grace_seconds: float = 120
    """No scale-in for so long after the demand was last unknown."""

    is_forecast_scale_in: bool = True
    """Whether the forecast alone may take replicas away (strategy `proactive` only)."""

    def __post_init__(self) -> None:
        for name in ("proactive_target", "reactive_target", "forecast_cap_ratio"):
            if not getattr(self, name) > 0:
                raise SettingError(name.replace("_", "-"), "must be above 0")
        for name in ("tolerance_up_ratio", "tolerance_down_ratio", "dead_band_ratio"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingError(name.replace("_", "-"), "must be at least 0 and below 1")
        if not 0 <= self.recovery_grace_seconds < inf:
            raise SettingError("recovery-grace-seconds", "must be at least 0 and finite")
