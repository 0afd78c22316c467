"""Sliding maxima and means along the time axis, in which an unknown minute is no zero."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def trailing_max(values: Array, width: int) -> Array:
    """Return `[..., T]`: the maximum of the last `width` columns up to each; -inf counts as unknown.

    >>> trailing_max(np.array([1, 3, 2, 0, 1], dtype=np.float32), 3).tolist()
    [1.0, 3.0, 3.0, 3.0, 2.0]
    """
    out = values.copy()
    covered = 1
    while covered < width:  # doubling: log2(width) passes instead of width
        step = min(covered, width - covered)
        np.maximum(out[..., step:], out[..., :-step].copy(), out=out[..., step:])
        covered += step
    return out


def trailing_mean(values: Array, width: int) -> Array:
    """Return `[..., T]`: the mean of the known of the last `width` columns; NaN where none is known.

    >>> trailing_mean(np.array([1, 3, np.nan, 5], dtype=np.float32), 2).tolist()
    [1.0, 2.0, 3.0, 5.0]
    """
    known = np.isfinite(values)
    sums = _trailing_sum(np.where(known, values, 0).astype(np.float64), width)
    counts = _trailing_sum(known.astype(np.float64), width)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(counts > 0.5, sums / counts, np.nan)
    return mean.astype(np.float32)


def _trailing_sum(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    out = np.cumsum(values, axis=-1)
    out[..., width:] -= out[..., :-width].copy()
    return out
