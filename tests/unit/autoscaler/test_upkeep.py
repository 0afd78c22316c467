from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import pytest

from fakes.autoscalers import MINUTE, NOW, FakeDemand, subject, tide
from gputide.autoscaler.demand.model import Past, PastRequest
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import DemandState
from gputide.autoscaler.settings import EngineSettings
from gputide.autoscaler.upkeep import LOAD_ROWS, Upkeep
from gputide.clock import SystemClock


def both(source: FakeDemand, *, days: int = 1) -> tuple[AutoscalerEngine, Upkeep]:
    engine = AutoscalerEngine(source, EngineSettings(history_days=days))
    return engine, Upkeep(engine, SystemClock())


async def finish(upkeep: Upkeep) -> None:
    while await upkeep.once():
        pass


async def test_many_workloads_are_read_a_few_hundred_at_a_time() -> None:
    source = FakeDemand(history=tide)
    engine, upkeep = both(source)
    subjects = [subject(f"w{n}", replicas=1) for n in range(LOAD_ROWS + 5)]
    await engine.round(subjects, now_seconds=NOW)
    await finish(upkeep)
    assert [count for count, _, _ in source.pasts] == [LOAD_ROWS, 5]
    assert upkeep.loaded_rows == upkeep.fitted_rows == LOAD_ROWS + 5
    start, end = source.pasts[0][1:]
    assert (end - start) // 60 == 1440 - 2  # the newest minute is the rounds' own


async def test_a_failure_is_tried_again_ever_later() -> None:
    source = FakeDemand()
    engine, upkeep = both(source)
    one = subject()
    times = []
    for passed in range(40):
        await engine.round([one], now_seconds=NOW + MINUTE * passed)
        before = len(source.pasts)
        await finish(upkeep)
        times += [passed] * (len(source.pasts) - before)
    assert times == [0, 1, 3, 8, 18]


async def test_minutes_that_no_round_saw_are_read_again() -> None:
    source = FakeDemand(history=tide)
    engine, upkeep = both(source)
    one = subject()
    source.use(0.6, one)
    await engine.round([one], now_seconds=NOW)
    await finish(upkeep)
    await engine.round([one], now_seconds=NOW + 30 * MINUTE)
    await finish(upkeep)

    row = engine.rows.by_key[one.key].ring_row
    assert len(source.pasts) == 2
    assert not np.isnan(engine.ring.last([row], 31)).any()


async def test_minutes_that_nobody_answered_are_read_again_once() -> None:
    source = FakeDemand(history=tide)
    engine, upkeep = both(source)
    one = subject()
    source.use(0.6, one)
    await engine.round([one], now_seconds=NOW)
    await finish(upkeep)
    for passed in range(1, 240):
        is_away = 10 <= passed < 190
        source.state = DemandState.SOURCE_DOWN if is_away else DemandState.FRESH
        await engine.round([one], now_seconds=NOW + passed * MINUTE)
        await finish(upkeep)

    row = engine.rows.by_key[one.key].ring_row
    assert len(source.pasts) == 2
    assert not np.isnan(engine.ring.last([row], 240)).any()


async def test_minutes_that_were_known_in_part_are_not_read_again() -> None:
    source = FakeDemand(history=tide)
    engine, upkeep = both(source)
    one = subject()
    source.use(0.6, one)
    await engine.round([one], now_seconds=NOW)
    await finish(upkeep)
    whole = dict(source.pods)
    for passed in range(1, 60):
        source.pods = {"web-0": 0.1} if passed < 50 else whole
        await engine.round([one], now_seconds=NOW + passed * MINUTE)
        await finish(upkeep)

    row = engine.rows.by_key[one.key].ring_row
    assert len(source.pasts) == 1  # Prometheus would tell the same lower bound as if it were all
    assert np.count_nonzero(np.isnan(engine.ring.last([row], 60))) == 49


