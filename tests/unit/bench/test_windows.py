"""The benchmark's own honesty: nobody is shown what comes after the moment of the forecast."""

from datetime import datetime

import numpy as np
import pytest
from bench.boosting import boosted_trees
from bench.opponents import CONTESTANTS, Contestant
from bench.traces import Load
from bench.windows import Task, actual_of, origins_of, window_of

PER_DAY = 288
DAYS = 9
HISTORY_DAYS = 7


def load_of(values: np.ndarray, *, step_seconds: int = 300) -> Load:
    return Load(
        name="tide",
        values=values,
        start_local=datetime.fromisoformat("2024-01-03T05:00"),
        step_seconds=step_seconds,
    )


def tide(days: int = DAYS, per_day: int = PER_DAY) -> np.ndarray:
    clock = np.arange(days * per_day)
    noise = np.random.default_rng(0).random(len(clock))
    return 5 + 4 * np.sin(2 * np.pi * clock / per_day) + noise


def all_contestants() -> list[Contestant]:
    return [*CONTESTANTS.values(), boosted_trees]


@pytest.mark.parametrize("contestant", all_contestants(), ids=lambda one: one.__name__)
@pytest.mark.parametrize("task", Task, ids=lambda task: task.title)
def test_what_comes_later_changes_no_bound_that_was_issued_before(
    contestant: Contestant, task: Task
) -> None:
    if contestant is boosted_trees:
        pytest.importorskip("sklearn", reason="the boosted opponent needs scikit-learn")
    values = tide(per_day=1440)
    changed = values.copy()
    origin, issue = HISTORY_DAYS * 1440, 700
    moment = origin if task is Task.DAY_AHEAD else origin + issue
    changed[moment:] = 1000
    bounds = [
        contestant(
            window_of(load_of(series, step_seconds=60), origin, task, history_days=HISTORY_DAYS),
            task,
            0.95,
        )
        for series in (values, changed)
    ]
    last = 1440 if task is Task.DAY_AHEAD else issue + 1
    np.testing.assert_array_equal(bounds[0][:last], bounds[1][:last])
    assert len(bounds[0]) == 1440
    assert not np.isnan(bounds[0]).any()


@pytest.mark.parametrize("contestant", CONTESTANTS.values(), ids=lambda one: one.__name__)
def test_what_came_before_does_matter(contestant: Contestant) -> None:
    origin = HISTORY_DAYS * PER_DAY
    bounds = [
        contestant(
            window_of(load_of(tide() * factor), origin, Task.DAY_AHEAD, history_days=HISTORY_DAYS),
            Task.DAY_AHEAD,
            0.95,
        )
        for factor in (1, 3)
    ]
    assert (bounds[1] > 1.5 * bounds[0]).all()


@pytest.mark.parametrize("task", Task, ids=lambda task: task.title)
def test_an_actual_is_the_highest_of_what_the_issue_speaks_of(task: Task) -> None:
    values = np.arange(10.0 * 1440)
    origin = 8 * 1440
    actual = actual_of(load_of(values, step_seconds=60), origin, task)
    last = task.value.last_step if task.value else 1
    expected = origin - 1 + np.arange(1440) + last
    np.testing.assert_array_equal(actual[:1000], expected[:1000])
    assert len(actual) == 1440


def test_what_lies_after_the_trace_is_unknown() -> None:
    values = np.arange(9.0 * 1440)
    actual = actual_of(load_of(values, step_seconds=60), 8 * 1440, Task.SIX_HOURS)
    assert np.isnan(actual[-359:]).all()
    assert not np.isnan(actual[:-359]).any()


def test_origins_have_their_history_before_and_a_day_after_them() -> None:
    origins = origins_of(load_of(tide(20)), history_days=HISTORY_DAYS, max_origins=5)
    assert len(origins) == 5
    assert origins[0] == HISTORY_DAYS * PER_DAY
    assert origins[-1] == 19 * PER_DAY
    assert len({origin % PER_DAY for origin in origins}) > 1, "not only at one time of day"


def test_a_short_trace_has_no_origin() -> None:
    assert origins_of(load_of(tide(7)), history_days=HISTORY_DAYS, max_origins=5) == []


def test_a_window_keeps_its_clock() -> None:
    window = window_of(load_of(tide()), 8 * PER_DAY, Task.DAY_AHEAD, history_days=7)
    assert window.start_local == datetime.fromisoformat("2024-01-04T05:00")
    assert len(window.values) == window.origin == 7 * PER_DAY
