import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.backtest.ledger import Ledger
from gputide.backtest.model import PolicyName
from gputide.backtest.policies.field import Tuned
from gputide.backtest.tune import Prospect, allowance, cheapest, choose, likely_harm, prospect

DAY_MINUTES = 1440.0


def promise(*settings: tuple[float, float]) -> Prospect:
    """Return a prospect of settings given as (replicas, harm)."""
    replicas, harm = np.array(settings).T
    return Prospect(replicas=replicas, harm_ratio=harm)


def tuned(pool: tuple[int, ...], gate: tuple[int, ...] = ()) -> Tuned:
    return Tuned(policy=PolicyName.GPUTIDE_TUNED, pool=pool, default=pool[0], gate=gate)


def test_the_cheapest_within_the_budget_is_chosen() -> None:
    found = promise((10, 0.01), (12, 0.0005), (14, 0.0001))

    assert choose(tuned((0, 1, 2)), found, allowed_ratio=0.001) == 1


def test_where_none_keeps_the_budget_the_least_harm_is_chosen() -> None:
    found = promise((10, 0.05), (12, 0.02), (14, 0.02))

    assert choose(tuned((0, 1, 2)), found, allowed_ratio=0.001) == 1


def test_the_plain_hpa_is_chosen_where_it_is_cheaper_within_the_budget() -> None:
    found = promise((10, 0.0001), (9, 0.0001), (8, 0.1))

    assert choose(tuned((0,), gate=(1, 2)), found, allowed_ratio=0.001) == 1


def test_a_cheaper_hpa_beyond_the_budget_is_not_chosen() -> None:
    found = promise((10, 0.002), (9, 0.1))

    assert choose(tuned((0,), gate=(1,)), found, allowed_ratio=0.001) == 0


def day(saturated: list[float], replica_hours: list[float], *, late: float = 0.0) -> Ledger:
    ones = np.ones(len(saturated))
    return Ledger(
        known_minutes=ones * DAY_MINUTES,
        replica_hours=np.array(replica_hours),
        saturated_minutes=np.array(saturated),
        minutes_above_95=np.array(saturated),
        minutes_above_90=np.array(saturated),
        demand=ones * 100,
        lost=ones * 0,
        late=ones * late,
        changes=ones * 0,
        pods_started=ones * 0,
    )


def test_yesterday_counts_more_than_the_days_before() -> None:
    days = [day([50, 0], [24, 24]), day([0, 0], [24, 24]), day([0, 50], [24, 24])]
    harm = prospect(days, is_late_budgeted=False).harm_ratio

    assert harm[1] > harm[0]


def test_late_demand_counts_as_harm_where_it_is_budgeted() -> None:
    days = [day([0.0], [24.0], late=5.0)]

    assert prospect(days, is_late_budgeted=True).harm_ratio.tolist() == [0.05]
    assert prospect(days, is_late_budgeted=False).harm_ratio[0] < 1e-4


def test_cost_is_told_as_mean_pods() -> None:
    assert prospect([day([0.0], [240.0])] * 3, is_late_budgeted=False).replicas.tolist() == [
        pytest.approx(10)
    ]


def allowed(*saturated_minutes: float) -> float:
    """Return the allowance after days with so many saturated minutes, for a budget of 0.1 %."""
    days = [day([minutes], [24.0]) for minutes in saturated_minutes]
    return allowance(0.001, days, 0, of_days=10, is_late_budgeted=False)


def test_less_than_the_budget_is_promised_as_what_follows_is_worse() -> None:
    assert allowed() == pytest.approx(0.0008)


def test_an_overspent_budget_is_saved_and_an_unspent_one_used() -> None:
    assert allowed(*[0.0] * 10) > allowed() > allowed(*[3.0] * 10)
    assert allowed(*[100.0] * 10) == pytest.approx(0.0004)


def test_one_bad_day_counts_less_than_ten() -> None:
    assert allowed(3.0) > allowed(*[3.0] * 10)


shares = st.tuples(st.floats(0, 0.3), st.floats(0, 0.3), st.floats(0, 0.3)).map(sorted)


@given(shares=shares, more=st.floats(0, 0.1))
def test_more_saturated_minutes_never_promise_less_harm(shares: list[float], more: float) -> None:
    saturated, above_95, above_90 = (np.array([share]) for share in shares)
    less = likely_harm(saturated=saturated, above_95=above_95, above_90=above_90)
    worse = likely_harm(saturated=saturated + more, above_95=above_95, above_90=above_90)

    assert worse >= less


def test_near_misses_are_harm_to_come_before_any_harm_was_seen() -> None:
    near = likely_harm(
        saturated=np.zeros(2), above_95=np.array([0.0, 0.01]), above_90=np.array([0.0, 0.02])
    )

    assert near[0] < 1e-5
    assert near[1] == pytest.approx(0.5 * 0.01 * 0.5, rel=0.01)


def test_a_pool_is_searched_alone() -> None:
    assert cheapest((1, 2), promise((1, 0), (3, 0), (2, 0)), allowed_ratio=0.1) == 2
