"""The knobs of many rows as arrays, with what every decision would else work out anew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gputide.scaling.policy import Direction, Limit, LimitKind, Policy, Select, Strategy
from gputide.scaling.rounding import ROUNDING_RATIO

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Directions:
    """One direction of N rows: windows `[N]` and limits `[P, N]`, P being the most of any row.

    Windows and periods are kept as their few distinct values and an index, because all rows share
    the times of the memory.
    """

    windows_seconds: FloatArray
    """[G]: the distinct stabilization windows."""

    window_of: IntArray
    """[N]: which of them a row has."""

    longest_window_seconds: float
    periods_seconds: FloatArray
    """[G]: the distinct periods of limits."""

    period_of: IntArray
    """[P, N]: which of them a limit has."""

    longest_period_seconds: float
    pods: FloatArray
    """[P, N]: pods that a limit allows; NaN in a slot that the row does not use."""

    factor: FloatArray
    """[P, N]: what the replicas at the period's start may become, by Percent; 1 for Pods."""

    is_strictest: BoolArray
    """[N]: `selectPolicy: Min`."""

    has_strictest: bool

    is_disabled: BoolArray
    is_limited: BoolArray
    """[N]: has at least one limit."""

    has_limits: bool
    """Whether any row can be held back at all."""

    @classmethod
    def from_rows(cls, rows: Sequence[Direction], *, is_up: bool) -> Self:
        """Return the arrays of N directions."""
        windows, window_of = np.unique(
            np.array([row.stabilization_seconds for row in rows], np.float64), return_inverse=True
        )
        sign = 1 if is_up else -1
        is_strictest = np.array([row.select is Select.MIN for row in rows], bool)
        periods = _table(rows, lambda limit: limit.period_seconds, unused=1.0)
        distinct, period_of = np.unique(periods, return_inverse=True)
        return cls(
            windows_seconds=windows,
            window_of=window_of.astype(np.intp),
            longest_window_seconds=float(windows.max(initial=0.0)),
            periods_seconds=distinct,
            period_of=period_of.reshape(periods.shape).astype(np.intp),
            longest_period_seconds=float(distinct.max(initial=0.0)),
            pods=_table(rows, _pods, unused=np.nan),
            factor=1 + sign * _table(rows, _ratio, unused=0.0),
            is_strictest=is_strictest,
            has_strictest=bool(is_strictest.any()),
            is_disabled=np.array([row.select is Select.DISABLED for row in rows], bool),
            is_limited=np.array([bool(row.limits) for row in rows], bool),
            has_limits=any(_can_hold(row, is_up=is_up) for row in rows),
        )


def _pods(limit: Limit) -> float:
    return limit.value if limit.kind is LimitKind.PODS else 0.0


def _ratio(limit: Limit) -> float:
    return limit.value / 100 if limit.kind is LimitKind.PERCENT else 0.0


def _table(
    rows: Sequence[Direction], read: Callable[[Limit], float], *, unused: float
) -> FloatArray:
    slots = max((len(row.limits) for row in rows), default=0)
    out = np.full((slots, len(rows)), unused)
    for column, row in enumerate(rows):
        for slot, limit in enumerate(row.limits):
            out[slot, column] = read(limit)
    return out


def _can_hold(row: Direction, *, is_up: bool) -> bool:
    if row.select is Select.DISABLED:
        return True
    lets_all_go = not is_up and row.select is Select.MAX and any(_ratio(x) >= 1 for x in row.limits)
    return bool(row.limits) and not lets_all_go


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """Target and tolerance of one metric; arrays `[N]`."""

    target: FloatArray
    """What one pod should serve."""

    least_within: FloatArray
    """Usage / target from here ..."""

    most_within: FloatArray
    """... to here changes nothing."""

    missing_usage: FloatArray
    """What a pod without a sample counts as when the others ask for fewer."""

    @classmethod
    def from_rows(cls, rows: Sequence[Policy]) -> Self:
        """Return the reactive rule of N policies."""
        up = np.array([row.tolerance_up_ratio for row in rows], np.float64)
        down = np.array([row.tolerance_down_ratio for row in rows], np.float64)
        return cls(
            target=np.array([row.reactive_target for row in rows], np.float64),
            least_within=1 - down - ROUNDING_RATIO,
            most_within=1 + up + ROUNDING_RATIO,
            missing_usage=np.array([_missing_usage(row) for row in rows], np.float64),
        )


def _missing_usage(row: Policy) -> float:
    """Return one busy pod for utilization (or the target, where that is more), else the target."""
    return max(row.reactive_target, 1.0) if row.is_utilization else row.reactive_target


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policies:
    """The knobs of N rows as arrays `[N]`; a row is a workload, or one setting of a replay.

    The `has_...` fields tell whether any row needs a rule at all: one that nobody needs is free.
    """

    rows: tuple[Policy, ...]
    uses_proactive: BoolArray
    uses_reactive: BoolArray
    has_single_source: bool
    """Whether any row goes by the forecast alone or by the demand alone."""

    is_writer: BoolArray
    """Every strategy but `observer`."""

    proactive_target: FloatArray
    reactive: Rule
    scale_in_below_ratio: FloatArray
    """1 - dead band."""

    has_dead_band: bool
    forecast_cap_ratio: FloatArray
    """NaN: no cap, for infinity times a peak of 0 would cap at 0 or warn."""

    recovery_grace_seconds: FloatArray
    longest_grace_seconds: float
    is_forecast_scale_in: BoolArray
    has_forecast_guard: bool
    up: Directions
    down: Directions

    @classmethod
    def from_rows(cls, rows: Sequence[Policy]) -> Self:
        """Return the arrays of N policies; build them once and use them for every decision.

        >>> Policies.from_rows([Policy(proactive_target=0.9, reactive_target=0.9)] * 3).size
        3
        """

        def column(read: Callable[[Policy], float]) -> FloatArray:
            return np.array([read(row) for row in rows], np.float64)

        def flags(read: Callable[[Policy], bool]) -> BoolArray:
            return np.array([read(row) for row in rows], bool)

        uses_proactive = flags(lambda row: row.strategy is not Strategy.REACTIVE)
        uses_reactive = flags(lambda row: row.strategy is not Strategy.PROACTIVE)
        band = column(lambda row: row.dead_band_ratio)
        cap = column(lambda row: row.forecast_cap_ratio)
        grace = column(lambda row: row.recovery_grace_seconds)
        scales_in = flags(lambda row: row.is_forecast_scale_in)
        return cls(
            rows=tuple(rows),
            uses_proactive=uses_proactive,
            uses_reactive=uses_reactive,
            has_single_source=not (uses_proactive & uses_reactive).all(),
            is_writer=flags(lambda row: row.strategy is not Strategy.OBSERVER),
            proactive_target=column(lambda row: row.proactive_target),
            reactive=Rule.from_rows(rows),
            scale_in_below_ratio=1 - band,
            has_dead_band=bool((band > 0).any()),
            forecast_cap_ratio=np.where(np.isfinite(cap), cap, np.nan),
            recovery_grace_seconds=grace,
            longest_grace_seconds=float(grace.max(initial=0.0)),
            is_forecast_scale_in=scales_in,
            has_forecast_guard=not scales_in.all(),
            up=Directions.from_rows([row.up for row in rows], is_up=True),
            down=Directions.from_rows([row.down for row in rows], is_up=False),
        )

    @property
    def size(self) -> int:
        """N."""
        return len(self.rows)
