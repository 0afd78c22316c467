"""Windows and limits of `behavior`, against what Kubernetes documents."""

from dataclasses import replace

import numpy as np
import pytest

from gputide.scaling import (
    HPA_DOWN,
    HPA_UP,
    Direction,
    Limit,
    LimitKind,
    Memory,
    Policies,
    Policy,
    Select,
)
from gputide.scaling.behavior import limit_rate, stabilize

POLICY = Policy(proactive_target=1.0, reactive_target=1.0, up=Direction(), down=Direction())


def pods(value: float, seconds: float = 60) -> Limit:
    return Limit(kind=LimitKind.PODS, value=value, period_seconds=seconds)


def percent(value: float, seconds: float = 60) -> Limit:
    return Limit(kind=LimitKind.PERCENT, value=value, period_seconds=seconds)


def limited(
    policy: Policy, current: float, wanted: float, *, now: float = 0.0, memory: Memory | None = None
) -> float:
    found = limit_rate(
        memory or Memory(1),
        Policies.from_rows([policy]),
        now_seconds=now,
        current=np.array([current]),
        wanted=np.array([wanted]),
    )
    return float(found[0])


@pytest.mark.parametrize(
    ("case", "up", "current", "expected"),
    [
        ("default: four pods when that is more", HPA_UP, 2, 6),
        ("default: doubling when that is more", HPA_UP, 10, 20),
        ("no policy: no limit", Direction(), 10, 1000),
        ("the strictest", Direction(limits=(pods(4), percent(100)), select=Select.MIN), 10, 14),
        ("percent is rounded up", Direction(limits=(percent(10),)), 5, 6),
        ("10 % of 100 is 10, whatever floats say", Direction(limits=(percent(10),)), 100, 110),
        ("disabled", Direction(select=Select.DISABLED), 10, 10),
        ("percent alone starts nothing at zero", Direction(limits=(percent(100),)), 0, 0),
    ],
)
def test_scale_out_is_limited(case: str, up: Direction, current: float, expected: float) -> None:
    assert limited(replace(POLICY, up=up), current, 1000) == expected, case


@pytest.mark.parametrize(
    ("case", "down", "current", "expected"),
    [
        ("default: all at once", HPA_DOWN, 10, 0),
        ("no policy: no limit", Direction(), 10, 0),
        ("two pods a minute", Direction(limits=(pods(2),)), 10, 8),
        ("percent is rounded in favour of the move", Direction(limits=(percent(10),)), 15, 13),
        ("90 % leaves one of ten, whatever floats say", Direction(limits=(percent(90),)), 10, 1),
        ("the most permissive", Direction(limits=(pods(2), percent(50))), 10, 5),
        ("the strictest", Direction(limits=(pods(2), percent(50)), select=Select.MIN), 10, 8),
        ("disabled", Direction(limits=(pods(2),), select=Select.DISABLED), 10, 10),
    ],
)
def test_scale_in_is_limited(case: str, down: Direction, current: float, expected: float) -> None:
    assert limited(replace(POLICY, down=down), current, 0) == expected, case


def test_what_was_added_within_the_period_counts_against_the_limit() -> None:
    policy, memory = replace(POLICY, up=Direction(limits=(pods(4, 60),))), Memory(1)
    memory.changes.append(0.0, np.array([3.0]))

    assert limited(policy, 13, 20, now=10, memory=memory) == 14
    memory.changes.append(10.0, np.array([1.0]))
    assert limited(policy, 14, 20, now=59, memory=memory) == 14
    assert limited(policy, 14, 20, now=60, memory=memory) == 17, "the first three are past"
    assert limited(policy, 14, 20, now=70, memory=memory) == 18


def test_what_was_removed_within_the_period_gives_room_to_come_back() -> None:
    policy, memory = replace(POLICY, up=Direction(limits=(pods(4, 60),))), Memory(1)
    memory.changes.append(0.0, np.array([-5.0]))

    assert limited(policy, 5, 20, now=10, memory=memory) == 14


def test_a_period_that_used_up_its_limit_does_not_scale_in_instead() -> None:
    policy, memory = replace(POLICY, up=Direction(limits=(pods(1, 60),))), Memory(1)
    memory.changes.append(0.0, np.array([9.0]))

    assert limited(policy, 10, 20, now=10, memory=memory) == 10


def test_each_limit_looks_back_over_its_own_period() -> None:
    up = Direction(limits=(pods(1, 15), pods(6, 600)), select=Select.MIN)
    policy, memory = replace(POLICY, up=up), Memory(1)
    memory.changes.append(0.0, np.array([5.0]))

    assert limited(policy, 10, 20, now=300, memory=memory) == 11
    memory.changes.append(300.0, np.array([1.0]))
    assert limited(policy, 11, 20, now=330, memory=memory) == 11, "six in ten minutes"


def stabilized(policy: Policy, wants: list[tuple[float, float]], current: float) -> float:
    policies, memory, found = Policies.from_rows([policy]), Memory(1), np.zeros(1)
    memory.has_new = False
    for now, want in wants:
        found = stabilize(
            memory,
            policies,
            now_seconds=now,
            current=np.array([current]),
            wanted=np.array([want]),
        )
    return float(found[0])


def test_scale_out_waits_for_the_least_recommendation_of_its_window() -> None:
    policy = replace(POLICY, up=Direction(stabilization_seconds=60))
    assert stabilized(policy, [(0, 12), (30, 18), (59, 30)], 10) == 12
    assert stabilized(policy, [(0, 12), (30, 18), (60, 30)], 10) == 18
    assert stabilized(policy, [(0, 8), (30, 18)], 10) == 10, "one that was lower holds"


def test_scale_in_waits_for_the_largest_recommendation_of_its_window() -> None:
    policy = replace(POLICY, down=Direction(stabilization_seconds=60))
    assert stabilized(policy, [(0, 9), (30, 7), (59, 2)], 10) == 9
    assert stabilized(policy, [(0, 9), (30, 7), (60, 2)], 10) == 7
    assert stabilized(policy, [(0, 12), (30, 7)], 10) == 10, "one that was higher holds"


def test_without_windows_the_recommendation_counts_at_once() -> None:
    assert stabilized(POLICY, [(0, 30), (1, 2)], 10) == 2
    assert stabilized(POLICY, [(0, 2), (1, 30)], 10) == 30
