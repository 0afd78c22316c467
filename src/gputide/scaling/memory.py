"""What a row of decisions remembers: recommendations and scale events, within the longest window."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

INITIAL_COLUMNS = 64


class Columns:
    """`[C, N]` values by time, oldest first; old ones are dropped, room is reused.

    Rows are contiguous in memory, and a full buffer is compacted or doubled, so that an append is a
    copy of N values.
    """

    def __init__(self, rows: int, *, capacity: int = INITIAL_COLUMNS) -> None:
        self._times = np.empty(capacity)
        self._values = np.empty((capacity, rows))
        self._start = 0
        self._end = 0

    @property
    def times(self) -> FloatArray:
        """`[C]`, ascending."""
        return self._times[self._start : self._end]

    @property
    def values(self) -> FloatArray:
        """`[C, N]`, a view."""
        return self._values[self._start : self._end]

    def append(self, now_seconds: float, values: FloatArray) -> None:
        """Add the newest column."""
        if self._end == len(self._times):
            self._make_room()
        self._times[self._end] = now_seconds
        self._values[self._end] = values
        self._end += 1

    def drop_until(self, seconds: float) -> int:
        """Drop the columns at or before that time; return how many."""
        dropped = int(np.searchsorted(self.times, seconds, side="right"))
        self._start += dropped
        return dropped

    def _make_room(self) -> None:
        times, values = self.times.copy(), self.values.copy()
        if 2 * len(times) > len(self._times):
            self._times = np.empty(2 * len(self._times))
            self._values = np.empty((len(self._times), values.shape[1]))
        self._times[: len(times)] = times
        self._values[: len(times)] = values
        self._start, self._end = 0, len(times)

    def select(self, rows: IntArray, *, missing: float) -> Self:
        """Return a copy with these rows, in this order; row -1 is a new one, filled with `missing`."""
        out = type(self)(len(rows), capacity=max(INITIAL_COLUMNS, 2 * len(self.times)))
        for time, values in zip(self.times, self.values, strict=True):
            chosen = np.where(rows >= 0, values[rows], missing) if values.size else missing
            out.append(float(time), np.broadcast_to(chosen, len(rows)))
        return out


class Memory:
    """State of N rows between decisions; `decide` changes it in place.

    Bounded: recommendations older than the longest stabilization window and scale events older than
    the longest period are dropped.
    """

    def __init__(self, rows: int) -> None:
        self.last_unknown_seconds = np.full(rows, -np.inf)
        """[N]: when the demand was last unknown."""

        self.is_new = np.ones(rows, bool)
        """[N]: rows that were never decided on; their current replicas are the first recommendation."""

        self.highest = Columns(rows)
        """Column c: the largest recommendation since its time (a running maximum from behind)."""

        self.lowest = Columns(rows)
        """Column c: the least recommendation since its time."""

        self.changes = Columns(rows)
        """Column c: replicas added minus removed by our own decisions up to its time, since the start."""

        self.changed = np.zeros(rows)
        """[N]: the same up to now."""

    @property
    def size(self) -> int:
        """N."""
        return len(self.changed)

    def select(self, rows: IntArray) -> "Memory":
        """Return the memory of these rows, in this order; -1 makes a new row."""
        out = Memory(len(rows))
        old = rows >= 0
        kept = rows[old]
        out.last_unknown_seconds[old] = self.last_unknown_seconds[kept]
        out.is_new[old] = self.is_new[kept]
        out.changed[old] = self.changed[kept]
        out.highest = self.highest.select(rows, missing=-np.inf)
        out.lowest = self.lowest.select(rows, missing=np.inf)
        out.changes = self.changes.select(rows, missing=0.0)
        return out

    def save(self) -> dict[str, FloatArray]:
        """Return the state as plain arrays, for a checkpoint."""
        arrays: dict[str, FloatArray] = {
            "last_unknown_seconds": self.last_unknown_seconds.copy(),
            "is_new": self.is_new.astype(np.float64),
            "changed": self.changed.copy(),
        }
        for name in ("highest", "lowest", "changes"):
            columns: Columns = getattr(self, name)
            arrays[f"{name}_times"] = columns.times.copy()
            arrays[f"{name}_values"] = columns.values.copy()
        return arrays

    @classmethod
    def restore(cls, arrays: dict[str, FloatArray]) -> Self:
        """Return the memory that `save` described."""
        out = cls(len(arrays["changed"]))
        out.last_unknown_seconds[:] = arrays["last_unknown_seconds"]
        out.is_new[:] = arrays["is_new"] != 0
        out.changed[:] = arrays["changed"]
        for name in ("highest", "lowest", "changes"):
            columns: Columns = getattr(out, name)
            times, values = arrays[f"{name}_times"], arrays[f"{name}_values"]
            for time, column in zip(times, values, strict=True):
                columns.append(float(time), column)
        return out
