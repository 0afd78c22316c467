"""Pods under a load: N rows at once, each scaled by its own rule, step by step.

Every row decides through `gputide.scaling.decide`, the function that the controller calls. A pod
that is asked for serves one start delay later; the newest pods are the first to go. Rows never
touch each other: what a row does is the same alone and among a thousand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
    """What happens in M minutes to L workloads, in fully busy pods; NaN is unknown."""

    demand: FloatArray
    """[L, M]."""

    uppers: FloatArray
    """[F, M]: what each forecast said at the minute's start, from earlier minutes alone."""

    min_replicas: FloatArray | None = None
    """[L, M]: fewest pods that a window in time allows; NaN: the row's own number counts."""

    max_replicas: FloatArray | None = None
    """[L, M]: most pods, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One workload under one rule."""

    rule: Policy
    load: int
    """Which demand it serves."""

    series: int | None
    """Which forecast it reads."""

    uses_demand: bool
    """Scales on the demand itself, not on the utilization of its pods."""

    min_replicas: float
    """At least 1."""

    max_replicas: float
    has_windows: bool = True
    """Whether windows in time count for it; a fixed size knows none."""


class Rules:
    """How N rows scale, as arrays."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.policies = Policies.from_rows([row.rule for row in rows])
        self.load = np.array([row.load for row in rows], np.intp)
        self.series = np.array([-1 if row.series is None else row.series for row in rows], np.intp)
        self.uses_demand = np.array([row.uses_demand for row in rows], bool)
        self.min_replicas = np.array([row.min_replicas for row in rows], np.float64)
        self.max_replicas = np.array([row.max_replicas for row in rows], np.float64)
        self.has_windows = np.array([row.has_windows for row in rows], bool)

    @property
    def size(self) -> int:
        """N."""
        return len(self.load)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Span:
    """What N rows ran in S steps: `[S, N]` each."""

    asked: FloatArray
    """Pods that were asked for and so are paid for."""

    ready: FloatArray
    """Pods that served."""

    def of(self, rows: slice) -> "Span":
        """Return the span of some rows."""
        return Span(asked=self.asked[:, rows], ready=self.ready[:, rows])


@dataclass(slots=True, kw_only=True, eq=False)
class Fleet:
    """The pods of N rows between two spans; `run` moves it on in place."""

    asked: FloatArray
    """[N]: what is asked for now."""

    recent_asked: FloatArray
    """[D + 1, N]: what was asked for during the last start delay, a ring."""

    recent_usage: FloatArray
    """[4, N]: busy share of the ready pods, a ring; NaN: unknown."""

    recent_demand: FloatArray
    """[4, N], a ring."""

    memory: Memory
    step: int = 0

    @classmethod
    def start(cls, replicas: FloatArray, *, start_delay_seconds: float) -> Self:
        """Return N rows that have run `replicas[N]` for long enough."""
        delay_steps = ceil(start_delay_seconds / STEP_SECONDS)
        return cls(
            asked=replicas.copy(),
            recent_asked=np.tile(replicas, (delay_steps + 1, 1)),
            recent_usage=np.full((METRIC_STEPS, len(replicas)), np.nan),
            recent_demand=np.full((METRIC_STEPS, len(replicas)), np.nan),
            memory=Memory(len(replicas)),
        )

    def select(self, rows: IntArray) -> "Fleet":
        """Return the fleet of these rows, in this order."""
        return Fleet(
            asked=self.asked[rows],
            recent_asked=self.recent_asked[:, rows],
            recent_usage=self.recent_usage[:, rows],
            recent_demand=self.recent_demand[:, rows],
            memory=self.memory.select(rows),
            step=self.step,
        )

    def run(self, rules: Rules, load: Load) -> Span:
        """Return what the rows ran under a load of M minutes, 4 M steps."""
        minutes = load.demand.shape[1]
        asked = np.empty((STEPS_PER_MINUTE * minutes, rules.size))
        ready = np.empty_like(asked)
        view = _View(rules)
        demand, uppers = load.demand.T, _with_none(load.uppers).T
        for index in range(len(asked)):
            minute = index // STEPS_PER_MINUTE
            view.upper = uppers[minute, rules.series]
            view.bound(rules, load, minute)
            self.asked = decide(rules.policies, self._situation(rules, view), self.memory).desired
            asked[index] = self.asked
            ready[index] = self._advance(demand[minute, rules.load])
        return Span(asked=asked, ready=ready)

    def _situation(self, rules: Rules, view: "_View") -> Situation:
        """Return what can be seen now: metrics of the last 60 s, the newest forecast."""
        ready = self._ready()
        usage = _known_mean(self.recent_usage) * ready
        demand = None
        if view.is_any_on_demand:
            demand = np.where(rules.uses_demand, _known_mean(self.recent_demand), np.nan)
            usage = np.where(rules.uses_demand, np.nan, usage)
        return Situation(
            now_seconds=float(self.step * STEP_SECONDS),
            current=self.asked,
            min_replicas=view.min_replicas,
            max_replicas=view.max_replicas,
            is_fresh=view.always,
            is_complete=view.always,
            demand=demand,
            forecast_upper=view.upper,
            pods=PodUsage(usage=usage, ready=ready, unready=self.asked - ready, missing=view.zero),
        )

    def _ready(self) -> FloatArray:
        """Return the pods that serve, `[N]`: as many as were asked for all through a start delay.

        That is exact where the newest pods go first.
        """
        ready: FloatArray = np.minimum.reduce(self.recent_asked)
        return ready

    def _advance(self, demand: FloatArray) -> FloatArray:
        """Live through one step of `demand[N]`; return the pods that served."""
        self.recent_asked[self.step % len(self.recent_asked)] = self.asked
        ready = self._ready()
        self.recent_usage[self.step % METRIC_STEPS] = np.minimum(demand / ready, 1.0)
        self.recent_demand[self.step % METRIC_STEPS] = demand
        self.step += 1
        return ready


class _View:
    """What every step of a span shows to the rows."""

    def __init__(self, rules: Rules) -> None:
        self.zero = np.zeros(rules.size)
        self.always = np.ones(rules.size, bool)
        self.upper = np.full(rules.size, np.nan)
        self.is_any_on_demand = bool(rules.uses_demand.any())
        self.min_replicas, self.max_replicas = rules.min_replicas, rules.max_replicas

    def bound(self, rules: Rules, load: Load, minute: int) -> None:
        """Let the windows of a minute bound the rows that know any."""
        if load.min_replicas is None or load.max_replicas is None:
            return
        low, high = load.min_replicas[rules.load, minute], load.max_replicas[rules.load, minute]
        is_in = rules.has_windows & ~np.isnan(low) & ~np.isnan(high)
        self.min_replicas = np.where(is_in, np.maximum(low, 1), rules.min_replicas)
        self.max_replicas = np.where(is_in, high, rules.max_replicas)


def _with_none(uppers: FloatArray) -> FloatArray:
    """Return the forecasts with a last one that says nothing, for rows that read series -1."""
    return np.concatenate([uppers, np.full((1, uppers.shape[1]), np.nan)])


def _known_mean(recent: FloatArray) -> FloatArray:
    """Return the mean over the first axis of what is known; NaN where nothing is."""
    mean: FloatArray = np.add.reduce(recent) / len(recent)
    if not np.isnan(mean).any():
        return mean
    known = ~np.isnan(recent)
    counts = known.sum(axis=0)
    sums = np.where(known, recent, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
