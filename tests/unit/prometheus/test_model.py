import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import InputError
from gputide.prometheus.model import (
    Combination,
    InstantResult,
    RangeResult,
    Series,
    combine,
    format_labels,
    hold,
)

NAN = float("nan")
SAMPLES = st.lists(st.floats(0, 1e6) | st.just(NAN), min_size=12, max_size=12)


def result(*rows: list[float], step_seconds: int = 60) -> RangeResult:
    return RangeResult(
        expression="load",
        start_seconds=0,
        step_seconds=step_seconds,
        columns=len(rows[0]) if rows else 3,
        series=tuple(
            Series(labels={"__name__": "load", "pod": f"web-{k}"}, values=np.array(row))
            for k, row in enumerate(rows)
        ),
        warnings=("from the server",),
    )


def test_pods_that_come_and_go_add_nothing_while_they_are_away() -> None:
    combined = combine(
        result([1.0, 2.0, NAN, NAN], [NAN, 3.0, 4.0, 5.0]), Combination.SUM, hold_seconds=0
    )

    assert combined.values.tolist() == [1.0, 5.0, 4.0, 5.0]
    assert combined.series_count == 2
    assert combined.warnings == ("from the server",)


def test_a_moment_without_any_series_is_unknown_and_not_zero() -> None:
    combined = combine(result([1.0, NAN, 0.0], [1.0, NAN, 0.0]), Combination.SUM, hold_seconds=0)

    np.testing.assert_array_equal(combined.values, [2.0, NAN, 0.0])


def test_a_pod_that_misses_a_scrape_is_held_so_that_the_sum_does_not_dip() -> None:
    combined = combine(result([5.0, NAN, NAN, 7.0], [1.0, 1.0, 1.0, 1.0]), Combination.SUM)

    assert combined.values.tolist() == [6.0, 6.0, 6.0, 8.0]
    assert combined.held_samples == 2


def test_a_pod_that_is_away_for_longer_than_five_minutes_is_not_held() -> None:
    away = [5.0, *[NAN] * 5, 7.0]
    combined = combine(result(away, [1.0] * 7), Combination.SUM)

    assert combined.values.tolist() == [6.0, 1.0, 1.0, 1.0, 1.0, 1.0, 8.0]


def test_nothing_is_held_before_the_first_and_after_the_last_sample_of_a_pod() -> None:
    combined = combine(result([NAN, 5.0, NAN], [1.0, 1.0, 1.0]), Combination.SUM)

    assert combined.values.tolist() == [1.0, 6.0, 1.0]


def test_the_gaps_of_a_single_series_stay() -> None:
    combined = combine(result([5.0, NAN, 7.0]), Combination.REFUSE)

    np.testing.assert_array_equal(combined.values, [5.0, NAN, 7.0])


def test_a_moment_with_an_infinite_sample_is_unknown_and_counted_in_a_warning() -> None:
    combined = combine(result([1.0, np.inf, -np.inf], [1.0, 1.0, 1.0]), Combination.SUM)

    np.testing.assert_array_equal(combined.values, [2.0, NAN, NAN])
    assert combined.warnings[0] == "from the server"
    assert combined.warnings[1].startswith("2 moments hold infinity")


def test_several_series_are_refused_with_the_first_of_them_and_the_remedy() -> None:
    with pytest.raises(InputError) as caught:
        combine(result([1.0], [1.0], [1.0], [1.0]), Combination.REFUSE)

    assert str(caught.value) == (
        'load: 4 series where one is wanted (load{pod="web-0"}; load{pod="web-1"}; '
        'load{pod="web-2"}, ...): write sum(...) around the query, or ask for the sum'
    )


def test_an_empty_result_is_an_error_and_no_zero() -> None:
    with pytest.raises(InputError, match="load: empty result"):
        combine(result(), Combination.SUM)


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(SAMPLES, min_size=2, max_size=4), step=st.sampled_from([15, 60, 300]))
def test_holding_only_adds_to_the_sum_of_what_is_there(rows: list[list[float]], step: int) -> None:
    held = combine(result(*rows, step_seconds=step), Combination.SUM)
    plain = combine(result(*rows, step_seconds=step), Combination.SUM, hold_seconds=0)
    is_known = ~np.isnan(rows).all(axis=0)

    np.testing.assert_array_equal(~np.isnan(plain.values), is_known)
    assert (held.values[is_known] >= plain.values[is_known] - 1e-6).all()
    assert held.held_samples or np.array_equal(held.values, plain.values, equal_nan=True)


@settings(deadline=None, max_examples=50)
@given(values=SAMPLES, reach=st.integers(0, 6))
def test_holding_changes_no_sample_and_fills_only_with_the_last_one(
    values: list[float], reach: int
) -> None:
    array = np.array(values)
    filled, is_held = hold(array, reach)

    np.testing.assert_array_equal(filled[~is_held], array[~is_held])
    for at in np.flatnonzero(is_held):
        before = [i for i in range(at) if not np.isnan(array[i])]
        after = [i for i in range(at, array.size) if not np.isnan(array[i])]
        assert after[0] - before[-1] <= reach
        assert filled[at] == array[before[-1]]


def test_instant_values_are_found_by_their_labels() -> None:
    found = InstantResult(
        expression="load",
        labels=({"namespace": "a", "pod": "x"}, {"pod": "y"}),
        values=np.array([1.0, 2.0]),
        at_seconds=np.array([0.0, 0.0]),
    )

    assert found.by("namespace", "pod") == {("a", "x"): 1.0, ("", "y"): 2.0}


def test_values_that_share_the_labels_are_refused_instead_of_one_winning() -> None:
    found = InstantResult(
        expression="load",
        labels=({"pod": "x", "gpu": "0"}, {"pod": "x", "gpu": "1"}),
        values=np.array([1.0, 2.0]),
        at_seconds=np.array([0.0, 0.0]),
    )

    with pytest.raises(InputError, match=r"write sum by \(pod\)"):
        found.by("pod")


def test_labels_are_printed_on_one_line_whatever_they_hold() -> None:
    assert format_labels({"a": 'x"y\n\\'}) == r'{a="x\"y\n\\"}'
