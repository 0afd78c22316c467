from datetime import datetime

import numpy as np
import pytest

from gputide.forecast.clean import Soundness, gap_seconds, inspect
from gputide.forecast.model import FloatArray, History

MONDAY = datetime.fromisoformat("2024-01-01")
DAY = 1440


def wave(days: int = 14, *, rows: int = 1, seed: int = 0) -> FloatArray:
    """A smooth day between 1 and 9 with little noise, `[rows, T]`."""
    minute = np.arange(days * DAY)
    noise = np.random.default_rng(seed).random((rows, days * DAY))
    return 5 + 4 * np.sin(2 * np.pi * minute / DAY) + 0.2 * noise


def soundness(values: FloatArray, *, capacity: float | None = None) -> Soundness:
    history = History(values=values, step_seconds=60, start_local=MONDAY)
    return inspect(history, capacity=capacity)


def test_a_sound_load_is_usable_as_a_whole() -> None:
    found = soundness(wave())
    assert found.is_usable.all()
    assert not found.is_lost_day.any()
    assert not found.is_part_day.any()
    assert found.known_ratio.tolist() == [1]
    assert found.level_start_step.tolist() == [0]
    assert not found.is_flat.any()
    assert not found.is_intermittent.any()


def test_lost_and_partly_lost_days_are_told_apart() -> None:
    values = wave(4)
    values[0, DAY : 2 * DAY] = np.nan
    values[0, 2 * DAY : 2 * DAY + 600] = np.nan
    values[0, 3 * DAY : 3 * DAY + 100] = np.nan
    found = soundness(values)
    assert found.is_lost_day.tolist() == [[False, True, False, False]]
    assert found.is_part_day.tolist() == [[False, False, True, False]]
    assert found.longest_gap_seconds.tolist() == [(DAY + 600) * 60]


def test_days_are_counted_back_from_the_newest_value() -> None:
    values = wave(3)[:, 300:]
    values[0, -DAY:] = np.nan
    assert soundness(values).day_known_ratio.tolist() == [[1, 0]]


def test_each_missing_minute_knows_how_long_its_gap_is() -> None:
    history = History(
        values=np.array([[1.0, np.nan, np.nan, 2, np.nan]]), step_seconds=60, start_local=MONDAY
    )
    assert gap_seconds(history).tolist() == [[0, 120, 120, 0, 60]]


def test_a_spike_that_no_other_day_knows_is_an_outlier() -> None:
    values = wave()
    values[0, 7000] = 50
    values[0, 9000:9002] = 40
    assert np.flatnonzero(soundness(values).is_outlier).tolist() == [7000, 9000, 9001]


def test_a_drop_of_a_minute_is_an_outlier() -> None:
    values = wave() + 5
    values[0, 7000] = 0
    assert np.flatnonzero(soundness(values).is_outlier).tolist() == [7000]


def test_a_daily_peak_of_one_minute_is_no_outlier() -> None:
    values = wave()
    values[0, 600::DAY] = 50
    assert not soundness(values).is_outlier.any()


def test_a_daily_peak_that_comes_ten_minutes_early_is_no_outlier() -> None:
    values = wave()
    values[0, 600 + DAY * np.arange(14) - 10 * (np.arange(14) % 2)] = 50
    assert not soundness(values).is_outlier.any()


def test_a_burst_of_many_minutes_is_no_outlier() -> None:
    values = wave()
    values[0, 7000:7010] = 50
    assert not soundness(values).is_outlier.any()


def test_bursts_that_come_all_the_time_are_the_load_itself() -> None:
    values = wave()
    values[0, np.random.default_rng(1).choice(14 * DAY, 60, replace=False)] = 50
    assert not soundness(values).is_outlier.any()


def test_a_reading_that_stops_moving_is_stuck() -> None:
    values = wave()
    values[0, 5000:5600] = values[0, 5000]
    assert np.flatnonzero(soundness(values).is_stuck).tolist() == list(range(5000, 5600))


@pytest.mark.parametrize(
    "load", [np.full((1, 7 * DAY), 3.0), np.rint(wave()), np.maximum(wave() - 4, 0)]
)
def test_constant_whole_and_idle_loads_are_not_stuck(load: FloatArray) -> None:
    assert not soundness(load).is_stuck.any()


def test_flat_means_that_nothing_moves() -> None:
    rng = np.random.default_rng(0)
    values = np.vstack([np.zeros(7 * DAY), 5 + 0.01 * rng.random(7 * DAY), wave(7)[0]])
    assert soundness(values).is_flat.tolist() == [True, True, False]


def test_intermittent_means_mostly_zero() -> None:
    values = np.where(np.arange(7 * DAY) % 200 < 10, 4.0, 0.0)[None]
    found = soundness(values)
    assert found.is_intermittent.tolist() == [True]
    assert found.is_flat.tolist() == [False]


def test_values_near_the_capacity_are_lower_bounds() -> None:
    values = np.minimum(wave(7) / 8, 1)
    assert soundness(values).censored_ratio.tolist() == [0]
    share = soundness(values, capacity=1.0).censored_ratio[0]
    assert share == pytest.approx((values >= 0.95).mean())


def test_what_the_history_marks_as_censored_stays_so() -> None:
    marked = np.zeros((1, 7 * DAY), bool)
    marked[0, :720] = True
    history = History(values=wave(7), step_seconds=60, start_local=MONDAY, is_censored=marked)
    assert inspect(history).censored_ratio.tolist() == [pytest.approx(720 / (7 * DAY))]


@pytest.mark.parametrize("shape", [(0, 100), (2, 0), (2, 7)])
def test_next_to_nothing_can_be_inspected(shape: tuple[int, int]) -> None:
    found = soundness(np.full(shape, np.nan))
    assert found.known_ratio.tolist() == [0] * shape[0]
    assert found.day_known_ratio.shape == (shape[0], 0)
