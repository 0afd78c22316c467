"""Runs of true columns in a mask `[W, T]`."""

import numpy as np

from gputide.forecast.model import BoolArray, FloatArray


def runs_of(mask: BoolArray) -> list[tuple[int, int, int]]:
    """Return (row, first column, column after the last) of each run, in order.

    >>> runs_of(np.array([[True, True, False, True]]))
    [(0, 0, 2), (0, 3, 4)]
    """
    first, after = _edges(mask)
    width = mask.shape[1] + 1
    row = first // width
    return list(
        zip(
            row.tolist(),
            (first - row * width).tolist(),
            (after - row * width).tolist(),
            strict=True,
        )
    )


def longest_runs(mask: BoolArray) -> FloatArray:
    """Return the columns of the longest run of each row, `[W]`; 0 where there is none."""
    first, after = _edges(mask)
    longest = np.zeros(len(mask))
    np.maximum.at(longest, first // (mask.shape[1] + 1), after - first)
    return longest


def _edges(mask: BoolArray) -> tuple[np.ndarray, np.ndarray]:
    """Return flat positions where runs begin and end, in rows that are one column wider."""
    fenced = np.zeros((len(mask), mask.shape[1] + 1), bool)
    fenced[:, :-1] = mask
    flat = fenced.ravel()
    change = np.flatnonzero(np.diff(flat, prepend=False))
    return change[0::2], change[1::2]
