import numpy as np

from fakes.autoscalers import NOW, FakeDemand, subject, tide
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import Key
from gputide.autoscaler.predict import predict
from gputide.autoscaler.settings import EngineSettings
from gputide.autoscaler.upkeep import Upkeep
from gputide.autoscaler.wire import detail_of, encode
from gputide.clock import SystemClock


async def test_the_page_shows_what_came_and_what_was_predicted_for_it() -> None:
    source = FakeDemand(history=tide)
    engine = AutoscalerEngine(source, EngineSettings(history_days=3))
    one = subject(minReplicas=2, timeZone="Asia/Shanghai")
    source.use(0.6, one)
    [outcome] = await engine.round([one], now_seconds=NOW)
    upkeep = Upkeep(engine, SystemClock())
    while await upkeep.once():
        pass
    found = await predict(engine, one.key, now_seconds=NOW)

    assert found is not None
    assert found.unit == "GPUs"
    assert len(found.past_demand) == 3 * 1440
    assert found.past_unix_seconds[-1] == NOW - NOW % 60
    shown = ~np.isnan(found.past_predicted)
    assert shown.sum() == 2 * 1440
    covered = found.past_predicted[shown] >= found.past_demand[shown] * 0.99
    assert covered.mean() > 0.9
    assert np.nanmin(found.past_predicted_pods) >= 2
    assert found.past_pods.tolist() == [4.0] * len(found.past_pods)
    assert found.band is not None
    assert len(found.band_pods) == 1440
    [later] = await engine.round([one], now_seconds=NOW + 60)
    detail = detail_of(one, later, found, unit="GPUs")
    assert len(encode(detail)) < 400_000
    assert detail["past"]["demand"][-1] == 0.6
    assert detail["verdict"]["isSeasonalInUse"] is True
    assert outcome.verdict is None


async def test_a_workload_without_history_has_a_page_without_a_forecast() -> None:
    engine = AutoscalerEngine(FakeDemand(), EngineSettings(history_days=1))
    assert await predict(engine, Key(namespace="a", name="b"), now_seconds=NOW) is None
    one = subject()
    await engine.round([one], now_seconds=NOW)
    found = await predict(engine, one.key, now_seconds=NOW)
    assert found is not None
    assert found.band is None
    assert np.isnan(found.past_predicted).all()
    assert np.isnan(found.past_predicted_pods).all()
