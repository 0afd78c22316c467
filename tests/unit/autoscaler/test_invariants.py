"""Whatever the sources, the clock and the cluster do: two laws hold in every round.

Never a scale-in on what is not known or was not known within the grace period, nor, within a
stabilization window of a start or a gap, to less than what ran then; never beyond the bound in
force.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fakes.autoscalers import NOW, FakeDemand, subject, tide
from gputide.autoscaler.demand.model import FloatArray
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import DemandState, Obstacle, Outcome, Subject
from gputide.autoscaler.settings import EngineSettings
from gputide.autoscaler.times import longest_gap_seconds
from gputide.autoscaler.upkeep import Upkeep
from gputide.clock import SystemClock
from gputide.scaling.rounding import ceil_replicas

GRACE_SECONDS = 120
GAP_SECONDS = longest_gap_seconds(15)
SPRING, AUTUMN = 1_774_745_400.0, 1_793_060_400.0
"""Half an hour before Berlin's clocks change in 2026."""

BOUNDS = [
    {
        "startTime": "2026-01-01 00:00:00",
        "endTime": "2026-12-31 00:00:00",
        "bounds": [{"cron": "* 2-3 ? * *", "minReplicas": 3, "maxReplicas": 6}],
    }
]
GPU = {
    "type": "Resource",
    "resource": {"name": "gpu", "target": {"type": "Utilization", "averageUtilization": 20}},
}
QUEUE = {
    "type": "External",
    "external": {
        "metric": {"name": "queue"},
        "target": {"type": "AverageValue", "averageValue": "10"},
    },
}
ANSWERS = ["good", "half", "nan", "infinite", "negative", "twice", "none", *DemandState]
PASTS: dict[str, Callable[[Any, FloatArray], FloatArray] | None] = {
    "away": None,
    "tide": tide,
    "high": lambda _row, minutes: np.full(len(minutes), 9.0),
    "empty": lambda _row, minutes: np.full(len(minutes), np.nan),
    "short": lambda _row, minutes: np.where(minutes > minutes[-1] - 45, 0.3, np.nan),
}


