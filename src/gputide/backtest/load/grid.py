"""From samples at uneven times to one regular grid of minutes; unknown stays unknown.

A sample is a level that holds for its cadence: finer samples are averaged over each minute, coarser
ones held, and a cadence that shares no minute (57 s) is weighted by how long each lasts in it.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from gputide.backtest.load.cadence import cadence_seconds
from gputide.backtest.load.samples import Samples
from gputide.backtest.model import FloatArray
from gputide.errors import InputError

IntArray = NDArray[np.int64]

MINUTE_SECONDS = 60
MAX_SPAN_SECONDS = 3 * 366 * 86_400
MAX_CELLS = 20_000_000
MAX_SHARED_RATIO = 0.2
"""More samples than this that share a cell mean that there is no cadence."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MinuteGrid:
    """Demand by the minute, `values[T]` from `start_seconds`; NaN where unknown.

    `series[T]` is how many series were there, where the samples have keys.
    """

    start_seconds: int
    values: FloatArray
    series: FloatArray | None
    recorded_step_seconds: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cells:
    """Samples that lie on the grid of their own cadence: one a key and cell, by key, then time."""

    index: IntArray
    values: FloatArray
    is_same_key: NDArray[np.bool_]
    """[N]: the next sample is of the same key."""

    shared: int
    """Samples that were averaged with another of their key and cell."""


def to_minute_grid(samples: Samples, *, hold_seconds: int) -> MinuteGrid:
    """Return the sum over keys on a grid of minutes.

    A key that misses samples for at most `hold_seconds` between two known ones keeps its last
    value, so that the sum does not dip; samples of one key at one time are added up.
    """
    step = cadence_seconds(samples)
    _require_bounded_span(samples, step)
    known = samples.added_up().known()
    if not len(known.times):
        raise InputError(samples.name, "holds no value: every cell is empty")
    base, late_seconds = _fit_phase(known.times, step)
    cells = _place(known, base, step)
    if cells.shared > MAX_SHARED_RATIO * len(known.times):
        raise InputError(
            samples.name,
            f"no regular cadence (rows lie {step} s apart in the median): resample it, or give"
            " --duration-column if each row is one request",
        )
    hold_cells = hold_seconds // step if samples.is_keyed else 0
    total, count = _sum_over_keys(cells, hold_cells)
    start, values = to_minutes(total, start_seconds=base, step_seconds=step)
    series = to_minutes(count, start_seconds=base, step_seconds=step)[1]
    warnings = (*_snap_warnings(base, late_seconds, step, cells.shared), *gap_warnings(values))
    return MinuteGrid(
        start_seconds=start,
        values=values,
        series=series if samples.is_keyed else None,
        recorded_step_seconds=step,
        warnings=warnings,
    )


