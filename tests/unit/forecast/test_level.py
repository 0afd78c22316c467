from datetime import datetime

import numpy as np
import pytest

from gputide.forecast.level import level_starts
from gputide.forecast.model import FloatArray, History

DAY = 288


def starts(day_levels: list[float], *, first_day: str = "2024-01-01") -> list[int]:
    """Return the day where the present level began, of a load with these means of its days."""
    rng = np.random.default_rng(0)
    clock = np.arange(len(day_levels) * DAY)
    shape = 1 + 0.5 * np.sin(2 * np.pi * clock / DAY) + 0.1 * rng.random(len(clock))
    values: FloatArray = np.repeat(np.array(day_levels, float), DAY) * shape
    start = datetime.fromisoformat(first_day)
    history = History(values=values[None], step_seconds=300, start_local=start)
    return [int(column) // DAY for column in level_starts(history)]


@pytest.mark.parametrize("factor", [3.0, 1 / 3, 80.0])
def test_a_lasting_shift_up_or_down_begins_a_new_level(factor: float) -> None:
    assert starts([1.0] * 8 + [factor] * 6) == [8]


def test_the_last_of_two_shifts_is_not_mixed_up_with_the_first() -> None:
    assert starts([1.0] * 5 + [2.0] * 5 + [9.0] * 4) == [10]


def test_weekends_are_no_new_level() -> None:
    week = [1.0] * 5 + [0.2] * 2
    assert starts(week + week) == [0]
    assert starts(week) == [0]


def test_a_steady_climb_has_no_shift() -> None:
    assert starts([1.1**day for day in range(14)]) == [0]


def test_one_hot_day_is_no_new_level() -> None:
    assert starts([1.0] * 6 + [4.0] + [1.0] * 7) == [0]


def test_lost_days_do_not_hide_a_shift() -> None:
    assert starts([1.0] * 4 + [np.nan] + [1.0] * 3 + [3.0] * 3 + [np.nan] + [3.0] * 2) == [8]


def test_waking_from_nothing_is_a_shift() -> None:
    assert starts([0.0] * 7 + [3.0] * 7) == [7]


def test_three_days_are_too_few_to_tell() -> None:
    assert starts([1.0, 1.0, 9.0]) == [0]
