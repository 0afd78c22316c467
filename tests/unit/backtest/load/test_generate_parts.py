"""The parts of generated load, each for itself."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.backtest.load.generate_parts import (
    Tide,
    calendar_of,
    drift,
    lose,
    pulses,
    tide,
    trace_of,
)

DAY = 1440


def test_a_calendar_follows_the_wall_clock_over_a_change_of_clocks() -> None:
    calendar = calendar_of(21, "Europe/Berlin")

    assert len(calendar.local) == 21 * DAY - 60  # one hour of 29 March does not exist
    assert (np.diff(calendar.local) == 61).sum() == 1
    assert calendar.start_utc.isoformat() == "2026-03-15T23:00:00+00:00"
    assert calendar.local[-1] == 21 * DAY - 1


def test_a_tide_peaks_where_its_shape_says_and_rests_on_its_floor() -> None:
    calendar = calendar_of(7, "UTC")
    shape = Tide(bumps=((15, 2, 1),), floor=0.2, weekend=0.5, moves_minutes=0, day_deviation=0)

    days = tide(np.random.default_rng(1), calendar, shape).reshape(7, DAY)

    assert (days.argmax(axis=1) == 15 * 60).all()
    np.testing.assert_allclose(days.max(axis=1), [1] * 5 + [0.6] * 2)
    np.testing.assert_allclose(days.min(axis=1), 0.2, atol=1e-6)


def test_peaks_move_by_the_minutes_given() -> None:
    calendar = calendar_of(14, "UTC")
    shape = Tide(bumps=((12, 2, 1),), floor=0.1, moves_minutes=30)

    peaks = tide(np.random.default_rng(1), calendar, shape).reshape(14, DAY).argmax(axis=1)

    assert 10 < peaks.std() < 60


def test_drift_has_the_deviation_and_the_memory_asked_for() -> None:
    noise = drift(np.random.default_rng(1), 200_000, 20, 0.3)

    assert abs(noise.mean()) < 0.02
    assert abs(noise.std() - 0.3 * (1 + 1 / 9) ** 0.5) < 0.02
    lag20 = (noise[20:] * noise[:-20]).mean() / noise.var()
    assert abs(lag20 - np.exp(-1) * 0.9) < 0.08


@given(jobs=st.lists(st.tuples(st.floats(0, 99), st.floats(0, 150), st.floats(0, 5)), max_size=20))
@settings(deadline=None, max_examples=50)
def test_pulses_hold_all_the_work_that_fits(jobs: list[tuple[float, float, float]]) -> None:
    starts, lengths, heights = np.array(jobs, dtype=np.float64).reshape(-1, 3).T

    work = pulses(100, starts, lengths, heights).sum()

    np.testing.assert_allclose(work, (np.minimum(lengths, 100 - starts) * heights).sum(), atol=1e-6)


def test_lost_minutes_are_unknown_and_the_rest_untouched() -> None:
    demand = np.ones(10_000)

    lost = lose(demand, spans=[(5, 3)], rng=np.random.default_rng(1), ratio=0.1)

    assert np.isnan(lost[5:8]).all()
    assert 0.08 < np.isnan(lost).mean() < 0.12
    assert not np.isnan(demand).any()


def test_a_trace_is_never_negative() -> None:
    trace = trace_of("made", np.array([-1.0, 0.123456789]), calendar_of(1, "UTC"))

    assert trace.demand.tolist() == [0, 0.12346]
