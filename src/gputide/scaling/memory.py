"""What N rows remember between decisions: recommendations and changes, within their windows."""

from collections.abc import Mapping
from typing import Self

import numpy as np

from gputide.scaling.policies import FloatArray, IntArray
from gputide.scaling.window import SlidingExtreme


class Changes:
    """Replicas added minus removed by our own decisions, `[C, N]` by time; exact in any period."""

    def __init__(self, rows: int) -> None:
        self.times = np.empty(0)
        """`[C]` seconds, ascending."""

        self.before = np.empty((0, rows))
        """`[C, N]` sum of all changes before that of the column."""

        self.total = np.zeros(rows)
        """`[N]` sum up to now."""

    def append(self, now_seconds: float, change: FloatArray) -> None:
        """Add what was changed now."""
        if len(self.times):
            self.times = np.append(self.times, now_seconds)
            self.before = np.vstack([self.before, self.total])
        else:
            self.times, self.before = np.array([now_seconds]), self.total[None]
        self.total = self.total + change

    def drop_until(self, seconds: float) -> None:
        """Forget the changes at or before that time."""
        dropped = int(np.searchsorted(self.times, seconds, side="right"))
        if dropped:
            self.times = self.times[dropped:]
            self.before = self.before[dropped:]

    def since(self, seconds: FloatArray, of: IntArray) -> FloatArray:
        """Return `[P, N]` the sum of the changes after `seconds[of[slot, row]]`."""
        column = np.searchsorted(self.times, seconds, side="right")[of]
        started = np.vstack([self.before, self.total])[column, np.arange(len(self.total))]
        changed: FloatArray = self.total - started
        return changed


class Memory:
    """The state of N rows; `decide` brings it up to its moment, in place.

    Bounded: recommendations older than the longest stabilization window and changes older than the
    longest period are dropped.
    """

    def __init__(self, rows: int) -> None:
        self.highest = SlidingExtreme(rows, is_largest=True)
        self.lowest = SlidingExtreme(rows, is_largest=False)
        self.changes = Changes(rows)
        self.unknown_at_seconds = np.full(rows, -np.inf)
        """`[N]` when the demand was last unknown."""

        self.last_unknown_seconds = -np.inf
        """The latest of these."""

        self.is_new = np.ones(rows, bool)
        """`[N]` rows that nothing was decided on yet."""

        self.has_new = rows > 0

    @property
    def size(self) -> int:
        """N."""
        return len(self.is_new)

    def withdraw(self, rows: IntArray, *, now_seconds: float) -> None:
        """Take back what `decide` noted as changed at that moment: writing these rows failed."""
        if len(self.changes.times) and self.changes.times[-1] == now_seconds:
            self.changes.total[rows] = self.changes.before[-1, rows]

    def select(self, rows: IntArray) -> "Memory":
        """Return the memory of these rows in this order; -1 makes a new row."""
        out = Memory(len(rows))
        is_kept = rows >= 0
        kept = rows[is_kept]
        out.highest = self.highest.select(rows)
        out.lowest = self.lowest.select(rows)
        out.changes.times = self.changes.times.copy()
        out.changes.before = np.zeros((len(self.changes.times), len(rows)))
        out.changes.before[:, is_kept] = self.changes.before[:, kept]
        out.changes.total[is_kept] = self.changes.total[kept]
        out.unknown_at_seconds[is_kept] = self.unknown_at_seconds[kept]
        out.is_new[is_kept] = self.is_new[kept]
        out._settle()
        return out

    def save(self) -> dict[str, FloatArray]:
        """Return the state as plain arrays, for a checkpoint."""
        return {
            "highest_times": self.highest.times.copy(),
            "highest": self.highest.running().copy(),
            "lowest_times": self.lowest.times.copy(),
            "lowest": self.lowest.running().copy(),
            "change_times": self.changes.times.copy(),
            "changes_before": self.changes.before.copy(),
            "changes_total": self.changes.total.copy(),
            "unknown_at_seconds": self.unknown_at_seconds.copy(),
            "is_new": self.is_new.astype(np.float64),
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return the memory that `save` described."""
        out = cls(len(arrays["is_new"]))
        out.highest.load(arrays["highest_times"], arrays["highest"])
        out.lowest.load(arrays["lowest_times"], arrays["lowest"])
        out.changes.times = arrays["change_times"].copy()
        out.changes.before = arrays["changes_before"].copy()
        out.changes.total = arrays["changes_total"].copy()
        out.unknown_at_seconds[:] = arrays["unknown_at_seconds"]
        out.is_new[:] = arrays["is_new"] != 0
        out._settle()
        return out

    def _settle(self) -> None:
        self.last_unknown_seconds = float(self.unknown_at_seconds.max(initial=-np.inf))
        self.has_new = bool(self.is_new.any())
