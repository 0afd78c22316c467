"""The one decision: its laws, its order, and a slow scalar twin that it must agree with."""

from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.scaling import (
    HPA_DOWN,
    Decisions,
    Direction,
    Memory,
    Policies,
    Policy,
    Reason,
    Strategy,
    decide,
)
from unit.scaling.scalar import Past, Row, decide_one
from unit.scaling.worlds import (
    seeds,
    situation_of,
    some_moments,
    some_policy,
    some_row,
    with_replicas,
)

PROMPT = Policy(
    strategy=Strategy.AUTO,
    proactive_target=0.9,
    reactive_target=0.9,
    up=Direction(),
    down=Direction(),
    recovery_grace_seconds=0,
)
"""Moves at once, so that each rule can be seen alone."""


def row(**known: float) -> Row:
    return Row(**({"now": 0.0, "current": 10.0, "low": 0.0, "high": 100.0} | known))


def decide_row(policy: Policy, found: Row, memory: Memory | None = None) -> Decisions:
    return decide(Policies.from_rows([policy]), situation_of([found]), memory or Memory(1))


def desired(policy: Policy, found: Row, memory: Memory | None = None) -> float:
    return float(decide_row(policy, found, memory).desired[0])


@settings(max_examples=8, deadline=None)
@given(rng=seeds)
def test_arrays_decide_as_the_scalar_twin_does(rng: np.random.Generator) -> None:
    knobs = [some_policy(rng) for _ in range(60)]
    memory, pasts = Memory(len(knobs)), [Past() for _ in knobs]
    arrays, current = Policies.from_rows(knobs), [float(rng.integers(0, 40)) for _ in knobs]
    for moment in some_moments(rng, count=len(knobs), moments=24):
        found = with_replicas(moment, current)
        decisions = decide(arrays, situation_of(found), memory)
        for index, (policy, one, past) in enumerate(zip(knobs, found, pasts, strict=True)):
            for stage, value in decide_one(policy, one, past).items():
                got = float(getattr(decisions, stage)[index])
                assert got == value or (isnan(got) and isnan(value)), (stage, policy, one, past)
        current = decisions.desired.tolist()


@settings(max_examples=10, deadline=None)
@given(rng=seeds)
def test_a_batch_decides_as_its_rows_one_by_one(rng: np.random.Generator) -> None:
    knobs = [some_policy(rng) for _ in range(5)]
    together, alone = Memory(len(knobs)), [Memory(1) for _ in knobs]
    arrays, current = Policies.from_rows(knobs), [float(rng.integers(0, 40)) for _ in knobs]
    for moment in some_moments(rng, count=len(knobs), moments=12):
        found = with_replicas(moment, current)
        single = [
            desired(policy, one, memory)
            for policy, one, memory in zip(knobs, found, alone, strict=True)
        ]
        current = decide(arrays, situation_of(found), together).desired.tolist()
        assert current == single


@settings(max_examples=10, deadline=None)
@given(rng=seeds)
def test_a_memory_from_a_checkpoint_decides_as_the_one_that_went_on(
    rng: np.random.Generator,
) -> None:
    knobs = [some_policy(rng) for _ in range(20)]
    arrays, kept, restored = Policies.from_rows(knobs), Memory(len(knobs)), Memory(len(knobs))
    current = [float(rng.integers(0, 40)) for _ in knobs]
    for moment in some_moments(rng, count=len(knobs), moments=24):
        situation = situation_of(with_replicas(moment, current))
        if rng.random() < 0.3:
            restored = Memory.restore(restored.save())
        current = decide(arrays, situation, kept).desired.tolist()
        assert decide(arrays, situation, restored).desired.tolist() == current


