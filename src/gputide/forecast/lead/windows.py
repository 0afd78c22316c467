"""Sliding maxima and means along the time axis, in which an unknown minute is no zero."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
IndexArray = NDArray[np.intp]


def trailing_max(values: Array, width: int, *, covered: int = 1) -> Array:
    """Return `[..., T]`: the maximum of the last `width` columns up to each; -inf is unknown.

    `values` may hold maxima of `covered` columns already.

    >>> trailing_max(np.array([1, 3, 2, 0, 1], dtype=np.float32), 3).tolist()
    [1.0, 3.0, 3.0, 3.0, 2.0]
    """
    out = values
    while covered < width:  # doubling: log2(width) passes instead of width
        step = min(covered, width - covered)
        wider = np.empty_like(out)
        wider[..., :step] = out[..., :step]
        np.maximum(out[..., step:], out[..., :-step], out=wider[..., step:])
        out = wider
        covered += step
    return out


def trailing_mean(values: Array, width: int) -> Array:
    """Return `[..., T]`: the mean of the known of the last `width` columns; NaN where none is.

    >>> trailing_mean(np.array([1, 3, np.nan, 5], dtype=np.float32), 2).tolist()
    [1.0, 2.0, 3.0, 5.0]
    """
    is_known = np.isfinite(values)
    if is_known.all():
        counts = np.minimum(np.arange(1, values.shape[-1] + 1), width).astype(np.float32)
        return _trailing_sum(values, width) / counts
    sums = _trailing_sum(np.where(is_known, values, np.float32(0)), width)
    counts = _trailing_sum(is_known.astype(np.float32), width)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0.5, sums / counts, np.float32(np.nan))


def _trailing_sum(values: Array, width: int) -> Array:
    """Return sums over the last `width` columns by doubling, exact unlike a running sum."""
    out: Array | None = None
    block, size, taken = values, 1, 0
    while True:
        if width & size:
            part = lagged(block, taken, fill=0)
            out = part if out is None else out + part
            taken += size
        if 2 * size > width:
            break
        block = block + lagged(block, size, fill=0)
        size *= 2
    return values if out is None else out


def lagged(values: Array, lag: int, *, fill: float = -np.inf) -> Array:
    """Return `[..., T]`: each column's value `lag` columns earlier; `fill` where there is none.

    A negative lag looks ahead.

    >>> lagged(np.array([1, 2, 3], dtype=np.float32), 1, fill=0).tolist()
    [0.0, 1.0, 2.0]
    """
    if lag == 0:
        return values.copy()
    out = np.empty_like(values)
    if lag > 0:
        out[..., :lag] = fill
        out[..., lag:] = values[..., :-lag]
    else:
        out[..., lag:] = fill
        out[..., :lag] = values[..., -lag:]
    return out


def mean_known(days: Array, *, least: int) -> Array:
    """Return `[w, P]` of `[w, D, P]`: the mean of the known days; NaN where fewer than `least`."""
    mean: Array = days.mean(axis=1)
    if not np.isnan(mean).any():
        return mean
    is_known = ~np.isnan(days)
    total = np.where(is_known, days, np.float32(0)).sum(axis=1)
    count = is_known.sum(axis=1, dtype=np.float32)
    known: Array = np.where(
        count >= least, total / np.maximum(count, np.float32(1)), np.float32(np.nan)
    )
    return known


def highest_known(days: Array, *, least: int) -> Array:
    """Return `[w, P]` of `[w, D, P]`: the highest known day; NaN where fewer than `least`."""
    highest: Array = np.maximum.reduce(days, axis=1)
    if not np.isnan(highest).any():
        return highest
    count = (~np.isnan(days)).sum(axis=1)
    known: Array = np.where(count >= least, np.fmax.reduce(days, axis=1), np.float32(np.nan))
    return known
