import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import InputError, SettingError
from gputide.prometheus import stitch
from gputide.prometheus.decode import AnswerError, MatrixRow
from gputide.prometheus.stitch import Grid, Piece, Stitcher, align, cut


def row(start: int, values: list[float], *, step: int = 60, **labels: str) -> MatrixRow:
    at = start + step * np.arange(len(values), dtype=np.float64)
    return MatrixRow(labels=labels, at_seconds=at, values=np.array(values))


@settings(deadline=None, max_examples=50)
@given(
    start=st.integers(0, 10**10).map(lambda ms: ms / 1000),
    span=st.integers(0, 10**9).map(lambda ms: ms / 1000),
    step=st.sampled_from([1, 7, 15, 60, 300, 3600]),
)
def test_a_grid_holds_every_multiple_of_the_step_in_the_span(
    start: float, span: float, step: int
) -> None:
    end = start + span
    try:
        grid = align(start_seconds=start, end_seconds=end, step_seconds=step)
    except SettingError:
        assert start // step == end // step
        return
    last = grid.start_seconds + (grid.columns - 1) * step

    assert grid.start_seconds % step == 0
    assert start <= grid.start_seconds < start + step
    assert end - step < last <= end


def test_a_span_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(SettingError, match="end-seconds"):
        align(start_seconds=120, end_seconds=60, step_seconds=60)


def test_a_step_below_a_second_is_refused() -> None:
    with pytest.raises(SettingError, match="step-seconds"):
        align(start_seconds=0, end_seconds=60, step_seconds=0)


@settings(deadline=None, max_examples=50)
@given(first=st.integers(0, 100), columns=st.integers(1, 500), at_most=st.integers(1, 50))
def test_pieces_cover_the_whole_once_and_none_is_larger_than_allowed(
    first: int, columns: int, at_most: int
) -> None:
    pieces = cut(Piece(first=first, columns=columns), at_most=at_most)
    covered = [p.first + k for p in pieces for k in range(p.columns)]

    assert covered == list(range(first, first + columns))
    assert max(p.columns for p in pieces) <= at_most
    assert max(p.columns for p in pieces) - min(p.columns for p in pieces) <= 1


def test_pieces_come_back_on_one_grid_with_gaps_unknown() -> None:
    stitcher = Stitcher("load", Grid(start_seconds=600, step_seconds=60, columns=6))
    stitcher.add(Piece(first=3, columns=3), [row(780, [4.0, 5.0], pod="a")], ["late", "old"])
    stitcher.add(
        Piece(first=0, columns=3), [row(600, [1.0], pod="a"), row(660, [9.0], pod="b")], ["late"]
    )
    found = stitcher.result()

    assert [one.labels for one in found.series] == [{"pod": "a"}, {"pod": "b"}]
    np.testing.assert_array_equal(found.series[0].values, [1.0, np.nan, np.nan, 4.0, 5.0, np.nan])
    np.testing.assert_array_equal(found.series[1].values, [np.nan, 9.0, *[np.nan] * 4])
    assert found.warnings == ("late", "old")
    assert (found.start_seconds, found.step_seconds, found.columns) == (600, 60, 6)


@pytest.mark.parametrize("start", [601, 540, 720, 630])
def test_samples_of_other_moments_than_asked_are_an_error(start: int) -> None:
    stitcher = Stitcher("load", Grid(start_seconds=600, step_seconds=60, columns=6))

    with pytest.raises(AnswerError, match="not asked for"):
        stitcher.add(Piece(first=0, columns=2), [row(start, [1.0], pod="a")], [])


def test_more_samples_than_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stitch, "MAX_SAMPLES", 10)
    stitcher = Stitcher("load", Grid(start_seconds=0, step_seconds=60, columns=6))
    stitcher.add(Piece(first=0, columns=6), [row(0, [1.0], pod="a")], [])

    with pytest.raises(InputError, match="more than 1 series of 6 samples each: aggregate"):
        stitcher.add(Piece(first=0, columns=6), [row(0, [1.0], pod="b")], [])
