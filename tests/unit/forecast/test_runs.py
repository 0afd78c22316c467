import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gputide.forecast.runs import longest_runs, runs_of

MASKS = arrays(bool, st.tuples(st.integers(0, 4), st.integers(0, 20)))


@given(mask=MASKS)
def test_runs_are_what_painting_them_gives_back(mask: np.ndarray) -> None:
    painted = np.zeros_like(mask)
    for row, first, after in runs_of(mask):
        assert first < after
        assert not painted[row, max(first - 1, 0) : after].any(), "runs touch"
        painted[row, first:after] = True
    assert (painted == mask).all()


@given(mask=MASKS)
def test_the_longest_run_is_the_longest_of_all_runs(mask: np.ndarray) -> None:
    expected = [0] * len(mask)
    for row, first, after in runs_of(mask):
        expected[row] = max(expected[row], after - first)
    assert longest_runs(mask).tolist() == expected
