"""Reading one long range: pieces, a few at a time, smaller where the server says too large."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from gputide.prometheus.decode import Answer, decode_matrix
from gputide.prometheus.failures import RefusedError
from gputide.prometheus.model import RangeResult
from gputide.prometheus.stitch import MAX_POINTS, Grid, Piece, Stitcher, cut

AskPiece = Callable[[int, int], Awaitable[Answer]]
"""Asks for the range from one Unix time to another, both included."""


class RangeRead:
    """One range on its way; `ask` raises RefusedError where a piece is too large."""

    def __init__(self, expression: str, grid: Grid, ask: AskPiece) -> None:
        self._grid = grid
        self._ask = ask
        self._stitcher = Stitcher(expression, grid)
        self._most_columns = MAX_POINTS
        self._pending = deque(cut(Piece(first=0, columns=grid.columns), at_most=MAX_POINTS))

    async def run(self, *, concurrency: int) -> RangeResult:
        """Return the whole range; the first piece that fails ends the others."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(self._work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the others only say the same
        return self._stitcher.result()

    async def _work(self) -> None:
        while self._pending:
            piece = self._pending.popleft()
            if piece.columns > self._most_columns:  # learned since it was cut
                self._pending.extendleft(reversed(cut(piece, at_most=self._most_columns)))
            else:
                await self._read(piece)

    async def _read(self, piece: Piece) -> None:
        start = self._grid.start_seconds + piece.first * self._grid.step_seconds
        end = start + (piece.columns - 1) * self._grid.step_seconds
        try:
            answer = await self._ask(start, end)
        except RefusedError as error:
            if not error.is_too_large or piece.columns == 1:
                raise
            self._most_columns = min(self._most_columns, (piece.columns + 1) // 2)
            self._pending.append(piece)
        else:
            self._stitcher.add(piece, decode_matrix(answer), answer.warnings)
