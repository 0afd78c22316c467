from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.autoscalers import MINUTE, NOW, FakeDemand, subject, tide
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.history.ring import BLOCK_ROWS
from gputide.autoscaler.model import DemandState, Key, Obstacle, Outcome, Subject
from gputide.autoscaler.settings import EngineSettings
from gputide.autoscaler.upkeep import Upkeep
from gputide.clock import SystemClock
from gputide.scaling import Reason

GRACE_AND_WINDOW = 105 + 300
"""Seconds: 120 of grace, whose last round is at 105, and the stabilization window."""

UNKNOWN_STATES = [state for state in DemandState if state is not DemandState.FRESH]


def engine_of(source: FakeDemand, *, days: int = 7) -> AutoscalerEngine:
    return AutoscalerEngine(source, EngineSettings(history_days=days))


async def finish(upkeep: Upkeep) -> None:
    while await upkeep.once():
        pass


async def settled(engine: AutoscalerEngine, one: Subject, *, seconds: float = 600) -> float:
    """Make rounds until no window of the start matters any more; return the time."""
    now = NOW
    while now < NOW + seconds:
        await engine.round([one], now_seconds=now)
        now += 15
    return now


async def test_the_tutorials_rows_come_out_zero_and_ten() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=1, scaleStrategy="observer", minReplicas=0)
    source.use(0.0, one)
    [idle] = await engine.round([one], now_seconds=NOW)
    four = subject(replicas=4, scaleStrategy="observer", minReplicas=0)
    source.use(1.89, four)
    [busy] = await engine.round([four], now_seconds=NOW + 15)

    assert (idle.published_replicas, idle.current_replicas, idle.is_write) == (0, 1, False)
    assert (busy.published_replicas, busy.current_replicas, busy.is_write) == (10, 4, False)
    assert busy.demands[0].value == pytest.approx(1.89)


@pytest.mark.parametrize("state", UNKNOWN_STATES, ids=str)
async def test_what_is_not_known_scales_nothing_in(state: DemandState) -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=8)
    source.use(0.05, one)
    source.state = state
    now = await settled(engine, one, seconds=900)
    [outcome] = await engine.round([one], now_seconds=now)

    assert outcome.demands[0].state is state
    assert outcome.demands[0].text == "said by the fake"
    assert (outcome.desired_replicas, outcome.is_write) == (8, False)
    assert any(step.reason is Reason.HELD_UNKNOWN for step in outcome.steps)


async def test_after_the_start_nothing_is_scaled_in_within_the_window() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=8)
    source.use(0.2, one)
    [first] = await engine.round([one], now_seconds=NOW)
    assert (first.desired_replicas, first.is_write) == (8, False)
    now = await settled(engine, one, seconds=330)
    [later] = await engine.round([one], now_seconds=now)
    assert (later.desired_replicas, later.is_write) == (1, True)


async def test_with_half_of_the_pods_missing_it_scales_out_and_never_in() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=4)
    source.pods = {"web-0": 0.9, "web-1": 0.9}
    [outcome] = await engine.round([one], now_seconds=NOW)
    assert outcome.demands[0].state is DemandState.PARTIAL
    assert outcome.desired_replicas == 8  # 1.8 / 0.2 is 9; the behavior allows twice as many

    source.pods = {"web-0": 0.01, "web-1": 0.01}
    now = await settled(engine, one, seconds=900)
    [outcome] = await engine.round([one], now_seconds=now)
    assert outcome.desired_replicas == 4


async def test_an_obstacle_is_observed_and_never_written() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=4, obstacle=Obstacle.HPA_ON_TARGET)
    source.use(3.6, one)
    for passed in range(5):
        [outcome] = await engine.round([one], now_seconds=NOW + 15 * passed)
        assert outcome.is_write is False
        assert outcome.desired_replicas == 8  # a write that never was counts as no change
    [gone] = await engine.round([subject(has_target=False)], now_seconds=NOW + 100)
    assert (gone.is_write, gone.desired_replicas, gone.current_replicas) == (False, None, None)


