import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from gputide.charts.model import Chart, Color, Line
from gputide.charts.thin import thin

VALUES = npst.arrays(
    np.float64,
    st.integers(2, 400),
    elements=st.one_of(st.floats(0, 1e6), st.just(float("nan"))),
)


def chart_of(values: np.ndarray, lower: np.ndarray | None = None) -> Chart:
    line = Line(label="load", values=values, color=Color.ACTUAL, lower=lower)
    times = 1_700_000_000 + 60.0 * np.arange(len(values))
    return Chart(title="t", meaning="m", unit="", unix_seconds=times, lines=(line,))


@settings(deadline=None, max_examples=60)
@given(values=VALUES, max_points=st.integers(2, 500))
def test_no_point_is_invented_and_no_more_than_asked_for_remain(
    values: np.ndarray, max_points: int
) -> None:
    thinned = thin(chart_of(values), max_points=max_points)

    left = thinned.chart.lines[0].values
    known = left[np.isfinite(left)]
    assert len(left) == len(thinned.chart.unix_seconds)
    assert len(left) <= max(max_points, 2)
    assert np.isin(known, values).all()


@settings(deadline=None, max_examples=60)
@given(values=npst.arrays(np.float64, st.integers(2, 400), elements=st.floats(0, 1e6)))
def test_the_peak_and_the_trough_of_every_bucket_stay(values: np.ndarray) -> None:
    thinned = thin(chart_of(values), max_points=20)

    left = thinned.chart.lines[0].values
    for start in range(0, len(values), thinned.bucket):
        bucket = values[start : start + thinned.bucket]
        at = slice(2 * (start // thinned.bucket), 2 * (start // thinned.bucket) + 2)
        if thinned.bucket > 1:
            assert {left[at].min(), left[at].max()} == {bucket.min(), bucket.max()}


def test_a_short_series_is_left_alone() -> None:
    chart = chart_of(np.arange(10.0))

    assert thin(chart, max_points=10).chart is chart


def test_least_and_most_come_in_the_order_of_the_load() -> None:
    values = np.concatenate([np.arange(100.0), np.arange(100.0)[::-1]])

    left = thin(chart_of(values), max_points=4).chart.lines[0].values

    assert left.tolist() == [0, 99, 99, 0]


def test_a_gap_stays_a_gap() -> None:
    values = np.ones(1000)
    values[300:500] = np.nan

    left = thin(chart_of(values), max_points=100).chart.lines[0].values

    assert np.isnan(left[30:50]).all()
    assert np.isfinite(left[:30]).all()
    assert np.isfinite(left[50:]).all()


def test_a_band_keeps_its_widest_extent() -> None:
    rng = np.random.default_rng(1)
    lower, upper = rng.uniform(0, 1, 1000), rng.uniform(2, 3, 1000)

    line = thin(chart_of(upper, lower), max_points=10).chart.lines[0]

    assert line.lower is not None
    assert line.lower.min() == lower.min()
    assert line.values.max() == upper.max()


@pytest.mark.parametrize("count", [11, 999, 1000, 1001])
def test_times_stay_within_the_series_and_rise(count: int) -> None:
    chart = chart_of(np.ones(count))

    times = thin(chart, max_points=10).chart.unix_seconds

    assert (np.diff(times) > 0).all()
    assert times[0] == chart.unix_seconds[0]
    assert times[-1] <= chart.unix_seconds[-1] + 60 * count / 5
