from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.forecast.bins import Bins, bin_history, steps_per_bin
from gputide.forecast.model import FloatArray, History

SATURDAY = datetime.fromisoformat("2024-01-06")
DAY = 1440


def bins_of(values: FloatArray) -> Bins:
    history = History(values=values, step_seconds=60, start_local=SATURDAY)
    return bin_history(history, rows=slice(None))


@pytest.mark.parametrize(("step", "steps"), [(60, 5), (300, 1), (120, 3), (7, 45), (3600, 1)])
def test_a_bin_is_the_shortest_from_five_minutes_on_that_divides_a_day(
    step: int, steps: int
) -> None:
    if 86_400 % step == 0:
        assert steps_per_bin(step) == steps


def test_a_bin_needs_half_of_its_minutes() -> None:
    values = np.random.default_rng(0).random((1, 2 * DAY))
    values[0, 10:13] = np.nan
    values[0, 20:22] = np.nan
    is_known = bins_of(values).is_known[0]
    assert is_known.tolist() == [at != 2 for at in range(2 * 288)]


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-6, 1e6), spike=st.floats(1, 1e6))
def test_an_outlier_weighs_little_more_than_a_peak(scale: float, spike: float) -> None:
    values = np.random.default_rng(0).random((1, 2 * DAY)) * scale
    values[0, 700] = spike * scale
    tamed = bins_of(values).values
    assert (np.abs(tamed) <= 1).all()
    assert np.sort(tamed[0])[-2] > 0.4


def test_days_are_the_last_whole_ones_and_know_their_weekend() -> None:
    bins = bins_of(np.ones((1, 4 * DAY + 100)))  # Saturday 01:40 on
    assert bins.day_count == 4
    assert bins.is_weekend.tolist() == [True, True, False, False]


def test_a_step_and_a_slow_drift_are_taken_out_and_the_day_is_kept() -> None:
    clock = np.arange(10 * DAY)
    wave = np.sin(2 * np.pi * clock / DAY)
    plain = bins_of((10 + wave)[None])
    stepped = bins_of((10 + wave + np.where(clock > 6 * DAY, 2.0, 0.0))[None])
    power = [float(np.square(bins.detrended()[0]).mean()) for bins in (plain, stepped)]
    spreads = [np.ptp(bins.values) for bins in (plain, stepped)]
    day_share = [p / s**2 for p, s in zip(power, spreads, strict=True)]
    assert day_share[0] == pytest.approx(1 / 8, rel=0.05)
    assert abs(stepped.detrended()[0].mean()) < 0.01


def test_a_lost_day_stays_zero_and_tilts_no_other() -> None:
    clock = np.arange(6 * DAY)
    values = (10 + np.sin(2 * np.pi * clock / DAY))[None]
    whole = bins_of(values.copy()).detrended()
    values[0, 2 * DAY : 3 * DAY] = np.nan
    torn = bins_of(values).detrended()
    assert not torn[0, 2 * 288 : 3 * 288].any()
    np.testing.assert_allclose(torn[0, 3 * 288 :], whole[0, 3 * 288 :], atol=0.03)


def test_blocks_are_means_of_what_is_known() -> None:
    values = np.tile(np.repeat([1.0, 3.0], DAY // 2), 2)[None]
    values[0, :DAY] = np.nan
    blocks, is_known = bins_of(values).blocks(2)
    assert is_known.tolist() == [[[False, False], [True, True]]]
    assert blocks[0, 1, 1] > blocks[0, 1, 0]
    assert blocks[0, 0].tolist() == [0, 0]
