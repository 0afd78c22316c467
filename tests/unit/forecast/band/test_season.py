from datetime import datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from gputide.forecast import History
from gputide.forecast.band.days import cut_days
from gputide.forecast.band.season import Season, day_weights, relate

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone


def _relate(levels: NDArray[np.float64]) -> Season:
    """Relate days of constant level with a little noise, [D]."""
    noise = np.random.default_rng(1).uniform(0.98, 1.02, (1, len(levels) * 288))
    values = np.repeat(levels, 288)[None] * noise
    history = History(values=values, step_seconds=300, start_local=START)
    return relate(cut_days(history, slice(None)))


def test_a_day_says_nothing_about_itself_and_weights_sum_to_one() -> None:
    weights = day_weights(np.ones((1, 6), np.float32), half_life_days=5)

    assert np.diagonal(weights[0, :6]).tolist() == [0] * 6
    assert weights.sum(axis=2) == pytest.approx(np.ones((1, 7)))


def test_lost_days_have_next_to_no_weight() -> None:
    trust = np.array([[1, 1, 0, 1]], np.float32)

    assert day_weights(trust, half_life_days=5)[0, -1, 2] < 1e-5


def test_days_like_the_one_a_week_ago_are_alike() -> None:
    week = np.array([10, 10, 10, 10, 10, 4, 4.0])

    saturday = _relate(np.tile(week, 3)[:19]).alike[0, -1]

    assert saturday[[5, 6, 12, 13]].sum() > 0.99


def test_without_a_weekly_pattern_every_day_is_alike() -> None:
    alike = _relate(np.full(14, 10.0)).alike[0, -1]

    assert (alike > 0.01).all()


def test_growth_is_measured_against_days_of_the_same_kind() -> None:
    week = np.array([10, 10, 10, 10, 10, 4, 4.0])

    usual = _relate(np.tile(week, 2)).growth[0, -1]
    grown = _relate(np.append(np.tile(week, 2)[:13], 6.0)).growth[0, -1]

    assert usual == pytest.approx(1, abs=0.1)
    assert grown > 1.3


def test_only_a_rise_over_two_weeks_is_a_trend() -> None:
    assert _relate(1.05 ** np.arange(14)).log_trend[0] == pytest.approx(7 * np.log(1.05), rel=0.1)
    assert _relate(0.95 ** np.arange(14)).log_trend[0] == 0
    assert _relate(1.05 ** np.arange(10)).log_trend[0] == 0


def test_the_last_hours_are_held_against_what_the_season_expects() -> None:
    values = np.ones((1, 14 * 288))
    values[:, -36:] = 2

    history = History(values=values, step_seconds=300, start_local=START)
    live = relate(cut_days(history, slice(None))).live

    assert live[0, -1] > 0.5
    assert np.median(np.abs(live[0, :-1])) < 0.01
