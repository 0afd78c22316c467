"""Reason chains: every stage that changed something is named, in order, with its numbers."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings

from gputide.scaling import (
    HPA_DOWN,
    HPA_UP,
    REASONS,
    Direction,
    Memory,
    Policies,
    Policy,
    Reason,
    Step,
    Strategy,
    decide,
)
from unit.scaling.scalar import Row
from unit.scaling.worlds import seeds, situation_of, some_moments, some_policy, with_replicas

POLICY = Policy(
    strategy=Strategy.AUTO,
    proactive_target=0.5,
    reactive_target=0.5,
    up=Direction(),
    down=Direction(),
    recovery_grace_seconds=0,
)
RUNNING = Row(now=0.0, current=10.0, low=0.0, high=100.0)


def chain(policy: Policy, row: Row, memory: Memory | None = None) -> tuple[Step, ...]:
    policies = Policies.from_rows([policy])
    return decide(policies, situation_of([row]), memory or Memory(1)).explain(0)


def reasons(policy: Policy, **known: float) -> list[Reason]:
    return [step.reason for step in chain(policy, replace(RUNNING, **known))]


def test_a_chain_tells_the_numbers_from_load_to_replicas() -> None:
    row = replace(RUNNING, demand=9.45, forecast=30.0, peak=16.0, high=30.0)
    steps = chain(replace(POLICY, forecast_cap_ratio=1.25, up=HPA_UP), row)

    assert [(step.reason, step.replicas, step.text) for step in steps] == [
        (Reason.DEMAND, 19.0, "demand 9.45 / target 0.5"),
        (Reason.FORECAST_CAPPED, 40.0, "forecast 30, believed up to 20 / target 0.5"),
        (Reason.LIMITED_UP, 20.0, "the most that the behavior allows now"),
    ]


@pytest.mark.parametrize(
    ("policy", "known", "expected"),
    [
        (POLICY, {"demand": 9.0}, [Reason.DEMAND, Reason.NO_FORECAST]),
        (POLICY, {}, [Reason.DEMAND_UNKNOWN, Reason.NO_FORECAST, Reason.HELD_UNKNOWN]),
        (
            POLICY,
            {"forecast": 1.0},
            [Reason.DEMAND_UNKNOWN, Reason.FORECAST, Reason.HELD_UNKNOWN],
        ),
        (
            POLICY,
            {"demand": 1.0, "is_complete": False},
            [Reason.DEMAND_PARTIAL, Reason.NO_FORECAST, Reason.HELD_UNKNOWN],
        ),
        (
            replace(POLICY, tolerance_up_ratio=0.1),
            {"demand": 5.4},
            [Reason.WITHIN_TOLERANCE, Reason.NO_FORECAST],
        ),
        (
            replace(POLICY, strategy=Strategy.PROACTIVE, is_forecast_scale_in=False),
            {"demand": 4.0, "forecast": 1.0},
            [Reason.DEMAND, Reason.FORECAST, Reason.HELD_FORECAST_ALONE],
        ),
        (
            replace(POLICY, down=HPA_DOWN),
            {"demand": 1.0},
            [Reason.DEMAND, Reason.NO_FORECAST, Reason.STABILIZED_DOWN],
        ),
        (
            replace(POLICY, up=Direction(stabilization_seconds=60)),
            {"demand": 9.0},
            [Reason.DEMAND, Reason.NO_FORECAST, Reason.STABILIZED_UP],
        ),
        (
            replace(POLICY, dead_band_ratio=0.1),
            {"demand": 4.5},
            [Reason.DEMAND, Reason.NO_FORECAST, Reason.DEAD_BAND],
        ),
        (
            replace(POLICY, down=replace(HPA_DOWN, stabilization_seconds=0, limits=())),
            {"demand": 1.0, "low": 5.0},
            [Reason.DEMAND, Reason.NO_FORECAST, Reason.AT_MINIMUM],
        ),
        (POLICY, {"demand": 90.0}, [Reason.DEMAND, Reason.NO_FORECAST, Reason.AT_MAXIMUM]),
        (
            POLICY,
            {"demand": 9.0, "current": 0.0, "low": 1.0},
            [Reason.DEMAND, Reason.NO_FORECAST, Reason.PAUSED],
        ),
        (
            replace(POLICY, strategy=Strategy.OBSERVER),
            {"demand": 9.0},
            [Reason.DEMAND, Reason.NO_FORECAST, Reason.OBSERVED],
        ),
    ],
)
def test_each_stage_that_changed_something_is_named(
    policy: Policy, known: dict[str, float], expected: list[Reason]
) -> None:
    assert reasons(policy, **known) == expected


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ({"is_fresh": False, "demand": 3.0}, "the newest sample is too old, or there is none"),
        ({"demand": 3.0, "other": 7.0}, "a further metric asks for the most"),
        ({}, "no ready pod has a sample"),
        (
            {"usage": 9.0, "ready": 3.0, "unready": 1.0, "missing": 2.0},
            "usage 9 of 3 ready pods / target 0.5 (1 not ready, 2 without a sample)",
        ),
    ],
)
def test_a_chain_says_what_is_known_of_the_demand(known: dict[str, float], text: str) -> None:
    assert chain(POLICY, replace(RUNNING, **known))[0].text == text


def test_a_metric_without_a_value_is_named_where_there_are_no_pods_to_ask() -> None:
    situation = replace(situation_of([RUNNING]), pods=None)
    steps = decide(Policies.from_rows([POLICY]), situation, Memory(1)).explain(0)
    assert steps[0].text == "the demand metric has no value"


def test_the_grace_after_unknown_demand_is_named() -> None:
    policy, memory = replace(POLICY, recovery_grace_seconds=60), Memory(1)
    chain(policy, RUNNING, memory)
    steps = chain(policy, replace(RUNNING, now=15.0, demand=1.0), memory)
    assert steps[-1] == Step(
        reason=Reason.HELD_GRACE,
        replicas=10.0,
        text="no scale-in within 60 s after demand was unknown",
    )


@settings(max_examples=15, deadline=None)
@given(rng=seeds)
def test_a_chain_ends_at_what_is_run_and_with_the_reason_that_decided(
    rng: np.random.Generator,
) -> None:
    knobs = [some_policy(rng) for _ in range(8)]
    policies, memory = Policies.from_rows(knobs), Memory(len(knobs))
    current = [float(rng.integers(0, 40)) for _ in knobs]
    inputs = {Reason.DEMAND, Reason.DEMAND_PARTIAL, Reason.WITHIN_TOLERANCE, Reason.FORECAST}
    for moment in some_moments(rng, count=len(knobs), moments=6):
        found = decide(policies, situation_of(with_replicas(moment, current)), memory)
        current = found.desired.tolist()
        codes = found.reasons
        for row in range(len(knobs)):
            steps = [s for s in found.explain(row) if s.reason is not Reason.OBSERVED]
            decided = REASONS[codes[row]]
            if len(steps) > 2:
                assert steps[-1].replicas == current[row]
                assert steps[-1].reason is decided
            else:
                assert decided in inputs
                assert current[row] in [s.replicas for s in steps]


@pytest.mark.parametrize(("upper", "text"), [(nan, "there is none"), (inf, "inf is no forecast")])
def test_a_forecast_that_cannot_be_used_is_named(upper: float, text: str) -> None:
    step = chain(POLICY, replace(RUNNING, demand=3.0, forecast=upper))[1]
    assert (step.reason, step.text) == (Reason.NO_FORECAST, text)