def to_minutes(
    values: FloatArray, *, start_seconds: float, step_seconds: int
) -> tuple[int, FloatArray]:
    """Return the Unix time of the first known minute and `[T]` minutes from values of any cadence.

    A minute is the mean of its known part, or NaN where less than half of it is known.

    >>> to_minutes(np.array([1.0, 3, 2, 2]), start_seconds=600, step_seconds=30)
    (600, array([2., 2.]))
    """
    unit = gcd(step_seconds, MINUTE_SECONDS)
    start = round(start_seconds / unit) * unit
    samples_a_block = MINUTE_SECONDS // unit
    before = next(n for n in range(samples_a_block) if (start - n * step_seconds) % 60 == 0)
    start -= before * step_seconds
    after = -(before + len(values)) % samples_a_block
    blocks = np.pad(values, (before, after), constant_values=np.nan).reshape(-1, samples_a_block)
    overlap = _overlap(samples_a_block, step_seconds // unit)
    covered = (~np.isnan(blocks)).astype(np.float64) @ overlap
    summed = np.nan_to_num(blocks) @ overlap
    minutes = np.full(covered.shape, np.nan)
    np.divide(summed, covered, out=minutes, where=covered * 2 >= samples_a_block)
    return _trim(start, minutes.ravel())


def _overlap(samples: int, minutes: int) -> FloatArray:
    """Return `[samples, minutes]`: units of time that a sample lasts in a minute of its block."""
    sample_ends = np.arange(1, samples + 1)[:, None] * minutes
    minute_ends = np.arange(1, minutes + 1)[None, :] * samples
    ends = np.minimum(sample_ends, minute_ends)
    starts = np.maximum(sample_ends - minutes, minute_ends - samples)
    overlap: FloatArray = np.maximum(ends - starts, 0).astype(np.float64)
    return overlap


def _trim(start: int, minutes: FloatArray) -> tuple[int, FloatArray]:
    known = np.flatnonzero(~np.isnan(minutes))
    first, last = int(known[0]), int(known[-1])
    return start + first * MINUTE_SECONDS, minutes[first : last + 1]


def _require_bounded_span(samples: Samples, step: int) -> None:
    """Refuse before any memory is asked for: one stray row may lie decades off the others."""
    first, last = samples.times.min(), samples.times.max()
    span = float(last - first)
    if span <= MAX_SPAN_SECONDS and span / step <= MAX_CELLS:
        return
    stray = int(np.argmax(np.diff(np.sort(samples.times))))
    row = int(np.argsort(samples.times, kind="stable")[stray + 1])
    most = min(MAX_SPAN_SECONDS, MAX_CELLS * step) / 86_400
    raise InputError(
        samples.place(row),
        f"the file spans {span / 86_400:,.0f} days, at most {most:,.0f} at a cadence of {step} s;"
        " its longest gap ends here",
    )


def _fit_phase(times: FloatArray, step: int) -> tuple[float, FloatArray]:
    """Return where the grid begins, and how many seconds each time lies beside it."""
    late = (times - times[0] + step / 2) % step - step / 2
    shift = float(np.median(late))
    base = float(times.min()) + shift
    late = (times - base + step / 2) % step - step / 2
    return float(times.min() - late[np.argmin(times)]), late


def _place(samples: Samples, base: float, step: int) -> _Cells:
    index = np.rint((samples.times - base) / step).astype(np.int64)
    is_same = np.append((np.diff(samples.keys) == 0) & (np.diff(index) == 0), False)
    starts = np.flatnonzero(~np.concatenate(([False], is_same[:-1])))
    counts = np.diff(np.append(starts, len(index)))
    values = np.add.reduceat(samples.values, starts) / counts
    keys = samples.keys[starts]
    return _Cells(
        index=index[starts],
        values=values,
        is_same_key=np.append(np.diff(keys) == 0, False),
        shared=int(counts[counts > 1].sum()),
    )


def _sum_over_keys(cells: _Cells, hold_cells: int) -> tuple[FloatArray, FloatArray]:
    """Return `[T]` sums and `[T]` numbers of keys; NaN where no key has a sample."""
    size = int(cells.index.max()) + 1
    is_seen = np.bincount(cells.index, minlength=size) > 0
    lasts = np.ones(len(cells.index), dtype=np.int64)
    distance = np.append(np.diff(cells.index), 1)
    is_held = cells.is_same_key & (distance > 1) & (distance - 1 <= hold_cells)
    lasts[is_held] = distance[is_held]
    ends = np.cumsum(lasts)
    offsets = np.arange(ends[-1]) - np.repeat(ends - lasts, lasts)
    index = np.repeat(cells.index, lasts) + offsets
    total = np.bincount(index, np.repeat(cells.values, lasts), size).astype(np.float64)
    count = np.bincount(index, minlength=size).astype(np.float64)
    total[~is_seen] = np.nan
    count[~is_seen] = np.nan
    return total, count


def _snap_warnings(base: float, late: FloatArray, step: int, shared: int) -> list[str]:
    warnings = []
    off = np.abs(late) > max(0.01 * step, 0.5)
    if off.any():
        warnings.append(
            f"{off.sum():,} times lie up to {np.abs(late).max():.3g} s beside the {step} s grid:"
            " moved onto it"
        )
    beside = base % gcd(step, MINUTE_SECONDS)
    if min(beside, 60 - beside) > 0.5 and step >= MINUTE_SECONDS:
        warnings.append(f"times lie {beside:.3g} s after the full minute: moved to the nearest one")
    if shared:
        warnings.append(f"{shared:,} rows share a step of {step} s with another: averaged")
    return warnings


def gap_warnings(values: FloatArray) -> list[str]:
    """Return a sentence about the unknown minutes in `values[T]`, if there are any."""
    is_gap = np.isnan(values)
    if not is_gap.any():
        return []
    gaps = int(np.count_nonzero(np.diff(is_gap.astype(np.int8)) == 1))
    what = "1 gap" if gaps == 1 else f"{gaps:,} gaps"
    share = is_gap.mean() * 100
    return [f"{what}, {is_gap.sum():,} minutes in all ({share:.2g} %): unknown"]
