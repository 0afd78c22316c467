import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gputide.autoscaler.times import Passage, RoundTimes, hold_after_gap, longest_gap_seconds
from gputide.scaling import Memory


def test_a_round_may_take_four_periods_and_two_minutes_at_least() -> None:
    assert longest_gap_seconds(15) == 120
    assert longest_gap_seconds(300) == 1200


def test_gaps_and_clocks_set_back_are_told_from_corrections() -> None:
    times = RoundTimes(120)
    seen = []
    for now in (1000, 1015, 985, 1136, 1257, 1100, 1136):
        seen.append(times.begin(now))
        times.decide()
    assert seen == [
        Passage.FIRST,
        Passage.ON_TIME,
        Passage.ON_TIME,  # a correction
        Passage.AFTER_GAP,
        Passage.AFTER_GAP,
        Passage.SET_BACK,
        Passage.ON_TIME,
    ]
    assert times.clock_jumps == 2


def test_rounds_that_were_broken_off_are_a_gap() -> None:
    times = RoundTimes(120)
    times.begin(0)
    times.decide()
    for now in (60, 120):
        assert times.begin(now) is Passage.ON_TIME
    assert times.begin(180) is Passage.AFTER_GAP


@given(steps=st.lists(st.floats(-119, 400), max_size=30))
def test_the_time_of_decisions_never_runs_back_unless_the_clock_was_set_back(
    steps: list[float],
) -> None:
    times, now, moment = RoundTimes(120), 0.0, 0.0
    for step in steps:
        now += step
        passage = times.begin(now)
        before, moment = moment, times.decide()
        assert moment >= now
        assert times.moment_of(now) == moment
        if passage is not Passage.SET_BACK:
            assert moment >= before or passage is Passage.FIRST


def test_after_a_gap_every_row_waits_as_if_it_were_new_and_had_been_unknown() -> None:
    memory = Memory(2)
    memory.is_new[:] = False
    hold_after_gap(memory, now_seconds=50)
    assert memory.has_new
    assert memory.is_new.all()
    np.testing.assert_array_equal(memory.unknown_at_seconds, 50)
    empty = Memory(0)
    hold_after_gap(empty, now_seconds=50)
    assert not empty.has_new
