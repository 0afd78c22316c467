from datetime import datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from gputide.forecast import History
from gputide.forecast.band.days import Days, cut_days

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone


def _cut(values: NDArray[np.float64], step_seconds: int = 60) -> Days:
    history = History(values=np.atleast_2d(values), step_seconds=step_seconds, start_local=START)
    return cut_days(history, slice(None))


def test_days_end_where_the_history_ends() -> None:
    days = _cut(np.arange(2 * 1440 + 100, dtype=float) + 1)

    assert days.count == 2
    assert days.peak[0, -1, -1] * days.scale[0] == pytest.approx(2 * 1440 + 100)


def test_half_a_day_or_more_at_the_start_makes_a_day_of_less_trust() -> None:
    days = _cut(np.ones(2 * 1440 + 800))

    assert days.count == 3
    assert days.trust[0] == pytest.approx([800 / 1440, 1, 1], abs=1e-3)


def test_bins_hold_mean_and_peak_of_their_known_steps() -> None:
    values = np.ones(2 * 1440)
    values[1440:1445] = [1, np.nan, 3, 1, 3]

    days = _cut(values)

    assert days.mean[0, 1, 0] * days.scale[0] == pytest.approx(2)
    assert days.peak[0, 1, 0] * days.scale[0] == pytest.approx(3)


def test_a_gap_takes_the_other_days_and_is_no_sample() -> None:
    values = np.repeat([1.0, 2.0, 3.0], 1440)
    values[1440 + 60 : 1440 + 180] = np.nan

    days = _cut(values)

    gap = days.mean[0, 1, 12:36] * days.scale[0]
    assert gap == pytest.approx(np.full(24, 2.0))
    inside = (days.sampled_bins >= 12) & (days.sampled_bins < 36)
    assert np.isnan(days.samples[0, 1, inside]).all()
    assert not np.isnan(days.samples[0, 1, ~inside]).any()


def test_a_day_with_less_than_half_its_values_is_lost() -> None:
    values = np.ones(3 * 1440)
    values[1440 : 1440 + 800] = np.nan

    assert _cut(values).trust[0].tolist() == [1, 0, 1]


def test_samples_come_from_every_minute_of_the_hour() -> None:
    minutes = np.tile(np.arange(60.0), 24 * 2) + 1

    days = _cut(minutes)

    assert set(np.rint(days.samples[0, 0] * days.scale[0]).astype(int)) == set(range(1, 61))


def test_steps_longer_than_a_bin_are_their_own_bins() -> None:
    days = _cut(np.arange(48.0), step_seconds=3600)

    assert days.mean.shape == (1, 2, 24)
    assert days.samples.shape == (1, 2, 24)