class SlowPast(FakeDemand):
    """Somebody changes the cluster while it answers about the past."""

    def __init__(self, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__(history=lambda _row, minutes: np.full(len(minutes), 7.0))
        self._meanwhile = meanwhile

    async def past(
        self, requests: Sequence[PastRequest], *, start_seconds: int, end_seconds: int
    ) -> Past:
        found = await super().past(requests, start_seconds=start_seconds, end_seconds=end_seconds)
        await self._meanwhile()
        return found


async def test_the_past_of_a_workload_that_has_gone_is_not_given_to_the_next_one() -> None:
    async def replace() -> None:
        await engine.round([], now_seconds=NOW + 1)
        await engine.round([subject("other")], now_seconds=NOW + 2)

    source = SlowPast(replace)
    engine, upkeep = both(source)
    await engine.round([subject("web")], now_seconds=NOW)
    await upkeep.once()
    [row] = engine.rows.by_key.values()
    assert row.subject.key.name == "other"
    assert row.loaded_to_minute is None
    assert engine.ring.known_minutes(row.ring_row) == 0


async def test_the_past_of_another_metric_is_not_taken() -> None:
    memory = {
        "type": "Resource",
        "resource": {"name": "gpu_memory", "target": {"type": "AverageValue", "averageValue": 1}},
    }

    async def change() -> None:
        await engine.round([subject("web", metrics=[memory])], now_seconds=NOW + 1)

    source = SlowPast(change)
    engine, upkeep = both(source)
    await engine.round([subject("web")], now_seconds=NOW)
    await upkeep.once()
    [row] = engine.rows.by_key.values()
    assert row.loaded_to_minute is None
    assert engine.ring.known_minutes(row.ring_row) == 0


async def test_a_week_of_demand_is_in_units_of_what_a_pod_requests() -> None:
    source = FakeDemand(history=lambda _row, minutes: np.full(len(minutes), 3.0))
    engine, upkeep = both(source)
    one = subject(requests={"nvidia.com/gpu": 2.0})
    await engine.round([one], now_seconds=NOW)
    await finish(upkeep)
    row = engine.rows.by_key[one.key].ring_row
    assert np.nanmax(engine.ring.last([row], 100)) == 1.5


async def test_when_a_pod_requests_more_the_past_is_in_the_new_unit() -> None:
    source = FakeDemand(history=lambda _row, minutes: np.full(len(minutes), 3.0))
    engine, upkeep = both(source)
    await engine.round([subject(requests={"nvidia.com/gpu": 1.0})], now_seconds=NOW)
    await finish(upkeep)
    bigger = subject(requests={"nvidia.com/gpu": 4.0})
    await engine.round([bigger], now_seconds=NOW + MINUTE)
    await finish(upkeep)
    [outcome] = await engine.round([bigger], now_seconds=NOW + 2 * MINUTE)
    row = engine.rows.by_key[bigger.key].ring_row
    assert np.nanmax(engine.ring.last([row], 100)) == 0.75
    assert outcome.forecast_demand == pytest.approx(0.75)
    assert len(source.pasts) == 1


async def test_a_share_of_what_nobody_requests_has_no_past_until_somebody_does() -> None:
    source = FakeDemand(history=lambda _row, minutes: np.full(len(minutes), 3.0))
    engine, upkeep = both(source)
    cpu = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    await engine.round([subject(metrics=[cpu], requests={})], now_seconds=NOW)
    await finish(upkeep)
    [outcome] = await engine.round([subject(metrics=[cpu], requests={})], now_seconds=NOW + 1)
    assert source.pasts == []
    assert outcome.history_text == "the history waits for what a pod requests"
    asked = subject(metrics=[cpu], requests={"cpu": 2.0})
    await engine.round([asked], now_seconds=NOW + 2)
    await finish(upkeep)
    row = engine.rows.by_key[asked.key].ring_row
    assert np.nanmax(engine.ring.last([row], 100)) == 1.5


async def test_another_metric_begins_another_history() -> None:
    source = FakeDemand(history=tide)
    engine, upkeep = both(source)
    await engine.round([subject()], now_seconds=NOW)
    await finish(upkeep)
    memory = {
        "type": "Resource",
        "resource": {"name": "gpu_memory", "target": {"type": "AverageValue", "averageValue": 1}},
    }
    await engine.round([subject(metrics=[memory])], now_seconds=NOW + MINUTE)
    await finish(upkeep)
    assert len(source.pasts) == 2
    # a changed target alone does not
    other = {"type": "AverageValue", "averageValue": 2}
    memory["resource"] = {"name": "gpu_memory", "target": other}
    await engine.round([subject(metrics=[memory])], now_seconds=NOW + 2 * MINUTE)
    await finish(upkeep)
    assert len(source.pasts) == 2


@pytest.mark.parametrize("has_target", [True, False])
async def test_before_the_first_round_there_is_nothing_to_do(*, has_target: bool) -> None:
    source = FakeDemand(history=tide)
    engine, upkeep = both(source)
    assert not await upkeep.once()
    await engine.round([subject(has_target=has_target)], now_seconds=NOW)
    await upkeep.once()
    assert len(source.pasts) == has_target  # without pods, what one requests is not known
