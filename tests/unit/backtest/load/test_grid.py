"""Cadence, jitter, gaps: from uneven times to minutes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.backtest.load.grid import MinuteGrid, to_minute_grid, to_minutes
from gputide.backtest.load.samples import Samples
from gputide.errors import InputError

T0 = 1_700_000_040


def samples_at(times: object, values: object = None) -> Samples:
    at = np.asarray(times, dtype=np.float64)
    return Samples(
        name="load.csv",
        times=at,
        values=np.ones(len(at)) if values is None else np.asarray(values, dtype=np.float64),
        keys=np.zeros(len(at), dtype=np.int64),
        lines=np.arange(2, len(at) + 2),
    )


def grid_of(times: object, values: object = None) -> MinuteGrid:
    return to_minute_grid(samples_at(times, values), hold_seconds=300)


@given(
    step=st.sampled_from([1, 2, 7, 15, 30, 57, 60, 61, 90, 120, 300, 900, 3600, 3599]),
    count=st.integers(80, 300),
    phase=st.integers(0, 59),
)
@settings(deadline=None, max_examples=60)
def test_a_constant_level_stays_constant_at_any_cadence(step: int, count: int, phase: int) -> None:
    grid = grid_of(T0 + phase + step * np.arange(count), np.full(count, 3.25))

    np.testing.assert_allclose(grid.values, 3.25)
    assert grid.recorded_step_seconds == step
    assert abs(len(grid.values) - count * step / 60) <= 1.5
    assert abs(grid.start_seconds - (T0 + phase)) <= 60


@given(
    values=st.lists(st.floats(0, 1e6), min_size=4, max_size=60), step=st.sampled_from([60, 300, 15])
)
@settings(deadline=None, max_examples=60)
def test_cadences_that_fit_a_minute_lose_no_precision(values: list[float], step: int) -> None:
    grid = grid_of(T0 + step * np.arange(len(values)), values)

    if step >= 60:
        assert grid.values.tolist() == np.repeat(values, step // 60).tolist()
    else:
        whole = np.array(values[: len(values) // 4 * 4]).reshape(-1, 4).mean(axis=1)
        np.testing.assert_allclose(grid.values[: len(whole)], whole, rtol=1e-12)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_jitter_under_half_a_step_moves_no_value(data: st.DataObject) -> None:
    count = data.draw(st.integers(20, 100))
    jitter = data.draw(st.lists(st.floats(-14, 14), min_size=count, max_size=count))

    grid = grid_of(T0 + 60 * np.arange(count) + np.array(jitter), np.arange(count))

    assert grid.values.tolist() == list(range(count))


def test_times_beside_the_grid_are_counted() -> None:
    times = T0 + 60 * np.arange(100.0)
    times[40] += 20

    assert grid_of(times).warnings == (
        "1 times lie up to 20 s beside the 60 s grid: moved onto it",
    )


def test_times_beside_the_full_minute_go_to_the_nearest() -> None:
    grid = grid_of(T0 + 53 + 300 * np.arange(5), [1, 2, 3, 4, 5])

    assert grid.start_seconds == T0 + 60
    assert grid.values.tolist() == np.repeat([1, 2, 3, 4, 5], 5).tolist()
    assert grid.warnings == ("times lie 53 s after the full minute: moved to the nearest one",)


def test_a_clock_that_runs_slow_does_not_pile_up() -> None:
    grid = grid_of(T0 + 60.2 * np.arange(1000), np.arange(1000))

    assert np.isnan(grid.values).sum() == 3  # 200 s late in the end
    assert len(grid.values) == 1003


def test_two_samples_of_one_step_are_averaged_and_said() -> None:
    times = [*(T0 + 60 * np.arange(50)), T0 + 60 * 50 + 10, T0 + 60 * 50 + 20]

    grid = grid_of(times, [*([1] * 50), 2, 4])

    assert grid.values.tolist() == [1] * 50 + [3]
    assert "2 rows share a step of 60 s with another: averaged" in grid.warnings


def test_one_missing_step_is_a_gap() -> None:
    times = T0 + 300 * np.delete(np.arange(20), 7)

    grid = grid_of(times)

    assert np.flatnonzero(np.isnan(grid.values)).tolist() == [35, 36, 37, 38, 39]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([T0, T0 + 86_400], r"load\.csv:3: rows lie 86,400 s apart, at most 3600"),
        ([T0, T0 + 0.1, T0 + 0.2], r"load\.csv:3: rows lie 0.1 s apart, at least 1"),
        (
            [7e8, *(T0 + 60 * np.arange(9))],
            r"load\.csv:3: the file spans 11,574 days, at most 1,098",
        ),
        ([T0, T0 + 1, T0 + 2, T0 + 3e7], r"load\.csv:5: the file spans 347 days, at most 231"),
    ],
)
def test_spans_and_steps_that_no_recording_has_are_refused(times: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        grid_of(times)


def test_a_minute_of_which_less_than_half_is_known_is_unknown() -> None:
    values = np.array([1.0, np.nan, np.nan, np.nan, 2, 4, np.nan, np.nan, 5, 5, 5, 5])

    start, minutes = to_minutes(values, start_seconds=600, step_seconds=15)

    assert (start, minutes.tolist()) == (660, [3, 5])
