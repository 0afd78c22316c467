from datetime import datetime

import numpy as np
import pytest

from gputide.forecast.model import FloatArray, History
from gputide.forecast.peers import naive_scores, scores_of, walk_forward

MONDAY = datetime.fromisoformat("2024-01-01")
PER_DAY = 24


def hourly(days: FloatArray) -> History:
    """A load of hourly values, the same all day."""
    values = np.repeat(days, PER_DAY)[None]
    return History(values=values, step_seconds=3600, start_local=MONDAY)


def test_peers_lose_what_their_rule_makes_them_lose() -> None:
    scores = naive_scores(hourly(np.array([1.0, 3, 2])), 0.9)  # scored: days 3 and 2
    losses = {name: float(score.pinball_loss_ratio[0]) for name, score in scores.items()}
    assert losses["last-day"] == pytest.approx((0.9 * 2 + 0.1 * 1) / 2 / 2.5)
    assert losses["max-of-days"] == losses["last-day"]
    assert losses["persistence"] == losses["last-day"]
    assert np.isnan(losses["last-week"])


def test_last_week_is_right_where_weeks_repeat() -> None:
    week = [1.0, 2, 3, 4, 5, 6, 7]
    scores = naive_scores(hourly(np.array(week + week)), 0.9)
    assert scores["last-week"].pinball_loss_ratio.tolist() == [0]
    assert scores["last-week"].coverage_ratio.tolist() == [1]


def test_persistence_is_right_where_days_are_level() -> None:
    assert naive_scores(hourly(np.full(4, 5.0)), 0.9)["persistence"].pinball_loss_ratio == 0


def test_a_walk_forward_shows_each_forecast_only_what_was_before() -> None:
    history = hourly(np.array([1.0, 2, 3, 4, 5]))
    seen: list[float] = []

    def repeat_last_day(past: History) -> FloatArray:
        seen.append(float(past.values[0, -1]))
        return past.values[:, -PER_DAY:]

    scores = walk_forward(history, 0.5, repeat_last_day, day_count=3)
    assert seen == [2, 3, 4]
    assert scores.coverage_ratio.tolist() == [0]
    assert scores.pinball_loss_ratio.tolist() == [pytest.approx(0.5 * 1 / 4)]


def test_one_day_leaves_nothing_to_walk() -> None:
    scores = walk_forward(hourly(np.ones(1)), 0.5, lambda past: past.values)
    assert np.isnan(scores.coverage_ratio).all()


def test_a_censored_value_under_the_bound_costs_nothing() -> None:
    marks = np.array([[True, False]])
    scores = scores_of(np.array([[1.0, 2]]), np.array([[5.0, 2]]), 0.9, is_censored=marks)
    assert scores.pinball_loss_ratio.tolist() == [0]


@pytest.mark.parametrize("days", [0, 1])
def test_too_short_histories_score_nothing(days: int) -> None:
    scores = naive_scores(hourly(np.ones(days)), 0.9)
    assert all(np.isnan(score.pinball_loss_ratio).all() for score in scores.values())
