"""Pods under a load: N rows of the same workload, each scaled by its own rule, step by step.

Every row decides through `gputide.scaling.decide`, the function that the controller calls. A pod
that is asked for serves `start_delay` later; the newest pods are the first to go.
"""

from dataclasses import dataclass, field
from math import ceil
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gputide.backtest.model import FloatArray
from gputide.scaling import Memory, PodUsage, Policies, Policy, Situation, decide

STEP_SECONDS = 15
STEPS_PER_MINUTE = 4
METRIC_STEPS = 4
"""A metric is the mean of the last 60 s."""

IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Load:
    """What happens in a span of M minutes, in fully busy pods; NaN is unknown."""

    demand: FloatArray
    """[M]."""

    uppers: FloatArray
    """[F, M]: what each forecast said at the minute's start, from earlier minutes alone."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """How N rows scale."""

    policies: Policies
    series: IntArray
    """[N]: which forecast of the load a row reads; -1: none."""

    uses_demand: BoolArray
    """[N]: scales on the demand itself, not on the utilization of its pods."""

    min_replicas: FloatArray
    max_replicas: FloatArray

    @classmethod
    def of(
        cls,
        rules: list[Policy],
        *,
        series: list[int],
        uses_demand: list[bool],
        bounds: list[tuple[float, float]],
    ) -> Self:
        """Return the arrays of N rows."""
        low, high = np.array(bounds, np.float64).T
        return cls(
            policies=Policies.from_rows(rules),
            series=np.array(series, np.intp),
            uses_demand=np.array(uses_demand, bool),
            min_replicas=low,
            max_replicas=high,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Span:
    """What N rows ran in S steps: `[S, N]` each."""

    asked: FloatArray
    """Pods that were asked for and so are paid for."""

    ready: FloatArray
    """Pods that served."""


@dataclass(slots=True, kw_only=True, eq=False)
class Fleet:
    """The pods of N rows between two spans; `run` moves it on in place."""

    asked: FloatArray
    """[N]."""

    recent_asked: FloatArray
    """[D + 1, N]: what was asked for during the last start delay, a ring."""

    recent_usage: FloatArray
    """[4, N]: busy share of the ready pods, a ring; NaN: unknown."""

    recent_demand: FloatArray
    """[4], a ring."""

    memory: Memory
    step: int = 0
    ready: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.ready = self.recent_asked.min(axis=0)

    @classmethod
    def start(cls, replicas: FloatArray, *, start_delay_seconds: float) -> Self:
        """Return N rows that have run `replicas[N]` for long enough."""
        delay = ceil(start_delay_seconds / STEP_SECONDS)
        return cls(
            asked=replicas.copy(),
            recent_asked=np.tile(replicas, (delay + 1, 1)),
            recent_usage=np.full((METRIC_STEPS, len(replicas)), np.nan),
            recent_demand=np.full(METRIC_STEPS, np.nan),
            memory=Memory(len(replicas)),
        )

    def run(self, rules: Rules, load: Load) -> Span:
        """Return what the rows ran under a load of M minutes, 4 M steps."""
        steps = STEPS_PER_MINUTE * len(load.demand)
        asked = np.empty((steps, len(self.asked)))
        ready = np.empty_like(asked)
        views = _Views(rules, load)
        for index in range(steps):
            minute = index // STEPS_PER_MINUTE
            situation = self._situation(rules, views, minute)
            self.asked = decide(rules.policies, situation, self.memory).desired
            self._advance(float(load.demand[minute]))
            asked[index] = self.asked
            ready[index] = self.ready
        return Span(asked=asked, ready=ready)

    def _situation(self, rules: Rules, views: "_Views", minute: int) -> Situation:
        """Return what can be seen now: metrics of the last 60 s, the newest forecast."""
        usage = _known_mean(self.recent_usage)
        demand = None
        if views.is_any_on_demand:
            demand = np.where(rules.uses_demand, _known_mean(self.recent_demand), np.nan)
        pods = PodUsage(
            usage=np.where(rules.uses_demand, np.nan, usage * self.ready),
            ready=self.ready,
            unready=self.asked - self.ready,
            missing=views.zero,
        )
        return Situation(
            now_seconds=float(self.step * STEP_SECONDS),
            current=self.asked,
            min_replicas=rules.min_replicas,
            max_replicas=rules.max_replicas,
            is_fresh=views.always,
            is_complete=views.always,
            demand=demand,
            forecast_upper=views.upper(minute),
            pods=pods,
        )

    def _advance(self, demand: float) -> None:
        """Live through one step: pods start, serve, and are measured."""
        self.recent_asked[self.step % len(self.recent_asked)] = self.asked
        # A pod serves once as many as it were asked for all through its start: the newest go first.
        self.ready = self.recent_asked.min(axis=0)
        with np.errstate(divide="ignore"):
            busy = np.minimum(demand / self.ready, 1.0) if demand > 0 else demand
        self.recent_usage[self.step % METRIC_STEPS] = busy
        self.recent_demand[self.step % METRIC_STEPS] = demand
        self.step += 1


class _Views:
    """A load as the rows see it, minute by minute."""

    def __init__(self, rules: Rules, load: Load) -> None:
        rows = len(rules.series)
        self.zero = np.zeros(rows)
        self.always = np.ones(rows, bool)
        self.is_any_on_demand = bool(rules.uses_demand.any())
        unknown = np.full((1, len(load.demand)), np.nan)
        self._uppers = np.ascontiguousarray(np.concatenate([load.uppers, unknown]).T)
        self._series = rules.series  # -1 is the last one: unknown

    def upper(self, minute: int) -> FloatArray:
        """Return `[N]`."""
        seen: FloatArray = self._uppers[minute, self._series]
        return seen


def _known_mean(recent: FloatArray) -> FloatArray:
    """Return the mean over the first axis of what is known; NaN where nothing is.

    Demand is known for all rows or for none, so that one row's gaps are every row's.
    """
    known = ~np.isnan(recent.reshape(len(recent), -1)[:, 0])
    shown = recent if known.all() or not known.any() else recent[known]
    mean: FloatArray = shown.sum(axis=0) / len(shown)
    return mean
