"""Policies as arrays: each row keeps its own knobs."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from gputide.scaling.policies import Directions, Policies
from gputide.scaling.policy import (
    HPA_DOWN,
    HPA_UP,
    Direction,
    Limit,
    LimitKind,
    Policy,
    Select,
    Strategy,
)

POLICY = Policy(proactive_target=0.9, reactive_target=0.8)


def test_each_row_keeps_its_own_knobs() -> None:
    rows = [
        POLICY,
        replace(POLICY, strategy=Strategy.PROACTIVE, proactive_target=0.5, forecast_cap_ratio=1.25),
        replace(POLICY, strategy=Strategy.REACTIVE, reactive_target=2.0, dead_band_ratio=0.1),
    ]
    found = Policies.from_rows(rows)

    assert found.size == 3
    assert found.uses_proactive.tolist() == [True, True, False]
    assert found.uses_reactive.tolist() == [True, False, True]
    assert found.is_writer.tolist() == [False, True, True]
    assert found.proactive_target.tolist() == [0.9, 0.5, 0.9]
    np.testing.assert_array_equal(found.forecast_cap_ratio, [np.nan, 1.25, np.nan])
    assert found.reactive.target.tolist() == [0.8, 0.8, 2.0]
    assert found.reactive.missing_usage.tolist() == [1.0, 1.0, 2.0]
    assert found.scale_in_below_ratio.tolist() == [1.0, 1.0, 0.9]
    assert found.has_single_source
    assert found.has_dead_band
    assert not found.has_forecast_guard


def test_a_missing_pod_counts_as_the_target_unless_the_metric_is_utilization() -> None:
    rows = [replace(POLICY, is_utilization=False)]
    assert Policies.from_rows(rows).reactive.missing_usage.tolist() == [0.8]


def test_rows_with_different_numbers_of_limits_share_one_table() -> None:
    pods = Limit(kind=LimitKind.PODS, value=3, period_seconds=60)
    rows = [HPA_UP, Direction(limits=(pods,), stabilization_seconds=60), Direction()]
    found = Directions.from_rows(rows, is_up=True)

    np.testing.assert_array_equal(found.pods, [[4, 3, np.nan], [0, np.nan, np.nan]])
    np.testing.assert_array_equal(found.factor, [[1, 1, 1], [2, 1, 1]])
    assert found.periods_seconds[found.period_of[0]].tolist() == [15, 60, 1]
    assert found.windows_seconds[found.window_of].tolist() == [0, 60, 0]
    assert (found.longest_window_seconds, found.longest_period_seconds) == (60, 60)
    assert found.is_limited.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("row", "is_up", "expected"),
    [
        (HPA_UP, True, True),
        (HPA_DOWN, False, False),
        (replace(HPA_DOWN, select=Select.DISABLED), False, True),
        (replace(HPA_DOWN, select=Select.MIN), False, True),
        (Direction(), True, False),
        (Direction(limits=(Limit(kind=LimitKind.PODS, value=2, period_seconds=9),)), False, True),
    ],
)
def test_limits_that_hold_nothing_back_cost_nothing(
    *, row: Direction, is_up: bool, expected: bool
) -> None:
    assert Directions.from_rows([row], is_up=is_up).has_limits is expected


def test_no_rows_are_no_error() -> None:
    found = Policies.from_rows([])
    assert found.size == 0
    assert found.longest_grace_seconds == 0
    assert POLICY.forecast_cap_ratio == inf
