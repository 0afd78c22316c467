"""Requests in flight, against counting second by second."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.backtest.load.concurrency import busy_by_minute

REQUESTS = st.lists(st.tuples(st.integers(0, 599), st.integers(0, 900)), min_size=1, max_size=40)


@given(requests=REQUESTS)
@settings(deadline=None)
def test_minutes_hold_the_exact_overlap(requests: list[tuple[int, int]]) -> None:
    by_second = np.zeros(600)
    for start, seconds in requests:
        by_second[start : start + seconds] += 1

    starts, seconds = np.array(requests, dtype=np.float64).T
    busy = busy_by_minute(starts + 6000, seconds, first_seconds=6000, minutes=10)

    np.testing.assert_allclose(busy, by_second.reshape(10, 60).mean(axis=1), atol=1e-9)


def test_a_minute_can_be_full_to_the_brim() -> None:
    busy = busy_by_minute(np.array([0.0, 0.0]), np.array([60.0, 180.0]), first_seconds=0, minutes=3)

    assert busy.tolist() == [2, 1, 1]
