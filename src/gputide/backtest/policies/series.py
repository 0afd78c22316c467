"""The forecasts that policies read: one value a minute, but for the oracle from the past alone."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

DAY_MINUTES = 1440
WEEK_MINUTES = 7 * DAY_MINUTES
CRANE_MARGIN_RATIO = 0.1
CRANE_HORIZON_MINUTES = 60
CRANE_HISTORY_DAYS = 15
MINUTE_SECONDS = 60

LAST_DAY = "last-day"
LAST_WEEK = "last-week"
CRANE = "crane"
ORACLE = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesTable:
    """Named forecasts over one grid of minutes: `values[F, T]` in the unit of the demand."""

    names: tuple[str, ...]
    values: FloatArray


def lead_minutes(start_delay_seconds: float) -> int:
    """Return how many minutes pass between a decision and its effect, rounded up."""
    return ceil(start_delay_seconds / MINUTE_SECONDS)


def window_max(values: FloatArray, *, first: int, last: int) -> FloatArray:
    """Return `[T]`: the maximum of the known over minutes t + first to t + last; NaN where none is.

    >>> window_max(np.array([1.0, 3.0, 2.0, np.nan]), first=0, last=1).tolist()
    [3.0, 3.0, 2.0, nan]
    """
    total = len(values)
    known = np.where(np.isnan(values), -np.inf, values)
    before, after = max(0, -first), max(0, last)
    padded = np.pad(known, (before, after), constant_values=-np.inf)
    start = before + first
    out = sliding_window_view(padded, last - first + 1)[start : start + total].max(axis=1)
    return np.where(np.isneginf(out), np.nan, out)


def shifted(values: FloatArray, minutes: int) -> FloatArray:
    """Return `[T]`: the value of so many minutes before; NaN where there is none."""
    out = np.full_like(values, np.nan)
    if minutes < len(values):
        out[minutes:] = values[: len(values) - minutes]
    return out


def naive_series(demand: FloatArray, *, start_delay_seconds: float) -> SeriesTable:
    """Return what last day, last week, crane and the oracle expect, each minute of `demand[T]`."""
    lead = lead_minutes(start_delay_seconds)
    coming = window_max(demand, first=0, last=lead)
    hour = window_max(demand, first=0, last=CRANE_HORIZON_MINUTES)
    crane = np.full_like(demand, np.nan)
    for day in range(1, min(CRANE_HISTORY_DAYS, len(demand) // DAY_MINUTES) + 1):
        crane = np.fmax(crane, shifted(hour, day * DAY_MINUTES))
    rows = {
        LAST_DAY: shifted(coming, DAY_MINUTES),
        LAST_WEEK: shifted(coming, WEEK_MINUTES),
        CRANE: crane * (1 + CRANE_MARGIN_RATIO),
        ORACLE: coming,
    }
    return SeriesTable(names=tuple(rows), values=np.stack(list(rows.values())))
