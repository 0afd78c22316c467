"""Fewer points that still show every peak: least and most of each bucket."""

from dataclasses import dataclass, replace

import numpy as np

from gputide.charts.model import Chart, FloatArray, Line

MAX_POINTS = 12_000
"""Points a line in one page: above a 4k screen's pixels, below a megabyte of text a chart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """A chart with at most so many points, and what each pair of them stands for."""

    chart: Chart
    bucket: int
    """Values that one pair of points stands for; 1: nothing was left out."""


def thin(chart: Chart, *, max_points: int = MAX_POINTS) -> Thinned:
    """Return the chart with at most `max_points` (at least 2) times.

    Each bucket of consecutive values becomes two points, its least and its most in the order in
    which they came. A bucket that is mostly unknown stays unknown.
    """
    count = len(chart.unix_seconds)
    if count <= max_points:
        return Thinned(chart=chart, bucket=1)
    bucket = -(-count // (max_points // 2))
    starts = chart.unix_seconds[::bucket]
    step = (chart.unix_seconds[-1] - chart.unix_seconds[0]) / (count - 1)
    times = np.column_stack([starts, starts + step * bucket / 2]).ravel()
    lines = tuple(_thin_line(line, bucket) for line in chart.lines)
    return Thinned(chart=replace(chart, unix_seconds=times, lines=lines), bucket=bucket)


def _thin_line(line: Line, bucket: int) -> Line:
    if line.lower is not None:  # a band keeps its widest extent: the least below, the most above
        low, high = extremes(line.lower, bucket)[0], extremes(line.values, bucket)[1]
        return replace(line, lower=np.repeat(low, 2), values=np.repeat(high, 2))
    return replace(line, values=_in_order(line.values, bucket))


def extremes(values: FloatArray, bucket: int) -> tuple[FloatArray, FloatArray]:
    """Return each bucket's least and most, `[ceil(T / bucket)]`; NaN where mostly unknown."""
    rows = _rows(values, bucket)
    is_known = ~np.isnan(rows)
    is_empty = 2 * is_known.sum(axis=1) < np.minimum(bucket, _filled(len(values), bucket))
    is_empty |= ~is_known.any(axis=1)
    least = np.where(is_known, rows, np.inf).min(axis=1)
    most = np.where(is_known, rows, -np.inf).max(axis=1)
    return np.where(is_empty, np.nan, least), np.where(is_empty, np.nan, most)


def _in_order(values: FloatArray, bucket: int) -> FloatArray:
    least, most = extremes(values, bucket)
    rows = _rows(values, bucket)
    is_known = ~np.isnan(rows)
    is_rising = np.where(is_known, rows, np.inf).argmin(axis=1) <= np.where(
        is_known, rows, -np.inf
    ).argmax(axis=1)
    first, second = np.where(is_rising, least, most), np.where(is_rising, most, least)
    return np.column_stack([first, second]).ravel()


def _rows(values: FloatArray, bucket: int) -> FloatArray:
    padding = -len(values) % bucket
    return np.append(values, np.full(padding, np.nan)).reshape(-1, bucket)


def _filled(count: int, bucket: int) -> FloatArray:
    """Return how many real values each bucket holds; the last one may be cut short."""
    filled = np.full(-(-count // bucket), float(bucket))
    filled[-1] = count - bucket * (len(filled) - 1)
    return filled
