import numpy as np
import pytest

from fakes.autoscalers import MINUTE, NOW, FakeDemand, subject, tide
from gputide.autoscaler.engine import AutoscalerEngine
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


async def test_a_week_of_demand_is_in_units_of_what_a_pod_requests() -> None:
    source = FakeDemand(history=lambda _row, minutes: np.full(len(minutes), 3.0))
    engine, upkeep = both(source)
    one = subject(requests={"nvidia.com/gpu": 2.0})
    await engine.round([one], now_seconds=NOW)
    await finish(upkeep)
    row = engine.rows.by_key[one.key].ring_row
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
