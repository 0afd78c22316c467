from typing import Any

import httpx2
import pytest

from fakes.autoscalers import NOW, FakeDemand, subject
from gputide.autoscaler.api import Pages
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.metrics import outcome_families
from gputide.autoscaler.model import Key, Prediction
from gputide.autoscaler.predict import predict


async def pages(*, token: str = "", unready: str = "") -> httpx2.AsyncClient:
    source = FakeDemand()
    engine, one = AutoscalerEngine(source), subject()
    source.use(1.6, one)
    [outcome] = await engine.round([one], now_seconds=NOW)
    outcomes = {one.key: (one, outcome)}

    async def ask(key: Key) -> Prediction | None:
        return await predict(engine, key, now_seconds=NOW)

    made = Pages(
        read_outcomes=lambda: outcomes,
        read_unit=lambda _key: "GPUs",
        predict=ask,
        read_families=lambda: outcome_families(outcomes),
        why_unready=lambda: unready,
        read_token=lambda: token,
    )
    transport = httpx2.ASGITransport(app=made.app())
    return httpx2.AsyncClient(transport=transport, base_url="http://controller")


async def test_forecasts_are_listed_and_shown() -> None:
    client = await pages()
    [item] = (await client.get("/v1/forecasts")).json()["items"]
    steps = item.pop("steps")
    assert steps[0] == {"reason": "Demand", "replicas": 8.0, "text": "demand 1.6 / target 0.2"}
    assert item == {
        "namespace": "default",
        "name": "web",
        "uid": "uid-web",
        "metric": "gpu",
        "unit": "GPUs",
        "strategy": "auto",
        "target": 0.2,
        "isUtilization": True,
        "issuedAt": NOW,
        "leadSeconds": 180.0,
        "quantile": 0.95,
        "demand": 1.6,
        "forecastDemand": None,
        "desiredReplicas": 8,
        "publishedReplicas": 8,
        "currentReplicas": 4,
        "minReplicas": 1,
        "maxReplicas": 50,
        "boundPath": "spec",
        "timeZone": "UTC",
    }
    detail = (await client.get("/v1/forecasts/default/web")).json()
    assert detail["historyText"] == "the history is being read"
    assert detail["verdict"] is None
    assert set(detail["ahead"]["median"]) == {1.6}  # one minute is known: the level goes on
    assert detail["past"]["demand"][-1] == 1.6


async def test_an_unknown_autoscaler_is_not_found() -> None:
    answer = await (await pages()).get("/v1/forecasts/default/nobody")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "no forecast of default/nobody here"},
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "Bearer t"}, 200)],
)
async def test_forecasts_are_for_whoever_has_the_token(
    headers: dict[str, str], status: int
) -> None:
    client = await pages(token="t")
    for path in ("/v1/forecasts", "/v1/forecasts/default/web"):
        assert (await client.get(path, headers=headers)).status_code == status
    assert (await client.get("/metrics")).status_code == 200


async def test_readiness_says_what_is_missing() -> None:
    answer = await (await pages(unready="pods were not listed yet")).get("/readyz")
    assert (answer.status_code, answer.text) == (503, "pods were not listed yet\n")
    assert (await (await pages()).get("/readyz")).status_code == 200
    assert (await (await pages()).get("/healthz")).status_code == 200


async def test_the_vendors_six_metrics_are_there_and_the_unknown_has_no_series() -> None:
    text = (await (await pages()).get("/metrics")).text
    labels = '{namespace="default",ahpa="web",workload="web",metric="gpu"}'
    values: dict[str, Any] = dict(
        line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")
    )
    assert values[f"ahpa_reactive_pods{labels}"] == "8"
    assert values[f"ahpa_requested_pods{labels}"] == "8"
    assert values[f"ahpa_max_pods{labels}"] == "50"
    assert values[f"ahpa_min_pods{labels}"] == "1"
    assert values[f"ahpa_target_metric{labels}"] == "0.2"
    assert "ahpa_proactive_pods{" not in text
