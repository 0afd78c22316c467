"""A ring of minutes for many rows: float32 `[rows, minutes]`, NaN where unknown.

The column of a minute is its number (Unix time / 60) modulo the length, so nothing is ever moved.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]

STEP_SECONDS = 60
GROWTH_RATIO = 1.25


class Ring:
    """Rows come and go; the newest minute is common to all."""

    def __init__(self, minutes: int) -> None:
        self.minutes = minutes
        self._values: Float32Array = np.empty((0, minutes), np.float32)
        self._free: list[int] = []
        self._newest: int | None = None

    @property
    def newest_minute(self) -> int | None:
        """Number of the newest minute; None before the first."""
        return self._newest

    @property
    def size_bytes(self) -> int:
        """Memory held."""
        return self._values.nbytes

    def add(self) -> int:
        """Return a new row, all unknown."""
        if not self._free:
            self._grow()
        row = self._free.pop()
        self._values[row] = np.nan
        return row

    def remove(self, row: int) -> None:
        """Give a row back."""
        self._free.append(row)

    def advance(self, minute: int) -> int:
        """Move to a minute; those between it and the newest become unknown. Return how many.

        A minute before the newest one (a clock set back) changes nothing and returns 0.
        """
        if self._newest is None:
            self._newest = minute
            return 0
        passed = minute - self._newest
        if passed <= 0:
            return 0
        blank = np.arange(self._newest + 1, minute + 1)[-self.minutes :] % self.minutes
        self._values[:, blank] = np.nan
        self._newest = minute
        return passed

    def write(self, rows: Sequence[int], values: FloatArray, *, minute: int) -> None:
        """Note `values[rows]` of a minute that the ring holds; others are ignored."""
        if self._newest is None or not 0 <= self._newest - minute < self.minutes:
            return
        self._values[np.asarray(rows, np.intp), minute % self.minutes] = values

    def fill(self, row: int, values: FloatArray, *, first_minute: int) -> None:
        """Put a past into a row where it is still unknown."""
        if self._newest is None:
            return
        numbers = first_minute + np.arange(len(values))
        is_held = (numbers <= self._newest) & (numbers > self._newest - self.minutes)
        columns = numbers[is_held] % self.minutes
        known = self._values[row, columns]
        self._values[row, columns] = np.where(np.isnan(known), values[is_held], known)

    def last(self, rows: Sequence[int], count: int) -> FloatArray:
        """Return `[len(rows), count]` float64: the newest minutes, oldest first."""
        if self._newest is None:
            return np.full((len(rows), count), np.nan)
        columns = np.arange(self._newest - count + 1, self._newest + 1) % self.minutes
        picked = self._values[np.asarray(rows, np.intp)[:, None], columns[None, :]]
        return picked.astype(np.float64)

    def known_minutes(self, row: int) -> int:
        """Return how many minutes of a row are known."""
        return int(np.count_nonzero(~np.isnan(self._values[row])))

    def _grow(self) -> None:
        size = len(self._values)
        grown = max(int(size * GROWTH_RATIO), size + 16)
        values = np.full((grown, self.minutes), np.nan, np.float32)
        values[:size] = self._values
        self._values = values
        self._free += range(grown - 1, size - 1, -1)

    def reserve(self, rows: int) -> None:
        """Make room for so many rows at once, so that memory is not copied again and again."""
        size = len(self._values)
        missing = rows - (size - len(self._free))
        if missing > 0:
            values = np.full((size + missing, self.minutes), np.nan, np.float32)
            values[:size] = self._values
            self._values = values
            self._free += range(size + missing - 1, size - 1, -1)