@settings(max_examples=100, deadline=None)
@given(rng=seeds)
def test_the_bounds_hold_whatever_is_known_and_nothing_is_nan(rng: np.random.Generator) -> None:
    policy, memory = some_policy(rng), Memory(1)
    decide_row(policy, some_row(rng), memory)
    found = some_row(rng, now=15.0)
    decisions = decide_row(policy, found, memory)
    result = float(decisions.desired[0])

    is_paused = found.current == 0 and found.low > 0
    assert result == 0 if is_paused else found.low <= result <= found.high
    assert not np.isnan(decisions.published).any()
    assert result == int(result)


@settings(max_examples=100, deadline=None)
@given(rng=seeds, more=st.floats(0, 50), name=st.sampled_from(["forecast", "demand", "usage"]))
def test_more_demand_or_forecast_never_means_fewer_replicas(
    rng: np.random.Generator, more: float, name: str
) -> None:
    policy = replace(some_policy(rng), tolerance_up_ratio=0.0, tolerance_down_ratio=0.0)
    found = replace(some_row(rng), missing=0.0, unready=0.0)
    grown = replace(found, **{name: getattr(found, name) + more})

    assert desired(policy, grown) >= desired(policy, found)


@settings(max_examples=100, deadline=None)
@given(
    rng=seeds,
    hidden=st.sampled_from(
        [
            {"is_fresh": False},
            {"is_complete": False},
            {"demand": nan, "usage": nan},
            {"demand": nan, "ready": 0.0},
            {"other": nan},
        ]
    ),
)
def test_unknown_demand_never_scales_in(rng: np.random.Generator, hidden: dict[str, float]) -> None:
    found = replace(some_row(rng), low=0.0, high=100.0, **hidden)

    assert desired(some_policy(rng), found) >= found.current


def test_the_larger_of_forecast_and_demand_counts() -> None:
    assert desired(PROMPT, row(demand=18.0, forecast=45.0)) == 50
    assert desired(PROMPT, row(demand=45.0, forecast=18.0)) == 50
    assert desired(replace(PROMPT, strategy=Strategy.PROACTIVE), row(demand=45, forecast=18)) == 20
    assert desired(replace(PROMPT, strategy=Strategy.REACTIVE), row(demand=18, forecast=45)) == 20


def test_the_tutorials_numbers_come_out() -> None:
    policy = replace(PROMPT, strategy=Strategy.OBSERVER, proactive_target=0.2, reactive_target=0.2)
    busy = decide_row(policy, row(current=4.0, low=10.0, high=50.0, demand=1.89))
    idle = decide_row(policy, row(current=1.0, low=10.0, high=50.0, demand=0.0))

    assert busy.published.tolist() == [10.0]
    assert idle.published.tolist() == [0.0], "an observer's number is not clamped to the bounds"
    assert idle.desired.tolist() == [10.0], "what auto would run is"
    assert not busy.is_write.any()


def test_an_observer_without_any_data_shows_what_runs() -> None:
    policy = replace(PROMPT, strategy=Strategy.OBSERVER)
    assert decide_row(policy, row(current=4.0)).published.tolist() == [4.0]


def test_a_forecast_still_scales_out_while_demand_is_unknown() -> None:
    assert desired(PROMPT, row(forecast=45.0)) == 50
    assert desired(PROMPT, row(forecast=4.5)) == 10


def test_the_forecast_alone_may_be_kept_from_scaling_in() -> None:
    policy = replace(PROMPT, strategy=Strategy.PROACTIVE, is_forecast_scale_in=False)
    assert desired(policy, row(demand=6.3, forecast=2.7)) == 7, "as far as the demand agrees"
    assert desired(policy, row(demand=18.0, forecast=2.7)) == 10, "never out on the demand"
    assert desired(policy, row(demand=2.7, forecast=18.0)) == 20


def test_a_forecast_counts_up_to_the_cap() -> None:
    policy = replace(PROMPT, forecast_cap_ratio=1.25)
    assert desired(policy, row(demand=0.0, forecast=90.0, peak=36.0)) == 50
    assert desired(policy, row(demand=0.0, forecast=90.0, peak=nan)) == 100
    assert desired(replace(policy, forecast_cap_ratio=inf), row(forecast=90.0, peak=0.0)) == 100


