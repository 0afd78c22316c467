"""The largest (or least) value since a time, for many rows, without looking at all values again."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

BLOCK = 16
INITIAL_COLUMNS = 64


class SlidingExtreme:
    """Extremes over windows that end now; columns `[C, N]` by time, oldest first.

    Columns lie in blocks. A column holds the extreme from itself to the end of its block, and each
    complete block the extreme from itself to the last complete one. So an append touches one block,
    and a window of any length is answered from three values, each row having its own window.
    """

    def __init__(self, rows: int, *, is_largest: bool) -> None:
        self._rows = np.arange(rows)
        self._is_largest = is_largest
        self._wider = np.maximum if is_largest else np.minimum
        self._neutral = -np.inf if is_largest else np.inf
        self._allocate(INITIAL_COLUMNS)
        self._start = self._end = 0

    def _allocate(self, columns: int) -> None:
        rows = len(self._rows)
        self._times = np.empty(columns)
        self._in_block = np.empty((columns, rows))
        self._of_blocks = np.full((columns // BLOCK + 1, rows), self._neutral)

    @property
    def times(self) -> FloatArray:
        """`[C]` seconds, ascending."""
        return self._times[self._start : self._end]

    def append(self, now_seconds: float, values: FloatArray) -> None:
        """Add the newest column `[N]`; its time is at least that of the column before."""
        if self._end == len(self._times):
            self._make_room()
        block = self._end // BLOCK
        first = block * BLOCK
        earlier = self._in_block[first : self._end]
        self._wider(earlier, values, out=earlier)
        self._times[self._end] = now_seconds
        self._in_block[self._end] = values
        self._end += 1
        if self._end % BLOCK == 0:
            self._complete(block)

    def _complete(self, block: int) -> None:
        blocks = self._of_blocks[self._start // BLOCK : block + 1]
        self._wider(blocks, self._in_block[block * BLOCK], out=blocks)

    def since(self, seconds: FloatArray, of: IntArray) -> FloatArray:
        """Return `[N]` the extreme of the values after `seconds[of[row]]`, at least the newest one.

        `seconds[G]` holds the few distinct times, `of[N]` which of them a row takes.
        """
        last = self._end - 1
        columns = np.minimum(self._start + np.searchsorted(self.times, seconds, "right"), last)
        if len(columns) == 1:
            return self._from_column(int(columns[0]))
        return self._from_columns(columns[of])

    def _from_column(self, column: int) -> FloatArray:
        """Return the extreme from one column to now, for all rows."""
        found: FloatArray = self._in_block[column]
        current = self._end // BLOCK
        if column < current * BLOCK:
            found = self._wider(found, self._of_blocks[column // BLOCK + 1])
            if self._end > current * BLOCK:
                found = self._wider(found, self._in_block[current * BLOCK])
        return found

    def _from_columns(self, column: IntArray) -> FloatArray:
        """Return the extreme from each row's own column `[N]` to now."""
        size, current = len(self._rows), self._end // BLOCK
        found: FloatArray = self._in_block.ravel().take(column * size + self._rows)
        after = column // BLOCK + 1  # the block after the column's own
        is_earlier = after <= current
        if is_earlier.any():
            blocks = np.minimum(after, current)  # row `current` holds nothing yet: neutral
            found = self._wider(found, self._of_blocks.ravel().take(blocks * size + self._rows))
            if self._end > current * BLOCK:
                newest = self._in_block[current * BLOCK]
                found = np.where(is_earlier, self._wider(found, newest), found)
        return found

    def drop_until(self, seconds: float) -> None:
        """Forget the columns at or before that time."""
        while self._start < self._end and self._times[self._start] <= seconds:
            self._start += 1

    def running(self) -> FloatArray:
        """Return `[C, N]` the extreme from each column to now: all that there is to save."""
        columns = self._in_block[self._start : self._end]
        backwards: FloatArray = self._wider.accumulate(columns[::-1], axis=0)[::-1]
        return backwards

    def load(self, times: FloatArray, running: FloatArray) -> Self:
        """Take columns as `running` gave them; returns itself."""
        for time, values in zip(times, running, strict=True):
            self.append(float(time), values)
        return self

    def select(self, rows: IntArray) -> "SlidingExtreme":
        """Return a copy with these rows in this order; -1 makes a row that holds nothing."""
        running = self.running()
        chosen = np.full((len(running), len(rows)), self._neutral)
        chosen[:, rows >= 0] = running[:, rows[rows >= 0]]
        return SlidingExtreme(len(rows), is_largest=self._is_largest).load(self.times, chosen)

    def _make_room(self) -> None:
        times, running = self.times.copy(), self.running().copy()
        self._allocate(max(INITIAL_COLUMNS, _whole_blocks(2 * len(times))))
        self._start = self._end = 0
        self.load(times, running)


def _whole_blocks(columns: int) -> int:
    return -(-columns // BLOCK) * BLOCK