async def test_a_write_that_failed_is_tried_again_and_uses_up_no_limit() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=4)
    source.use(3.6, one)
    for passed in range(4):
        now = NOW + 15 * passed
        [outcome] = await engine.round([one], now_seconds=now)
        assert (outcome.desired_replicas, outcome.is_write) == (8, True)
        engine.withdraw([one.key], now_seconds=now)
    engine.withdraw([Key(namespace="no", name="body")], now_seconds=now)


async def test_history_is_read_once_and_then_leads() -> None:
    source = FakeDemand(history=tide)
    engine, one = engine_of(source), subject(replicas=4)
    upkeep = Upkeep(engine, SystemClock())
    source.use(0.6, one)
    [before] = await engine.round([one], now_seconds=NOW)
    assert before.history_text == "the history is being read"
    while await upkeep.once():
        pass
    [after] = await engine.round([one], now_seconds=NOW + MINUTE)

    assert len(source.pasts) == 1
    assert after.history_text == ""
    assert after.forecast_demand is not None
    assert 0.2 <= after.forecast_demand <= 1.2
    assert after.verdict is not None
    assert after.verdict.periods_seconds[0] == 86_400


async def test_a_history_that_cannot_be_read_is_named_and_demand_goes_on_alone() -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=4)
    upkeep = Upkeep(engine, SystemClock())
    source.use(1.6, one)
    await engine.round([one], now_seconds=NOW)
    await upkeep.once()
    [outcome] = await engine.round([one], now_seconds=NOW + MINUTE)
    assert outcome.history_text == "the history cannot be read: Prometheus is away"
    assert (outcome.forecast_demand, outcome.desired_replicas) == (None, 8)


async def test_to_zero_and_back_by_a_series_that_exists_without_pods() -> None:
    source = FakeDemand(value=0.0)
    engine = engine_of(source)
    metric = {
        "type": "External",
        "external": {
            "metric": {"name": "queue"},
            "target": {"type": "AverageValue", "averageValue": "10"},
        },
    }
    one = subject(replicas=2, minReplicas=0, metrics=[metric])
    now = await settled(engine, one, seconds=400)
    [outcome] = await engine.round([one], now_seconds=now)
    assert (outcome.desired_replicas, outcome.is_write) == (0, True)

    asleep = subject(replicas=0, minReplicas=0, metrics=[metric])
    source.value = 25.0
    [outcome] = await engine.round([asleep], now_seconds=now + 15)
    assert (outcome.desired_replicas, outcome.is_write) == (3, True)


async def test_a_second_metric_that_is_unknown_blocks_scale_in_and_not_scale_out() -> None:
    source = FakeDemand(value=None)
    engine = engine_of(source)
    gpu: dict[str, Any] = {
        "type": "Resource",
        "resource": {"name": "gpu", "target": {"type": "Utilization", "averageUtilization": 20}},
    }
    queue = {
        "type": "External",
        "external": {
            "metric": {"name": "queue"},
            "target": {"type": "AverageValue", "averageValue": "10"},
        },
    }
    one = subject(replicas=8, metrics=[gpu, queue])
    source.use(0.2, one)
    now = await settled(engine, one, seconds=900)
    [held] = await engine.round([one], now_seconds=now)
    assert (held.desired_replicas, held.is_write) == (8, False)
    source.use(2.0, one)
    [out] = await engine.round([one], now_seconds=now + 15)
    assert out.desired_replicas == 10


async def test_state_survives_a_restart_and_old_state_does_not() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one, other = subject("web", replicas=8), subject("api", replicas=2)
    source.use(0.2, one)
    source.use(0.4, other)
    now = NOW
    while now < NOW + 330:
        await engine.round([one, other], now_seconds=now)
        now += 15

    restarted = engine_of(source)
    restarted.restore(engine.save())
    [outcome, _] = await restarted.round([one, other], now_seconds=now)
    assert (outcome.desired_replicas, outcome.is_write) == (1, True)

    late = engine_of(source)
    late.restore(engine.save())
    [outcome, _] = await late.round([one, other], now_seconds=now + 7200)
    assert outcome.is_write is False


async def test_an_object_made_anew_under_an_old_name_begins_anew() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    one = subject(replicas=8)
    source.use(0.2, one)
    now = await settled(engine, one, seconds=330)
    [outcome] = await engine.round([subject(replicas=8, uid="another")], now_seconds=now)
    assert outcome.is_write is False


