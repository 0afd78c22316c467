"""A ring of minutes for many rows: float32 `[rows, minutes]`, NaN where unknown.

The column of a minute is its number (Unix time / 60) modulo the length, and rows lie in blocks, so
nothing is ever moved: neither when time passes nor when rows come.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.intp]

STEP_SECONDS = 60
BLOCK_ROWS = 64


class Ring:
    """Rows come and go; the newest minute is common to all.

    Bounded by the most rows that there ever were at once: a row given back is used again.
    """

    def __init__(self, minutes: int) -> None:
        self.minutes = minutes
        self._blocks: list[Float32Array] = []
        self._free: list[int] = []
        self._newest: int | None = None

    @property
    def newest_minute(self) -> int | None:
        """Number of the newest minute; None before the first."""
        return self._newest

    @property
    def size_bytes(self) -> int:
        """Memory held."""
        return sum(block.nbytes for block in self._blocks)

    def add(self) -> int:
        """Return a new row, all unknown."""
        if not self._free:
            first = len(self._blocks) * BLOCK_ROWS
            self._blocks.append(np.full((BLOCK_ROWS, self.minutes), np.nan, np.float32))
            self._free += range(first + BLOCK_ROWS - 1, first - 1, -1)
        row = self._free.pop()
        self._row(row)[:] = np.nan
        return row

    def remove(self, row: int) -> None:
        """Give a row back."""
        self._free.append(row)

    def clear(self) -> None:
        """Forget every minute and when it was; the rows stay."""
        for block in self._blocks:
            block[:] = np.nan
        self._newest = None

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
        first = max(self._newest + 1, minute - self.minutes + 1)
        blank = np.arange(first, minute + 1) % self.minutes
        for block in self._blocks:
            block[:, blank] = np.nan
        self._newest = minute
        return passed

    def write(self, rows: Sequence[int], values: FloatArray, *, minute: int) -> None:
        """Note `values[rows]` of a minute that the ring holds; others are ignored."""
        if self._newest is None or not 0 <= self._newest - minute < self.minutes:
            return
        for block, slots, places in self._by_block(rows):
            block[slots, minute % self.minutes] = values[places]

    def fill(self, row: int, values: FloatArray, *, first_minute: int) -> None:
        """Put a past into a row where it is still unknown."""
        if self._newest is None:
            return
        numbers = first_minute + np.arange(len(values))
        is_held = (numbers <= self._newest) & (numbers > self._newest - self.minutes)
        columns = numbers[is_held] % self.minutes
        minutes = self._row(row)
        known = minutes[columns]
        minutes[columns] = np.where(np.isnan(known), values[is_held], known)

    def scale(self, row: int, factor: float) -> None:
        """Multiply a whole row: it is measured in another unit from now on."""
        self._row(row)[:] *= np.float32(factor)

    def last(self, rows: Sequence[int], count: int) -> FloatArray:
        """Return `[len(rows), count]` float64: the newest minutes, oldest first."""
        found = np.full((len(rows), count), np.nan)
        if self._newest is None:
            return found
        columns = np.arange(self._newest - count + 1, self._newest + 1) % self.minutes
        for block, slots, places in self._by_block(rows):
            found[places] = block[slots[:, None], columns[None, :]]
        return found

    def known_minutes(self, row: int) -> int:
        """Return how many minutes of a row are known."""
        return int(np.count_nonzero(~np.isnan(self._row(row))))

    def _row(self, row: int) -> Float32Array:
        minutes: Float32Array = self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return minutes

    def _by_block(self, rows: Sequence[int]) -> Iterator[tuple[Float32Array, IntArray, IntArray]]:
        """Yield each block with the slots of its rows, and their places among `rows`."""
        wanted = np.asarray(rows, np.intp)
        numbers = wanted // BLOCK_ROWS
        order = np.argsort(numbers, kind="stable")
        ends = np.flatnonzero(np.diff(numbers[order])) + 1
        for places in np.split(order, ends) if len(order) else ():
            yield self._blocks[numbers[places[0]]], wanted[places] % BLOCK_ROWS, places
