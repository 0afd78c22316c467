import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.forecast.outlier import find_outliers

DAY = 1440


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-6, 1.0, 1e9]))
def test_what_noise_and_a_daily_wave_make_is_never_an_outlier(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.abs(1 + np.sin(2 * np.pi * np.arange(5 * DAY) / DAY) + rng.normal(size=5 * DAY))
    assert not find_outliers(values[None] * scale, DAY).any()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 2))
def test_lone_spikes_are_found_between_gaps(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    values = 5 + np.sin(2 * np.pi * np.arange(5 * DAY) / DAY) + 0.1 * rng.random(5 * DAY)
    values[rng.random(5 * DAY) < 0.1] = np.nan
    at = 1000 + 2500 * np.arange(count)
    values[at] = 100
    assert np.flatnonzero(find_outliers(values[None], DAY)).tolist() == at.tolist()


def test_a_history_of_minutes_has_no_outliers() -> None:
    assert not find_outliers(np.array([[1.0, 50, 1]]), DAY).any()