async def test_a_clock_that_goes_back_is_survived_and_counted() -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=4)
    source.use(0.8, one)
    await engine.round([one], now_seconds=NOW)
    [outcome] = await engine.round([one], now_seconds=NOW - 3600)
    assert outcome.desired_replicas == 4
    assert engine.clock_jumps == 1
    [outcome] = await engine.round([one], now_seconds=NOW + 86_400)
    assert outcome.desired_replicas == 4


async def test_after_an_hour_back_history_and_forecast_go_on_by_the_new_time() -> None:
    source = FakeDemand(history=tide)
    engine, one = engine_of(source, days=1), subject(replicas=4)
    upkeep = Upkeep(engine, SystemClock())
    source.use(0.6, one)
    await engine.round([one], now_seconds=NOW)
    await finish(upkeep)
    await engine.round([one], now_seconds=NOW + 30 * 86_400)  # a clock that was wrong for once
    forecasts = []
    for passed in range(1, 40):
        [outcome] = await engine.round([one], now_seconds=NOW + MINUTE * passed)
        await finish(upkeep)
        forecasts.append(outcome.forecast_demand)
    row = engine.rows.by_key[one.key].ring_row

    assert engine.ring.newest_minute == int(NOW // 60) + 39
    assert engine.ring.known_minutes(row) >= 1440 - 2
    assert None not in forecasts[1:]
    assert len(set(forecasts)) > 30


@pytest.mark.parametrize("seconds", [1800.0, -1800.0], ids=["forward or asleep", "back"])
async def test_after_a_time_without_rounds_nothing_is_scaled_in_within_the_window(
    seconds: float,
) -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=8)
    source.use(1.6, one)
    now = await settled(engine, one) + seconds
    source.use(0.2, one)
    for passed in range(0, GRACE_AND_WINDOW, 15):
        [outcome] = await engine.round([one], now_seconds=now + passed)
        assert (outcome.desired_replicas, outcome.is_write) == (8, False)
    [outcome] = await engine.round([one], now_seconds=now + GRACE_AND_WINDOW)
    assert (outcome.desired_replicas, outcome.is_write) == (1, True)


async def test_after_a_restart_that_took_long_nothing_is_scaled_in_within_the_window() -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=8)
    source.use(1.6, one)
    now = await settled(engine, one) + 1800
    restarted = engine_of(source)
    restarted.restore(engine.save())
    source.use(0.2, one)
    for passed in range(0, GRACE_AND_WINDOW, 15):
        [outcome] = await restarted.round([one], now_seconds=now + passed)
        assert outcome.is_write is False
    [outcome] = await restarted.round([one], now_seconds=now + GRACE_AND_WINDOW)
    assert (outcome.desired_replicas, outcome.is_write) == (1, True)


async def test_a_write_that_failed_is_taken_back_while_the_clock_waits() -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=4)
    source.use(0.8, one)
    await engine.round([one], now_seconds=NOW)
    source.use(3.6, one)
    for passed in (-20.0, -10.0, 5.0):
        [outcome] = await engine.round([one], now_seconds=NOW + passed)
        assert (outcome.desired_replicas, outcome.is_write) == (8, True)
        engine.withdraw([one.key], now_seconds=NOW + passed)


@pytest.mark.parametrize("name", ["keys", "decided_at_seconds", "highest", "is_new"])
async def test_a_state_that_does_not_fit_together_is_not_used(name: str) -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=8)
    source.use(0.2, one)
    await engine.round([one], now_seconds=NOW)
    state = dict(engine.save())
    state[name] = state[name][:0]
    restarted = engine_of(source)
    restarted.restore(state)
    [outcome] = await restarted.round([one], now_seconds=NOW + 15)
    assert outcome.desired_replicas == 8


async def test_pods_that_warm_up_keep_replicas_and_ask_for_no_more_of_them() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    replicas, born, trail = 4, {f"web-{n}": -600.0 for n in range(4)}, []
    for passed in range(0, 900, 15):
        names = [f"web-{n}" for n in range(replicas)]
        ready = [name for name in names if passed - born.setdefault(name, passed) >= 90]
        share = (0.8 if passed < 60 else 1.0) / len(ready)  # the fifth pod is asked for
        source.pods = {name: share if name in ready else 0.95 for name in names}
        one = subject(replicas=replicas, ready=len(ready))
        [outcome] = await engine.round([one], now_seconds=NOW + passed)
        if outcome.is_write:
            assert outcome.desired_replicas is not None
            replicas = outcome.desired_replicas
        trail.append(replicas)
    assert set(trail) == {4, 5}
    assert trail[-1] == 5


