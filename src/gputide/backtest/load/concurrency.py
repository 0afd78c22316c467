"""From a log of requests to the work in progress: how many ran at once, minute by minute."""

import numpy as np

from gputide.backtest.model import FloatArray

MINUTE_SECONDS = 60


def busy_by_minute(
    starts: FloatArray, durations: FloatArray, *, first_seconds: int, minutes: int
) -> FloatArray:
    """Return `[minutes]` mean concurrency: the exact overlap of each request with each minute.

    `starts[N]` are Unix seconds at or after `first_seconds`, `durations[N]` seconds. What lasts
    beyond the last minute is cut there.

    >>> busy_by_minute(np.array([30.0]), np.array([60.0]), first_seconds=0, minutes=2)
    array([0.5, 0.5])
    """
    end = float(minutes * MINUTE_SECONDS)
    begins = np.minimum(starts - first_seconds, end)
    ends = np.minimum(begins + durations, end)
    first = np.minimum(begins // MINUTE_SECONDS, minutes - 1).astype(np.int64)
    last = np.minimum(ends // MINUTE_SECONDS, minutes - 1).astype(np.int64)
    is_within = first == last
    head = np.where(is_within, ends - begins, (first + 1) * MINUTE_SECONDS - begins)
    tail = np.where(is_within, 0, ends - last * MINUTE_SECONDS)
    seconds = np.bincount(first, head, minutes) + np.bincount(last, tail, minutes)
    opened = np.bincount(first[~is_within] + 1, minlength=minutes + 1)
    closed = np.bincount(last[~is_within], minlength=minutes + 1)
    whole = np.cumsum(opened - closed)[:minutes]
    busy: FloatArray = seconds / MINUTE_SECONDS + whole
    return busy
