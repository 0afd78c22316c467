"""The knobs of scaling: `Policy` for one workload, `Policies` as arrays for many rows at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

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
    """Equal to the proactive target for safety; just under capacity (0.9) as a net only, for savings."""

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Directions:
    """One direction of N rows: windows `[N]`, limits `[P, N]` (P: most limits of any row).

    An unused slot has `value` NaN.
    """

    stabilization_seconds: FloatArray
    added_pods: FloatArray
    added_ratio: FloatArray
    period_seconds: FloatArray
    is_strictest: BoolArray
    """[N]: `selectPolicy: Min`."""

    is_disabled: BoolArray
    is_limited: BoolArray
    """[N]: has at least one limit."""

    @classmethod
    def from_rows(cls, rows: Sequence[Direction]) -> Self:
        """Return the arrays of N directions."""
        slots = max((len(row.limits) for row in rows), default=0)

        def table(read: Callable[[Limit], float]) -> FloatArray:
            out = np.full((slots, len(rows)), np.nan)
            for column, row in enumerate(rows):
                for slot, limit in enumerate(row.limits):
                    out[slot, column] = read(limit)
            return out

        return cls(
            stabilization_seconds=_floats(row.stabilization_seconds for row in rows),
            added_pods=table(lambda limit: limit.value if limit.kind is LimitKind.PODS else 0.0),
            added_ratio=table(
                lambda limit: limit.value / 100 if limit.kind is LimitKind.PERCENT else 0.0
            ),
            period_seconds=table(lambda limit: limit.period_seconds),
            is_strictest=np.array([row.select is Select.MIN for row in rows], bool),
            is_disabled=np.array([row.select is Select.DISABLED for row in rows], bool),
            is_limited=np.array([bool(row.limits) for row in rows], bool),
        )


def _floats(values: object) -> FloatArray:
    return np.fromiter(values, np.float64)  # type: ignore[call-overload]  # any iterable of floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policies:
    """The knobs of N rows as arrays `[N]`; a row is a workload, or one setting of a replay."""

    strategies: tuple[Strategy, ...]
    uses_proactive: BoolArray
    uses_reactive: BoolArray
    is_observer: BoolArray
    proactive_target: FloatArray
    reactive_target: FloatArray
    tolerance_up_ratio: FloatArray
    tolerance_down_ratio: FloatArray
    dead_band_ratio: FloatArray
    forecast_cap_ratio: FloatArray
    recovery_grace_seconds: FloatArray
    is_forecast_scale_in: BoolArray
    up: Directions
    down: Directions

    @classmethod
    def from_rows(cls, rows: Sequence[Policy]) -> Self:
        """Return the arrays of N policies; build them once and use them for every decision.

        >>> Policies.from_rows([Policy(proactive_target=0.9, reactive_target=0.9)] * 3).size
        3
        """
        strategies = tuple(row.strategy for row in rows)

        def column(name: str) -> FloatArray:
            return np.array([getattr(row, name) for row in rows], np.float64)

        return cls(
            strategies=strategies,
            uses_proactive=np.array([s is not Strategy.REACTIVE for s in strategies], bool),
            uses_reactive=np.array([s is not Strategy.PROACTIVE for s in strategies], bool),
            is_observer=np.array([s is Strategy.OBSERVER for s in strategies], bool),
            proactive_target=column("proactive_target"),
            reactive_target=column("reactive_target"),
            tolerance_up_ratio=column("tolerance_up_ratio"),
            tolerance_down_ratio=column("tolerance_down_ratio"),
            dead_band_ratio=column("dead_band_ratio"),
            forecast_cap_ratio=column("forecast_cap_ratio"),
            recovery_grace_seconds=column("recovery_grace_seconds"),
            is_forecast_scale_in=np.array([row.is_forecast_scale_in for row in rows], bool),
            up=Directions.from_rows([row.up for row in rows]),
            down=Directions.from_rows([row.down for row in rows]),
        )

    @property
    def size(self) -> int:
        """N."""
        return len(self.strategies)
