"""Sliding extremes against looking at all values again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.scaling.window import SlidingExtreme

ROWS = 3


def scanned(
    columns: list[tuple[float, np.ndarray]], since: np.ndarray, *, is_largest: bool
) -> list[float]:
    pick = max if is_largest else min
    return [
        pick(
            [float(v[row]) for at, v in columns if at > since[row]] or [float(columns[-1][1][row])]
        )
        for row in range(ROWS)
    ]


@settings(max_examples=40, deadline=None)
@given(
    is_largest=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    windows=st.lists(st.sampled_from([0.0, 1.0, 30.0, 240.0, 900.0]), min_size=ROWS, max_size=ROWS),
)
def test_any_window_of_each_row_gives_what_a_scan_gives(
    *, is_largest: bool, seed: int, windows: list[float]
) -> None:
    rng = np.random.default_rng(seed)
    extreme, columns, now = SlidingExtreme(ROWS, is_largest=is_largest), [], 0.0
    distinct, of = np.unique(np.array(windows), return_inverse=True)
    for _ in range(150):
        now += float(rng.choice([0.0, 1.0, 15.0, 15.0, 40.0]))
        values = rng.integers(0, 50, ROWS).astype(float)
        extreme.drop_until(now - 900.0)
        extreme.append(now, values)
        columns.append((now, values))
        found = extreme.since(now - distinct, of)
        assert found.tolist() == scanned(columns, now - distinct[of], is_largest=is_largest)


def test_what_is_too_old_is_forgotten_so_that_the_room_stays_bounded() -> None:
    extreme = SlidingExtreme(ROWS, is_largest=True)
    for step in range(1000):
        extreme.drop_until(step - 20.0)
        extreme.append(float(step), np.zeros(ROWS))
    assert len(extreme.times) == 20
    assert len(extreme.running()) == 20
    assert len(extreme._times) <= 64


@pytest.mark.parametrize("is_largest", [True, False])
def test_what_was_saved_answers_as_before(*, is_largest: bool) -> None:
    extreme = SlidingExtreme(1, is_largest=is_largest)
    for step, value in enumerate([5.0, 9.0, 1.0, 4.0, 7.0, 2.0] * 6):
        extreme.append(float(step), np.array([value]))
    again = SlidingExtreme(1, is_largest=is_largest).load(extreme.times, extreme.running())
    for since in range(-1, 37):
        asked = np.array([float(since)]), np.array([0])
        assert again.since(*asked) == extreme.since(*asked)


def test_rows_can_be_chosen_and_new_ones_hold_nothing() -> None:
    extreme = SlidingExtreme(2, is_largest=True)
    extreme.append(0.0, np.array([3.0, 8.0]))
    chosen = extreme.select(np.array([1, -1]))
    chosen.append(1.0, np.array([5.0, 1.0]))
    assert chosen.since(np.array([-1.0]), np.array([0, 0])).tolist() == [8.0, 1.0]