def test_scale_in_waits_out_the_grace_after_unknown_demand() -> None:
    policy, memory = replace(PROMPT, recovery_grace_seconds=60), Memory(1)
    times = [(0.0, True), (15.0, False), (30.0, True), (74.0, True), (75.0, True)]

    found = [
        desired(policy, row(now=now, demand=0.9, is_fresh=fresh), memory) for now, fresh in times
    ]

    assert found == [1, 10, 10, 10, 1]


def test_the_dead_band_works_downwards_only() -> None:
    policy = replace(PROMPT, dead_band_ratio=0.1)
    assert desired(policy, row(demand=8.1)) == 10, "9 of 10 needed"
    assert desired(policy, row(demand=8.0)) == 9
    assert desired(policy, row(demand=9.1)) == 11


def test_a_workload_that_was_switched_off_stays_off() -> None:
    decisions = decide_row(PROMPT, row(current=0.0, low=1.0, demand=9.0, forecast=9.0))
    assert decisions.desired.tolist() == [0.0]
    assert not decisions.is_write.any()


@pytest.mark.parametrize("known", [{"demand": 1.0}, {"forecast": 0.5}])
def test_zero_replicas_wake_by_demand_or_by_forecast_when_the_minimum_is_zero(
    known: dict[str, float],
) -> None:
    assert desired(PROMPT, row(current=0.0, **known)) >= 1
    assert desired(PROMPT, row(current=0.0)) == 0, "nothing known: hold"


def test_without_demand_and_forecast_a_minimum_of_zero_is_reached() -> None:
    assert desired(PROMPT, row(current=1.0, demand=0.0, forecast=0.0)) == 0


def test_replicas_out_of_bounds_are_brought_back_even_when_demand_is_unknown() -> None:
    assert desired(PROMPT, row(current=3.0, low=5.0)) == 5
    assert desired(PROMPT, row(current=60.0, high=50.0)) == 50


def test_several_metrics_give_the_largest_and_one_that_fails_blocks_scaling_in_only() -> None:
    assert desired(PROMPT, row(demand=18.0, other=30.0)) == 30
    assert desired(PROMPT, row(demand=4.5, other=6.0)) == 6
    assert desired(PROMPT, row(demand=4.5, other=nan)) == 10
    assert desired(PROMPT, row(demand=18.0, other=nan)) == 20
    assert desired(PROMPT, row(other=4.0)) == 10
    assert desired(PROMPT, row(other=30.0)) == 30


def test_scale_in_goes_to_the_largest_recommendation_of_the_window() -> None:
    policy, memory = replace(PROMPT, down=HPA_DOWN), Memory(1)
    assert desired(policy, row(now=0.0, demand=9.0), memory) == 10
    assert desired(policy, row(now=150.0, demand=4.5), memory) == 10
    assert desired(policy, row(now=299.0, demand=0.9), memory) == 10
    assert desired(policy, row(now=300.0, demand=0.9), memory) == 5, "the first one counts no more"


def test_an_observers_moves_are_no_scale_events() -> None:
    decisions, memory = None, Memory(1)
    for now in (0.0, 5.0):
        policy = replace(PROMPT, strategy=Strategy.OBSERVER)
        decisions = decide_row(policy, row(now=now, demand=90.0), memory)
    assert len(memory.changes.times) == 0
    assert decisions is not None
    assert decisions.explain(0)[-1].reason is Reason.OBSERVED


@pytest.mark.parametrize("broken", [inf, -1.0, -inf, nan])
def test_an_infinite_or_negative_measurement_is_unknown(broken: float) -> None:
    decisions = decide_row(PROMPT, row(demand=broken, forecast=broken))
    assert decisions.desired.tolist() == [10.0]
    assert decisions.published.tolist() == [10.0]
    assert not decisions.is_known.any()
    assert desired(PROMPT, row(demand=9.0, other=broken)) == 10
    assert desired(PROMPT, row(demand=18.0, other=broken)) == 20