class Rounds(RuleBasedStateMachine):
    """One workload, its cluster, its sources; what the engine writes is done."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.source = FakeDemand(value=0.0)
        self.replicas, self.ready = 4, 4
        self.spec: dict[str, Any] = {}
        self.gpus, self.total, self.answer = 1.0, 0.8, "good"
        self.obstacle: Obstacle | None = None
        self.newest: Outcome | None = None
        self.unknown_at = self.unseen_at = -np.inf
        self.found = 4
        """Replicas when somebody looked again."""

        self.begin()

    def begin(self) -> None:
        self.engine = AutoscalerEngine(self.source, EngineSettings(history_days=1))
        self.upkeep = Upkeep(self.engine, SystemClock())

    def teardown(self) -> None:
        self.runner.close()

    @initialize(
        start=st.sampled_from([NOW, SPRING, AUTUMN]),
        metrics=st.integers(1, 2),
        window=st.sampled_from([0, 300]),
    )
    def start(self, start: float, metrics: int, window: int) -> None:
        self.now, self.rounded_at, self.unseen_at = start, start, start
        self.window = window
        self.spec = {
            "minReplicas": 2,
            "maxReplicas": 20,
            "stabilizationWindowSeconds": window,
            "timeZone": "Europe/Berlin",
            "instanceBounds": BOUNDS,
            "metrics": [GPU, QUEUE][:metrics],
        }

    @rule(answer=st.sampled_from(ANSWERS), total=st.floats(0, 5))
    def answers(self, answer: str, total: float) -> None:
        self.answer, self.total = answer, total

    @rule(value=st.sampled_from([None, 0.0, 25.0, 90.0]))
    def queue_says(self, value: float | None) -> None:
        self.source.value = value

    @rule(name=st.sampled_from(sorted(PASTS)))
    def past_is(self, name: str) -> None:
        self.source.history = PASTS[name]

    @rule(replicas=st.integers(0, 25))
    def somebody_scales(self, replicas: int) -> None:
        self.replicas, self.ready = replicas, min(self.ready, replicas)

    @rule()
    def pods_become_ready(self) -> None:
        self.ready = self.replicas

    @rule(ready=st.integers(0, 4))
    def pods_become_unready(self, ready: int) -> None:
        self.ready = min(ready, self.replicas)

    @rule(strategy=st.sampled_from(["auto", "proactive", "reactive", "observer"]))
    def strategy_is(self, strategy: str) -> None:
        self.spec["scaleStrategy"] = strategy

    @rule(most=st.sampled_from([8, 20]), gpus=st.sampled_from([1.0, 4.0]))
    def spec_is_edited(self, most: int, gpus: float) -> None:
        self.spec["maxReplicas"], self.gpus = most, gpus

    @rule(obstacle=st.sampled_from([None, Obstacle.HPA_ON_TARGET]))
    def obstacle_is(self, obstacle: Obstacle | None) -> None:
        self.obstacle = obstacle

    @rule(has_state=st.booleans(), passed=st.sampled_from([0.0, 30.0, 1800.0, 7200.0]))
    def restarts(self, has_state: bool, passed: float) -> None:  # noqa: FBT001  hypothesis names it
        state = self.engine.save()
        self.begin()
        self.now += passed
        if has_state and self.newest is not None:
            self.engine.restore(state)
        else:
            self.unseen_at = np.inf  # until its first round

    @rule()
    def past_is_kept_up(self) -> None:
        async def work() -> None:
            for _ in range(4):
                await self.upkeep.once()

        self.runner.run(work())

    @rule(seconds=st.sampled_from([15.0, 15.0, 15.0, 60.0, 400.0, 3600.0, -30.0, -3600.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.make_round()

    @rule(times=st.integers(5, 40))
    def rounds_are_made(self, times: int) -> None:
        for _ in range(times):
            self.now += 15
            self.make_round()

    def make_round(self) -> None:
        one = subject(
            replicas=self.replicas,
            ready=self.ready,
            requests={"nvidia.com/gpu": self.gpus},
            obstacle=self.obstacle,
            **self.spec,
        )
        self.say(one.target.pods if one.target else ())
        self.is_known = self.knows(one)
        [outcome] = self.runner.run(self.engine.round([one], now_seconds=self.now))
        self.take_note(outcome)
        self.check(outcome)
        if outcome.is_write:
            assert outcome.desired_replicas is not None
            self.replicas = outcome.desired_replicas
            self.ready = min(self.ready, self.replicas)
        self.newest = outcome

    def say(self, pods: Any) -> None:  # noqa: ANN401  the model's own tuple
        names = [pod.name for pod in pods]
        source, answer = self.source, self.answer
        share = self.total / len(names) if names else 0.0
        source.pods, source.duplicates = dict.fromkeys(names, share), set()
        is_state = answer in set(DemandState)
        source.state = DemandState(answer) if is_state else DemandState.FRESH
        odd = {"nan": float("nan"), "infinite": float("nan"), "negative": float("nan")}
        if answer in odd:  # what the adapter makes of all three
            source.pods = dict.fromkeys(names, odd[answer])
        elif answer == "half":
            source.pods = dict(list(source.pods.items())[::2])
        elif answer == "twice":
            source.duplicates = set(names)
        elif answer == "none":
            source.pods = {}

    def knows(self, one: Subject) -> bool:
        """Whether every ready pod, and the queue, is told of by one good number."""
        assert one.target is not None
        told, ready = self.source.pods, [pod.name for pod in one.target.pods if pod.is_ready]
        is_told = self.source.state is DemandState.FRESH and not self.source.duplicates
        is_whole = all(told.get(name, np.nan) >= 0 for name in ready)
        has_queue = QUEUE not in self.spec["metrics"] or self.source.value is not None
        return is_told and is_whole and has_queue and (bool(ready) or not self.replicas)

    def take_note(self, outcome: Outcome) -> None:
        """Keep the times that the laws speak of, in the engine's own clock."""
        passed = self.now - self.rounded_at
        if self.unseen_at == np.inf or not -GAP_SECONDS <= passed <= GAP_SECONDS:
            self.unknown_at = self.now if self.unseen_at < np.inf else -np.inf
            self.unseen_at, self.found = self.now, self.replicas
        self.rounded_at = self.now
        if not self.is_known:
            self.unknown_at = self.now
        is_fresh = all(one.state is DemandState.FRESH for one in outcome.demands)
        assert self.is_known or not is_fresh

    def check(self, outcome: Outcome) -> None:
        current, desired, bound = self.replicas, outcome.desired_replicas, outcome.bound
        assert outcome.current_replicas == current
        assert desired is not None
        is_paused = current == 0 and bound.min_replicas > 0
        assert is_paused or bound.min_replicas <= desired <= bound.max_replicas
        assert not is_paused or (desired, outcome.is_write) == (0, False)
        if outcome.is_write:
            assert self.obstacle is None
            assert self.spec.get("scaleStrategy", "auto") != "observer"
        if desired < min(current, bound.max_replicas):
            self.check_scale_in(outcome, desired)

    def check_scale_in(self, outcome: Outcome, desired: int) -> None:
        assert self.is_known
        assert self.now - self.unknown_at >= GRACE_SECONDS
        assert desired >= self.found or self.now - self.unseen_at >= self.window
        if self.spec.get("scaleStrategy") == "proactive":
            return
        for demand, target in zip(outcome.demands, (0.2, 10.0), strict=False):
            assert demand.value is not None
            assert desired >= ceil_replicas(np.array(demand.value / target)) or (
                desired == outcome.bound.max_replicas
            )

    @invariant()
    def forecasts_are_numbers_or_none(self) -> None:
        if self.newest is not None and self.newest.forecast_demand is not None:
            assert 0 <= self.newest.forecast_demand < np.inf


TestRounds = Rounds.TestCase
TestRounds.settings = settings(deadline=None, max_examples=30, stateful_step_count=25)
