"""Sliding maxima and means agree with their definitions, unknown minutes included."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.forecast.lead.windows import (
    highest_known,
    lagged,
    mean_known,
    trailing_max,
    trailing_mean,
)

series = st.lists(st.one_of(st.none(), st.integers(0, 1000)), min_size=1, max_size=40)


def array_of(values: list[int | None]) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float32)


@settings(deadline=None, max_examples=60)
@given(values=series, width=st.integers(1, 50))
def test_a_trailing_maximum_is_the_highest_known_of_the_window(
    values: list[int | None], width: int
) -> None:
    highs = np.nan_to_num(array_of(values), nan=-np.inf)

    expected = [highs[max(0, i - width + 1) : i + 1].max() for i in range(len(highs))]

    assert trailing_max(highs, width).tolist() == expected


@settings(deadline=None, max_examples=60)
@given(values=series, width=st.integers(1, 50))
def test_a_trailing_mean_is_the_mean_of_the_known_of_the_window(
    values: list[int | None], width: int
) -> None:
    array = array_of(values)
    windows = [array[max(0, i - width + 1) : i + 1] for i in range(len(array))]

    expected = [np.nan if np.isnan(w).all() else np.nanmean(w) for w in windows]

    np.testing.assert_allclose(trailing_mean(array, width), expected, rtol=1e-5)


def test_a_window_far_back_leaves_no_trace_in_the_mean() -> None:
    values = np.array([1e7] * 5 + [0.1] * 5, dtype=np.float32)

    np.testing.assert_allclose(trailing_mean(values, 3)[-1], 0.1, rtol=1e-6)


def test_a_negative_lag_looks_ahead() -> None:
    values = np.array([1, 2, 3], dtype=np.float32)

    assert lagged(values, -2, fill=0).tolist() == [3, 0, 0]
    assert lagged(values, 0).tolist() == [1, 2, 3]


def test_days_count_only_where_enough_of_them_are_known() -> None:
    days = np.array([[[np.nan, 1], [np.nan, 2], [3, 6]]], dtype=np.float32)

    assert mean_known(days, least=1).tolist() == [[3, 3]]
    assert highest_known(days, least=1).tolist() == [[3, 6]]
    np.testing.assert_array_equal(mean_known(days, least=2), [[np.nan, 3]])
    np.testing.assert_array_equal(highest_known(days, least=2), [[np.nan, 6]])
