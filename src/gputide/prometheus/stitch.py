"""A long range as pieces that a server answers, and their answers back on one grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

import numpy as np

from gputide.errors import InputError, SettingError
from gputide.prometheus.decode import AnswerError, MatrixRow
from gputide.prometheus.model import FloatArray, Labels, RangeResult, Series

MAX_POINTS = 11_000
"""Most points a series that Prometheus answers at once (it refuses more with HTTP 400)."""

MAX_SAMPLES = 64_000_000
"""Most samples of one read, 512 MB: beyond, the query has to aggregate."""

_SLACK_SECONDS = 0.002  # times are milliseconds in the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Moments `start_seconds + i * step_seconds`, i below `columns`; the step divides the start."""

    start_seconds: int
    step_seconds: int
    columns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Columns `first` to `first + columns - 1` of a grid."""

    first: int
    columns: int


def align(*, start_seconds: float, end_seconds: float, step_seconds: int) -> Grid:
    """Return the grid of multiples of the step within [start, end], both Unix times.

    >>> align(start_seconds=61, end_seconds=240, step_seconds=60)
    Grid(start_seconds=120, step_seconds=60, columns=3)
    """
    if step_seconds < 1:
        raise SettingError("step-seconds", f"must be at least 1, is {step_seconds}")
    first, last = ceil(start_seconds / step_seconds), floor(end_seconds / step_seconds)
    if first > last:
        raise SettingError(
            "end-seconds", f"no multiple of {step_seconds} s from {start_seconds} to {end_seconds}"
        )
    return Grid(
        start_seconds=first * step_seconds, step_seconds=step_seconds, columns=last - first + 1
    )


def cut(piece: Piece, *, at_most: int) -> list[Piece]:
    """Return a piece as the fewest pieces of at most that many columns, all of about one size."""
    count = ceil(piece.columns / at_most)
    edges = [piece.first + piece.columns * k // count for k in range(count + 1)]
    return [Piece(first=left, columns=right - left) for left, right in pairwise(edges)]


class Stitcher:
    """Takes the answers of pieces in any order; holds one row of the whole grid for each series."""

    def __init__(self, expression: str, grid: Grid) -> None:
        self._expression = expression
        self._grid = grid
        self._rows: dict[tuple[tuple[str, str], ...], tuple[Labels, FloatArray]] = {}
        self._warnings: dict[str, None] = {}  # a set in the order of arrival

    def add(self, piece: Piece, rows: Sequence[MatrixRow], warnings: Sequence[str]) -> None:
        """Place the rows of one piece; raise AnswerError for moments that were not asked for."""
        self._warnings.update(dict.fromkeys(warnings))
        for row in rows:
            columns = self._columns(piece, row)
            self._row(row.labels)[columns] = row.values

    def result(self) -> RangeResult:
        """Return what came so far, series in the order of their labels."""
        return RangeResult(
            expression=self._expression,
            start_seconds=self._grid.start_seconds,
            step_seconds=self._grid.step_seconds,
            columns=self._grid.columns,
            series=tuple(
                Series(labels=labels, values=values)
                for _, (labels, values) in sorted(self._rows.items(), key=lambda item: item[0])
            ),
            warnings=tuple(self._warnings),
        )

    def _row(self, labels: Labels) -> FloatArray:
        key = tuple(sorted(labels.items()))
        if key not in self._rows:
            if (len(self._rows) + 1) * self._grid.columns > MAX_SAMPLES:
                raise InputError(
                    self._expression,
                    f"more than {len(self._rows)} series of {self._grid.columns} samples each: "
                    "aggregate in the query (sum by ...) or ask for a shorter range",
                )
            self._rows[key] = labels, np.full(self._grid.columns, np.nan)
        return self._rows[key][1]

    def _columns(self, piece: Piece, row: MatrixRow) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        step = self._grid.step_seconds
        offsets = row.at_seconds - self._grid.start_seconds
        columns = np.rint(offsets / step).astype(np.int64)
        is_wrong = np.abs(offsets - columns * step) > _SLACK_SECONDS
        is_wrong |= (columns < piece.first) | (columns >= piece.first + piece.columns)
        if is_wrong.any():
            at = row.at_seconds[is_wrong.argmax()]
            raise AnswerError(f"a sample at {at:.3f}, a moment that was not asked for")
        return columns
