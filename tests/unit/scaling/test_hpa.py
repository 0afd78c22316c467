"""The HPA rule case by case, as the Kubernetes documentation words it."""

from math import nan

import numpy as np
import pytest

from gputide.scaling.hpa import PodUsage, largest_need, pods_need, total_need, value_need
from gputide.scaling.policies import Rule
from gputide.scaling.policy import HPA_TOLERANCE_RATIO, Policy


def rule(
    target: float,
    *,
    up: float = HPA_TOLERANCE_RATIO,
    down: float = HPA_TOLERANCE_RATIO,
    **knobs: bool,
) -> Rule:
    policy = Policy(
        proactive_target=target,
        reactive_target=target,
        tolerance_up_ratio=up,
        tolerance_down_ratio=down,
        **knobs,
    )
    return Rule.from_rows([policy])


def of_pods(
    usage: float, ready: float, *, unready: float = 0, missing: float = 0, current: float, by: Rule
) -> float:
    pods = PodUsage(
        usage=np.array([usage]),
        ready=np.array([ready]),
        unready=np.array([unready]),
        missing=np.array([missing]),
    )
    return float(pods_need(pods, by, current=np.array([current]))[0])


@pytest.mark.parametrize(
    ("case", "pods", "expected"),
    [
        ("twice the target doubles", {"usage": 4.0, "ready": 4, "current": 4}, 8),
        ("half the target halves", {"usage": 1.0, "ready": 4, "current": 4}, 2),
        ("the count is rounded up", {"usage": 2.6, "ready": 4, "current": 4}, 6),
        ("10 % above is near enough", {"usage": 2.2, "ready": 4, "current": 4}, 4),
        ("10 % below is near enough", {"usage": 1.8, "ready": 4, "current": 4}, 4),
        ("11 % above is not", {"usage": 2.22, "ready": 4, "current": 4}, 5),
        ("11 % below is not", {"usage": 7.12, "ready": 16, "current": 16}, 15),
        ("idle pods go", {"usage": 0.0, "ready": 4, "current": 4}, 0),
        ("not-ready pods count as idle on the way up",
         {"usage": 3.0, "ready": 3, "unready": 1, "current": 4}, 6),
        ("not-ready pods that make the rise vanish hold",
         {"usage": 1.8, "ready": 3, "unready": 1, "current": 4}, 4),
        ("not-ready pods that turn the rise hold",
         {"usage": 1.8, "ready": 3, "unready": 3, "current": 6}, 6),
        ("not-ready pods do not count on the way down",
         {"usage": 0.5, "ready": 3, "unready": 3, "current": 6}, 1),
        ("pods without a sample count as idle on the way up",
         {"usage": 3.0, "ready": 3, "missing": 1, "current": 4}, 6),
        ("pods without a sample count as fully busy on the way down",
         {"usage": 0.25, "ready": 5, "missing": 1, "current": 6}, 3),
        ("pods without a sample that turn the fall hold",
         {"usage": 1.2, "ready": 3, "missing": 1, "current": 4}, 4),
        ("a count that goes against the ratio holds",
         {"usage": 3.0, "ready": 3, "missing": 1, "current": 9}, 9),
        ("exactly at the target a missing pod changes nothing",
         {"usage": 1.5, "ready": 3, "missing": 1, "current": 4}, 4),
    ],
)  # fmt: skip
def test_utilization_of_half_is_the_target(
    case: str, pods: dict[str, float], expected: float
) -> None:
    assert of_pods(by=rule(0.5), **pods) == expected, case


def test_a_missing_pod_counts_as_the_target_for_metrics_that_are_no_utilization() -> None:
    by = rule(10.0, is_utilization=False)
    assert of_pods(5.0, 5, missing=1, current=6, by=by) == 2


def test_a_missing_pod_counts_as_the_target_where_that_is_above_one_busy_pod() -> None:
    assert of_pods(1.0, 5, missing=1, current=6, by=rule(2.0)) == 2


def test_no_ready_pod_with_a_sample_is_unknown() -> None:
    assert np.isnan(of_pods(0.0, 0, unready=3, missing=2, current=5, by=rule(0.5)))
    assert np.isnan(of_pods(nan, 3, current=5, by=rule(0.5)))


def test_the_tolerance_may_differ_by_direction() -> None:
    by = rule(0.5, up=0.0, down=0.5)
    assert of_pods(2.02, 4, current=4, by=by) == 5
    assert of_pods(1.0, 4, current=4, by=by) == 4
    assert of_pods(0.9, 4, current=4, by=by) == 2


@pytest.mark.parametrize(
    ("case", "total", "current", "expected"),
    [
        ("the total is shared out", 189.0, 4.0, 9.45),
        ("near enough to the current count", 84.0, 4.0, 4.0),
        ("at zero there is no tolerance", 1.0, 0.0, 0.05),
        ("zero stays zero", 0.0, 0.0, 0.0),
        ("unknown stays unknown", nan, 4.0, nan),
    ],
)
def test_a_total_is_divided_by_what_a_pod_should_serve(
    case: str, total: float, current: float, expected: float
) -> None:
    found = total_need(np.array([total]), rule(20.0), current=np.array([current]))
    np.testing.assert_allclose(found, [expected], err_msg=case)


@pytest.mark.parametrize(
    ("case", "value", "current", "ready", "expected"),
    [
        ("the ratio multiplies the ready pods", 30.0, 5.0, 4.0, 6.0),
        ("near enough", 21.0, 5.0, 4.0, 5.0),
        ("at zero the ratio is the count", 50.0, 0.0, 0.0, 2.5),
        ("at zero there is no tolerance", 21.0, 0.0, 0.0, 1.05),
    ],
)
def test_a_value_scales_the_ready_pods_by_its_ratio(
    case: str, value: float, current: float, ready: float, expected: float
) -> None:
    found = value_need(
        np.array([value]), rule(20.0), current=np.array([current]), ready=np.array([ready])
    )
    np.testing.assert_allclose(found, [expected], err_msg=case)


def test_the_largest_of_several_needs_counts_and_a_failed_one_is_told() -> None:
    needs = np.array([[3.0, 3.0, nan], [5.0, nan, nan], [1.0, 1.0, nan]])
    largest, is_known = largest_need(needs)

    np.testing.assert_array_equal(largest, [5.0, 3.0, nan])
    assert is_known.tolist() == [True, False, False]
