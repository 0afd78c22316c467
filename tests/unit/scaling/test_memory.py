"""What rows remember, and what is forgotten."""

import numpy as np

from gputide.scaling import HPA_DOWN, HPA_UP, Memory, Policies, Policy, Strategy, decide
from unit.scaling.scalar import Row
from unit.scaling.worlds import situation_of

POLICY = Policy(
    strategy=Strategy.AUTO,
    proactive_target=1.0,
    reactive_target=1.0,
    up=HPA_UP,
    down=HPA_DOWN,
    recovery_grace_seconds=0,
)


def rows(now: float, *demands: float, current: list[float]) -> list[Row]:
    return [
        Row(now=now, current=replicas, low=0.0, high=1000.0, demand=demand)
        for demand, replicas in zip(demands, current, strict=True)
    ]


def run(memory: Memory, now: float, *demands: float, current: list[float]) -> list[float]:
    policies = Policies.from_rows([POLICY] * len(demands))
    found = situation_of(rows(now, *demands, current=current))
    return decide(policies, found, memory).desired.tolist()


def test_a_new_row_starts_from_the_replicas_that_it_has() -> None:
    memory = Memory(1)
    assert run(memory, 0.0, 2.0, current=[10.0]) == [10.0]
    assert run(memory, 299.0, 2.0, current=[10.0]) == [10.0]
    assert run(memory, 300.0, 2.0, current=[10.0]) == [2.0]


def test_rows_come_and_go_without_losing_what_the_others_remember() -> None:
    memory = Memory(2)
    run(memory, 0.0, 8.0, 3.0, current=[8.0, 3.0])
    memory = memory.select(np.array([1, -1, 0]))
    assert run(memory, 100.0, 1.0, 1.0, 1.0, current=[3.0, 5.0, 8.0]) == [3.0, 5.0, 8.0]
    assert run(memory, 350.0, 1.0, 1.0, 1.0, current=[3.0, 5.0, 8.0]) == [1.0, 5.0, 1.0]
    assert run(memory, 400.0, 1.0, 1.0, 1.0, current=[1.0, 5.0, 1.0]) == [1.0, 1.0, 1.0]


def test_a_write_that_failed_is_no_scale_event() -> None:
    memory = Memory(2)
    assert run(memory, 0.0, 90.0, 90.0, current=[10.0, 10.0]) == [20.0, 20.0]
    memory.withdraw(np.array([0]), now_seconds=0.0)
    assert run(memory, 5.0, 90.0, 90.0, current=[10.0, 20.0]) == [20.0, 20.0]
    memory.withdraw(np.array([1]), now_seconds=4.0)
    assert run(memory, 10.0, 90.0, 90.0, current=[20.0, 20.0]) == [20.0, 20.0]


def test_changes_older_than_every_period_are_forgotten() -> None:
    memory = Memory(1)
    current = [1.0]
    for step in range(50):
        current = run(memory, step * 15.0, 1.0 + 100 * (step % 2), current=current)
    assert len(memory.changes.times) <= 1
    assert len(memory.highest.times) <= 20
    assert memory.size == 1


def test_a_checkpoint_is_plain_arrays_and_loses_nothing() -> None:
    memory = Memory(2)
    run(memory, 0.0, 8.0, 3.0, current=[4.0, 3.0])
    saved = memory.save()
    again = Memory.restore(saved).save()

    assert all(array.dtype == np.float64 for array in saved.values())
    assert saved.keys() == again.keys()
    for name, array in saved.items():
        np.testing.assert_array_equal(array, again[name])
