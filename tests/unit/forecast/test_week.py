from datetime import datetime

import numpy as np
import pytest

from gputide.forecast.bins import bin_history
from gputide.forecast.model import FloatArray, History
from gputide.forecast.week import weekly_shares

PER_DAY = 288


def share(day_levels: list[float], *, first_day: str = "2024-01-01") -> float:
    """Return the weekly share of a load with these peaks of its days under noise."""
    clock = np.arange(len(day_levels) * PER_DAY)
    shape = 1 - np.cos(2 * np.pi * clock / PER_DAY)
    noise = np.random.default_rng(0).random(len(clock))
    values: FloatArray = np.repeat(np.array(day_levels), PER_DAY) * shape + 0.2 * noise
    start = datetime.fromisoformat(first_day)
    history = History(values=values[None], step_seconds=300, start_local=start)
    return float(weekly_shares(bin_history(history, rows=slice(None)))[0])


WEEK = [1.0, 1.1, 1.0, 1.1, 1.0, 0.2, 0.2]


@pytest.mark.parametrize("weeks", [2, 3, 4])
def test_quiet_weekends_make_a_week(weeks: int) -> None:
    assert 0.05 < share(WEEK * weeks) < 0.9


def test_one_hot_weekday_makes_a_week() -> None:
    assert share([1.0, 1, 1, 3, 1, 1, 1] * 2) > 0.05


def test_equal_days_make_none() -> None:
    assert share([1.0] * 14) == 0


def test_a_climb_makes_none() -> None:
    assert share([1 + 0.1 * day for day in range(21)]) == 0


def test_a_rhythm_of_three_days_is_no_week() -> None:
    assert share([1.0, 1.0, 2.0] * 7) == 0


def test_nine_days_make_a_week_only_where_the_calendar_says_weekend() -> None:
    assert share(WEEK + WEEK[:2]) > 0
    assert share(WEEK + WEEK[:2], first_day="2024-01-03") == 0


def test_a_lost_day_hides_no_week() -> None:
    levels = WEEK * 3
    levels[9] = float("nan")
    assert share(levels) > 0.05


def test_seven_days_are_too_few() -> None:
    assert share(WEEK) == 0
