from dataclasses import fields

import numpy as np
import pytest

from gputide.backtest.ledger import Ledger
from gputide.backtest.model import Outcome, PolicyName
from gputide.backtest.outcome import coverage, front, issued_before, outcome_of

NAN = float("nan")


def test_shares_are_of_known_minutes_and_of_demand() -> None:
    values = {
        "known_minutes": 2880.0,
        "replica_hours": 480.0,
        "saturated_minutes": 72.0,
        "demand": 200.0,
        "lost": 4.0,
        "late": 10.0,
        "changes": 30.0,
        "pods_started": 50.0,
    }
    ledger = Ledger(**{f.name: np.array([values.get(f.name, 0.0)]) for f in fields(Ledger)})
    found = outcome_of(
        ledger, 0, policy=PolicyName.HPA, knobs={"target_ratio": 0.7}, is_walk_forward=False
    )

    assert found == Outcome(
        policy=PolicyName.HPA,
        knobs={"target_ratio": 0.7},
        is_walk_forward=False,
        replica_hours=480,
        saturated_ratio=0.025,
        late_ratio=0.05,
        lost_ratio=0.02,
        changes_per_day=15,
        pods_started_per_day=25,
        evaluated_seconds=172_800,
    )


def test_nothing_known_is_no_division_by_zero() -> None:
    found = outcome_of(Ledger.empty(1), 0, policy=PolicyName.HPA, knobs={}, is_walk_forward=False)

    assert found.saturated_ratio == found.late_ratio == 0


def test_a_setting_that_another_beats_in_both_is_not_on_the_curve() -> None:
    def at(replica_hours: float, saturated_ratio: float) -> Outcome:
        return Outcome(
            policy=PolicyName.HPA,
            knobs={},
            is_walk_forward=False,
            replica_hours=replica_hours,
            saturated_ratio=saturated_ratio,
            late_ratio=0,
            lost_ratio=0,
            changes_per_day=0,
            pods_started_per_day=0,
            evaluated_seconds=0,
        )

    curve = front([at(10, 0.1), at(30, 0.0), at(20, 0.2), at(20, 0.05)])

    assert [(o.replica_hours, o.saturated_ratio) for o in curve] == [(30, 0), (20, 0.05), (10, 0.1)]


def test_a_bound_is_shown_where_its_lead_ends() -> None:
    shown = issued_before(np.array([1.0, 2.0, 3.0]), lead_minutes=2)

    assert shown.tolist()[2] == 1
    assert np.isnan(shown[:2]).all()


@pytest.mark.parametrize(
    ("demand", "upper", "share"),
    [
        ([1, 2, NAN, 4], [1, 1, 1, NAN], 0.5),
        ([NAN], [1], None),
    ],
)
def test_coverage_counts_what_is_known(
    demand: list[float], upper: list[float], share: float | None
) -> None:
    assert coverage(np.array(demand), np.array(upper)) == share


def test_a_lead_of_nothing_shifts_nothing() -> None:
    assert issued_before(np.array([1.0, 2.0]), lead_minutes=0).tolist() == [1, 2]
