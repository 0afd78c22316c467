"""What N rows cost and where they hurt: sums over a span, exact for a load held by the step."""

from dataclasses import dataclass, fields

import numpy as np

from gputide.backtest.model import FloatArray
from gputide.backtest.simulate import STEP_SECONDS, STEPS_PER_MINUTE, Span

SECONDS_PER_HOUR = 3600
PIECE_STEPS = 1440
"""Measured in pieces of 6 h, so that a thousand rows fit into a cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ledger:
    """Sums over the known minutes of a span, `[N]` each; demand counts in pod steps of 15 s."""

    known_minutes: FloatArray
    replica_hours: FloatArray
    saturated_minutes: FloatArray
    """Minutes with any step of demand above the ready pods."""

    minutes_above_95: FloatArray
    """Near misses: minutes with any step of demand above 95 % of the ready pods."""

    minutes_above_90: FloatArray
    demand: FloatArray
    lost: FloatArray
    """Demand above the capacity of its moment."""

    late: FloatArray
    """Demand that waited longer than the limit."""

    changes: FloatArray
    pods_started: FloatArray

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    def select(self, rows: slice) -> "Ledger":
        """Return the ledger of some rows."""
        return Ledger(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @classmethod
    def empty(cls, rows: int) -> "Ledger":
        """Return the ledger of no time at all."""
        return cls(**{f.name: np.zeros(rows) for f in fields(cls)})


class Meter:
    """Keeps the ledger of N rows; carries the queue and the last count from span to span."""

    def __init__(self, asked: FloatArray, *, queue_limit_seconds: float) -> None:
        self._asked = asked
        self._limit_steps = queue_limit_seconds / STEP_SECONDS
        self._backlog = np.zeros_like(asked)

    @property
    def backlog(self) -> FloatArray:
        """Demand that waits now, `[N]` in pod steps."""
        return self._backlog

    def measure(self, demand: FloatArray, span: Span) -> Ledger:
        """Return the sums over M minutes of `demand[M]` and the span that met it."""
        held = np.repeat(demand, STEPS_PER_MINUTE)
        ledger = Ledger.empty(span.asked.shape[1])
        for start in range(0, len(held), PIECE_STEPS):
            piece = slice(start, start + PIECE_STEPS)
            ledger += self._measure_piece(held[piece], span.asked[piece], span.ready[piece])
        return ledger

    def _measure_piece(self, demand: FloatArray, asked: FloatArray, ready: FloatArray) -> Ledger:
        moves = np.diff(asked, axis=0, prepend=self._asked[np.newaxis])
        self._asked = asked[-1]
        known = ~np.isnan(demand)
        moves, asked, ready = moves[known], asked[known], ready[known]
        load = demand[known][:, np.newaxis]
        late = self._late(load, ready)
        minutes = known.sum() / STEPS_PER_MINUTE
        return Ledger(
            known_minutes=np.full(asked.shape[1], minutes),
            replica_hours=asked.sum(axis=0) * STEP_SECONDS / SECONDS_PER_HOUR,
            saturated_minutes=_minutes_above(load, ready),
            minutes_above_95=_minutes_above(load, ready * 0.95),
            minutes_above_90=_minutes_above(load, ready * 0.9),
            demand=np.full(asked.shape[1], load.sum()),
            lost=np.maximum(load - ready, 0).sum(axis=0),
            late=late.sum(axis=0),
            changes=(moves != 0).sum(axis=0).astype(np.float64),
            pods_started=np.maximum(moves, 0).sum(axis=0),
        )

    def _late(self, load: FloatArray, ready: FloatArray) -> FloatArray:
        """Return how much of each step's arrivals waits too long, `[S, N]`; moves the backlog on.

        A first-in-first-out queue of a fluid: within a step the backlog moves along a straight
        line, and what arrives behind more than `limit` of the step's capacity is late.
        """
        after = queue(load - ready, self._backlog)
        before = np.concatenate([self._backlog[np.newaxis], after[:-1]])
        self._backlog = after[-1] if len(after) else self._backlog
        slope = load - ready
        threshold = self._limit_steps * ready
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(slope > 0, before + slope - threshold, before - threshold) / abs(slope)
        share = np.where(slope == 0, before > threshold, np.clip(above, 0, 1))
        return share * load


def queue(excess: FloatArray, backlog: FloatArray) -> FloatArray:
    """Return the backlog after each step `[S, N]` of arrivals minus capacity, from `backlog[N]`.

    >>> queue(np.array([[2.0], [-1.0], [-3.0], [1.0]]), np.array([0.0])).ravel().tolist()
    [2.0, 1.0, 0.0, 1.0]
    """
    unbounded = backlog + np.cumsum(excess, axis=0)
    lowest = np.minimum(np.minimum.accumulate(unbounded, axis=0), 0)
    served: FloatArray = unbounded - lowest
    return served


def _minutes_above(load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return how many minutes `[N]` have a step of load above capacity."""
    is_above = load > capacity + 1e-9
    minutes = is_above.reshape(-1, STEPS_PER_MINUTE, is_above.shape[1]).any(axis=1)
    total: FloatArray = minutes.sum(axis=0).astype(np.float64)
    return total