async def test_what_unready_pods_use_is_no_reason_to_scale_them_in() -> None:
    source = FakeDemand()
    engine, one = engine_of(source), subject(replicas=8, ready=2)
    source.use(0.2, one)
    source.pods |= {f"web-{n}": 0.9 for n in range(2, 8)}
    now = await settled(engine, one, seconds=900)
    [outcome] = await engine.round([one], now_seconds=now)
    assert (outcome.demands[0].value, outcome.desired_replicas) == (pytest.approx(0.2), 8)


async def test_rows_come_and_go_without_touching_each_other() -> None:
    source = FakeDemand()
    engine = engine_of(source)
    names = ["a", "b", "c"]
    all_of_them = [subject(name, replicas=2) for name in names]
    for one in all_of_them:
        source.use(0.4, one)
    await engine.round(all_of_them, now_seconds=NOW)
    [left] = await engine.round(all_of_them[2:], now_seconds=NOW + 15)
    assert left.key.name == "c"
    outcomes = await engine.round(all_of_them, now_seconds=NOW + 30)
    assert [one.key.name for one in outcomes] == names
    assert await engine.round([], now_seconds=NOW + 45) == []


class World:
    """Random answers, rounds and times; what is written is done, as a cluster would."""

    def __init__(self) -> None:
        self.source = FakeDemand()
        self.engine = engine_of(self.source, days=1)
        self.replicas = 4
        self.now = NOW

    async def step(self, answer: str, total: float, seconds: float) -> tuple[Subject, Outcome]:
        one = subject(replicas=self.replicas, minReplicas=2, maxReplicas=20)
        self.source.pods, self.source.duplicates = {}, set()
        self.source.state = DemandState.FRESH
        self.source.use(total, one)
        if answer == "half":
            self.source.pods = dict(list(self.source.pods.items())[::2])
        elif answer == "nan":
            self.source.pods = dict.fromkeys(self.source.pods, float("nan"))
        elif answer == "twice":
            self.source.duplicates = set(self.source.pods)
        elif answer == "none":
            self.source.pods = {}
        elif answer != "good":
            self.source.state = DemandState(answer)
        self.now += seconds
        [outcome] = await self.engine.round([one], now_seconds=self.now)
        if outcome.is_write:
            assert outcome.desired_replicas is not None
            self.replicas = outcome.desired_replicas
        return one, outcome


ANSWERS = st.sampled_from(
    ["good", "good", "half", "nan", "twice", "none", *(state.value for state in UNKNOWN_STATES)]
)


@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(
        st.tuples(ANSWERS, st.floats(0, 5), st.sampled_from([15.0, 15.0, 60.0, 400.0, -30.0])),
        min_size=1,
        max_size=25,
    )
)
async def test_it_never_scales_in_on_what_it_does_not_know_and_never_beyond_the_bounds(
    steps: list[tuple[str, float, float]],
) -> None:
    world = World()
    for answer, total, seconds in steps:
        before = world.replicas
        _, outcome = await world.step(answer, total, seconds)
        assert outcome.desired_replicas is not None
        assert 2 <= outcome.desired_replicas <= 20
        if outcome.demands[0].state is not DemandState.FRESH:
            assert outcome.desired_replicas >= before
        for step in outcome.steps:
            assert isnan(step.replicas) or step.replicas >= 0


async def test_the_memory_of_a_week_is_bounded_by_the_most_workloads_at_once() -> None:
    engine = engine_of(FakeDemand())
    subjects = [subject(f"w{n}", replicas=1) for n in range(BLOCK_ROWS)]
    for passed in range(6):  # each round another one goes and another one comes
        await engine.round(subjects, now_seconds=NOW + 15 * passed)
        subjects = [*subjects[1:], subject(f"n{passed}", replicas=1)]
    assert engine.ring.size_bytes == BLOCK_ROWS * 7 * 1440 * np.dtype(np.float32).itemsize
