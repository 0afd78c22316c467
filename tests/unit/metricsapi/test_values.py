"""Prometheus' answers as values."""

import numpy as np
import pytest

from gputide.metricsapi.values import STAMP, stamped, values, window_of
from gputide.prometheus.model import InstantResult, Labels


def result(*rows: tuple[Labels, float]) -> InstantResult:
    return InstantResult(
        expression="q",
        labels=tuple(labels for labels, _ in rows),
        values=np.array([value for _, value in rows]),
        at_seconds=np.full(len(rows), 1000.0),
    )


def test_each_object_has_the_time_of_its_own_samples() -> None:
    answer = result(
        ({"pod": "a"}, 1.5),
        ({"pod": "b"}, 2),
        ({"pod": "a", STAMP: "1"}, 990.5),
        ({"pod": "b", STAMP: "1"}, 970),
    )
    found = values(answer, window_seconds=60, is_stamped=True)

    assert [(one.value, one.at_seconds) for one in found.told] == [("1500m", 990.5), ("2", 970)]
    assert found.told[0].labels == (("pod", "a"),)


def test_without_a_time_beside_it_a_value_has_the_time_of_the_answer() -> None:
    found = values(result(({"__name__": "up", "x": "y"}, 1)), window_seconds=300, is_stamped=True)

    assert (found.told[0].at_seconds, found.told[0].labels) == (1000.0, (("x", "y"),))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e300])
def test_what_cannot_be_told_is_counted_and_never_zero(value: float) -> None:
    found = values(result(({}, value), ({"a": "b"}, 3)), window_seconds=None, is_stamped=False)

    assert ([one.value for one in found.told], found.untold) == (["3"], 1)


def test_a_long_range_over_samples_that_ended_is_stale_and_takes_nobody_elses_time() -> None:
    answer = result(({"m": "old"}, 1), ({"m": "new"}, 2), ({"m": "new", STAMP: "1"}, 990))
    found = values(answer, window_seconds=1800, is_stamped=True)

    assert [(one.labels, one.at_seconds) for one in found.told] == [((("m", "new"),), 990)]
    assert found.stale == 1


def test_values_and_times_are_one_query() -> None:
    assert stamped("q", 's{a="b"}', ["pod"]) == (
        f'(q) or label_replace(max by (pod) (timestamp(s{{a="b"}})), "{STAMP}", "1", "", "")'
    )


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [("x", None), ("rate(x[5m])", 300), ("x[30s] + y[1h30m:1m]", 5400), ("x[500ms]", 1)],
)
def test_the_window_is_the_longest_range(expression: str, seconds: int | None) -> None:
    assert window_of(expression) == seconds
