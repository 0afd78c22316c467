import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gputide.autoscaler.history.ring import BLOCK_ROWS, Ring

nan = float("nan")


def test_what_no_round_saw_is_unknown() -> None:
    ring = Ring(5)
    row = ring.add()
    ring.advance(100)
    ring.write([row], np.array([1.0]), minute=100)
    assert ring.advance(103) == 3
    ring.write([row], np.array([4.0]), minute=103)

    np.testing.assert_array_equal(ring.last([row], 5), [[nan, 1, nan, nan, 4]])
    assert ring.known_minutes(row) == 2


def test_a_clock_set_back_changes_nothing() -> None:
    ring = Ring(5)
    row = ring.add()
    ring.advance(100)
    ring.write([row], np.array([1.0]), minute=100)
    assert ring.advance(90) == 0
    assert ring.newest_minute == 100
    ring.write([row], np.array([9.0]), minute=90)
    ring.write([row], np.array([9.0]), minute=101)
    np.testing.assert_array_equal(ring.last([row], 2), [[nan, 1]])


def test_the_past_fills_only_what_is_unknown_and_within_the_ring() -> None:
    ring = Ring(4)
    row = ring.add()
    ring.advance(10)
    ring.write([row], np.array([7.0]), minute=10)
    ring.fill(row, np.arange(3.0, 13.0), first_minute=3)
    np.testing.assert_array_equal(ring.last([row], 4), [[7, 8, 9, 7]])


def test_a_row_that_is_used_again_remembers_nothing() -> None:
    ring = Ring(3)
    first = ring.add()
    ring.advance(1)
    ring.write([first], np.array([5.0]), minute=1)
    ring.remove(first)
    again = ring.add()
    assert again == first
    assert np.isnan(ring.last([again], 3)).all()


def test_rows_keep_their_values_wherever_they_lie() -> None:
    ring = Ring(10)
    rows = [ring.add() for _ in range(300)]
    assert len(set(rows)) == 300
    ring.advance(1)
    order = np.random.default_rng(1).permutation(300)
    ring.write([rows[place] for place in order], order.astype(float), minute=1)
    np.testing.assert_array_equal(ring.last(rows, 1)[:, 0], np.arange(300))
    assert ring.size_bytes < (300 + BLOCK_ROWS) * 10 * 4


def test_rows_that_come_and_go_take_no_more_room() -> None:
    ring = Ring(10)
    rows = [ring.add() for _ in range(BLOCK_ROWS)]
    before = ring.size_bytes
    for _ in range(3 * BLOCK_ROWS):
        ring.remove(rows.pop(0))
        rows.append(ring.add())
    assert ring.size_bytes == before
    rows.append(ring.add())  # one more: a block, and nothing is copied
    assert ring.size_bytes == 2 * before


def test_a_row_in_another_unit_keeps_what_is_unknown() -> None:
    ring = Ring(3)
    row = ring.add()
    ring.advance(7)
    ring.write([row], np.array([4.0]), minute=7)
    ring.scale(row, 0.25)
    np.testing.assert_array_equal(ring.last([row], 3), [[nan, nan, 1]])


def test_a_cleared_ring_begins_at_whatever_minute_comes() -> None:
    ring = Ring(3)
    row = ring.add()
    ring.advance(7)
    ring.write([row], np.array([4.0]), minute=7)
    ring.clear()
    assert ring.newest_minute is None
    ring.advance(2)
    assert ring.newest_minute == 2
    assert np.isnan(ring.last([row], 3)).all()


def test_no_rows_are_written_and_read_as_none() -> None:
    ring = Ring(3)
    ring.advance(7)
    ring.write([], np.empty(0), minute=7)
    assert ring.last([], 2).shape == (0, 2)


@given(steps=st.lists(st.tuples(st.integers(1, 9), st.floats(0, 100, width=32)), max_size=30))
def test_the_newest_minutes_are_those_that_were_written(steps: list[tuple[int, float]]) -> None:
    ring = Ring(8)
    row = ring.add()
    minute, written = 50, {}
    ring.advance(minute)
    for passed, value in steps:
        minute += passed
        ring.advance(minute)
        ring.write([row], np.array([value]), minute=minute)
        written[minute] = value
    expected = [written.get(one, nan) for one in range(minute - 7, minute + 1)]
    np.testing.assert_array_equal(ring.last([row], 8)[0], expected)
