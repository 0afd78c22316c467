"""The rules against a real Prometheus, through the whole server over TLS."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.adapter_rules import RULES, history
from fakes.kubeapi_server import KubeapiServer
from fakes.kubectl import Kubectl
from fakes.metricsapi_server import MetricsApiServer, metricsapi_server, register
from fakes.prometheus_server import PrometheusServer, running_prometheus, write_history
from gputide.clock import SystemClock
from gputide.metricsapi.asking import explanation
from gputide.metricsapi.settings import ServingSettings
from gputide.prometheus.settings import PrometheusSettings

CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2"
EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default"


@dataclass(frozen=True)
class Recorded:
    server: PrometheusServer
    newest_seconds: float


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("prometheus")
    now = datetime.now(UTC).timestamp()  # noqa: TID251 the real server has the real time
    write_history(folder, history(now))
    with running_prometheus(folder) as server:
        yield Recorded(server, now - 15)


@pytest.fixture
async def api(
    recorded: Recorded, tmp_path: Path, cluster: KubeapiServer
) -> AsyncIterator[MetricsApiServer]:
    (tmp_path / "rules.yaml").write_text(RULES)
    account = cluster.service_account("gputide-system", "gputide-metricsapi")
    async with metricsapi_server(
        tmp_path,
        serving=ServingSettings(kubeconfig=str(account), authorization="none"),
        prometheus=PrometheusSettings(url=recorded.server.url),
        config=tmp_path / "rules.yaml",
    ) as server:
        yield server


async def ask(api: MetricsApiServer, path: str, **query: str) -> list[dict[str, Any]]:
    answer = await api.client.get(path, params=query or None)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def refusal(api: MetricsApiServer, path: str, **query: str) -> str:
    answer = await api.client.get(path, params=query or None)
    assert (answer.status_code, answer.json()["reason"]) == (404, "NotFound")
    return str(answer.json()["message"])


async def test_an_external_metric_has_its_window_and_the_true_time_of_its_samples(
    api: MetricsApiServer, recorded: Recorded
) -> None:
    items = await ask(api, f"{EXTERNAL}/http_requests_per_second")

    assert sorted(one["metricLabels"]["model"] for one in items) == ["bert", "gpt"]
    assert {one["value"] for one in items} == {"10"}
    assert {one["window"] for one in items} == {120}
    stamp = datetime.fromisoformat(items[0]["timestamp"]).timestamp()
    assert stamp == int(recorded.newest_seconds)


async def test_the_selector_selects_series(api: MetricsApiServer) -> None:
    items = await ask(api, f"{EXTERNAL}/http_requests_per_second", labelSelector="model in (gpt)")
    assert [one["metricLabels"] for one in items] == [{"model": "gpt"}]
    text = await refusal(api, f"{EXTERNAL}/http_requests_per_second", labelSelector="model=none")
    assert 'no series has a sample: sum(rate(http_requests_total{model="none",namespace=' in text


async def test_infinity_is_left_out_and_small_numbers_stay(api: MetricsApiServer) -> None:
    items = await ask(api, f"{EXTERNAL}/queue_length")
    assert {one["metricLabels"]["queue"]: one["value"] for one in items} == {"a": "189", "b": "33m"}
    text = await refusal(api, f"{EXTERNAL}/queue_length", labelSelector="queue=broken")
    assert "all 1 values are not a number, infinite or too large" in text


async def test_a_long_range_over_samples_that_ended_is_stale(api: MetricsApiServer) -> None:
    items = await ask(api, f"{EXTERNAL}/jobs")
    assert [one["metricLabels"] for one in items] == [{"kind": "going"}]
    assert "stale: no sample of the last 300 s" in await refusal(
        api, f"{EXTERNAL}/jobs", labelSelector="kind=ended"
    )


async def test_a_scalar_is_a_value_without_labels(api: MetricsApiServer) -> None:
    items = await ask(api, f"{EXTERNAL}/queue_scalar")
    assert [(one["value"], one["metricLabels"]) for one in items] == [("189", {})]


async def test_metrics_of_one_pod_and_of_a_template(api: MetricsApiServer) -> None:
    pod = await ask(api, f"{CUSTOM}/namespaces/default/pods/bert-1/gpu_util")
    one = await ask(
        api, f"{CUSTOM}/namespaces/default/pods/bert-1/gpu_util", metricLabelSelector="gpu=1"
    )
    node = await ask(api, f"{CUSTOM}/nodes/gpu-1/node_power")
    web = await ask(api, f"{CUSTOM}/namespaces/default/deployments.apps/web/web_power")
    whole = await ask(api, f"{CUSTOM}/namespaces/default/metrics/web_power")

    assert [item["value"] for item in (*pod, *one, *node, *web)] == [
        "30500m",
        "40500m",
        "2k",
        "300",
    ]
    assert node[0]["describedObject"] == {"kind": "Node", "name": "gpu-1", "apiVersion": "/v1"}
    assert web[0]["describedObject"]["apiVersion"] == "apps/v1"
    assert [item["describedObject"]["name"] for item in whole] == ["default"]


async def test_a_pod_without_a_number_is_not_found(api: MetricsApiServer) -> None:
    text = await refusal(api, f"{CUSTOM}/namespaces/default/pods/bert-2/gpu_util")
    assert "not a number" in text


async def test_discovery_lists_what_the_rules_have(api: MetricsApiServer) -> None:
    await refusal(api, f"{EXTERNAL}/unknown")  # makes it look, should it not have yet
    external = (await api.client.get("/apis/external.metrics.k8s.io/v1beta1")).json()["resources"]
    custom = (await api.client.get(CUSTOM)).json()["resources"]

    assert [one["name"] for one in external] == [
        "http_requests_per_second",
        "queue_length",
        "queue_scalar",
        "jobs",
    ]
    assert {(one["name"], one["namespaced"]) for one in custom} == {
        ("namespaces/gpu_util", False),
        ("pods/gpu_util", True),
        ("nodes/node_power", False),
        ("namespaces/web_power", False),
        ("deployments.apps/web_power", True),
    }


async def test_64_clients_that_ask_the_same_cost_one_query(api: MetricsApiServer) -> None:
    path = f"{EXTERNAL}/http_requests_per_second"
    await ask(api, path, labelSelector="model=gpt")
    before = queries(await api.own_metrics())
    answers = await asyncio.gather(*(ask(api, path) for _ in range(64)))

    assert queries(await api.own_metrics()) == before + 1
    assert all(one == answers[0] for one in answers)


def queries(page: str) -> int:
    name = "gputide_metricsapi_prometheus_queries_total "
    return next(int(line.removeprefix(name)) for line in page.splitlines() if line.startswith(name))


async def test_new_rules_are_taken_up_and_bad_ones_are_not(
    api: MetricsApiServer, tmp_path: Path
) -> None:
    path = tmp_path / "rules.yaml"
    (tmp_path / "new").write_text(RULES.replace("queue_scalar", "queue_renamed"))
    (tmp_path / "new").replace(path)
    async with asyncio.timeout(20):
        while (await api.client.get(f"{EXTERNAL}/queue_renamed")).status_code != 200:
            await api.client.get("/healthz")
    (tmp_path / "new").write_text("rules: [{seriesQuery: x}]")
    (tmp_path / "new").replace(path)
    async with asyncio.timeout(20):
        while "rules_last_reload_successful 0" not in await api.own_metrics():
            await api.client.get("/healthz")

    assert [one["value"] for one in await ask(api, f"{EXTERNAL}/queue_renamed")] == ["189"]


async def test_explanations_say_the_query_and_what_is_missing(
    api: MetricsApiServer, recorded: Recorded, tmp_path: Path
) -> None:
    answer = await api.client.get(
        "/explain", params={"metric": "http_requests_per_second", "namespace": "default"}
    )
    row = answer.json()["rules"][2]
    assert answer.json()["verdict"] == "externalRules[0] has it for external metrics"
    assert row["queries"] == ['sum(rate(http_requests_total{namespace="default"}[2m])) by (model)']
    assert row["valuesFound"] == 2
    (tmp_path / "other.yaml").write_text(RULES)
    told = await explanation(
        tmp_path / "other.yaml",
        PrometheusSettings(url=recorded.server.url),
        SystemClock(),
        metric="gpu_use",
        namespace="default",
    )
    assert told[0] == "gpu_use: no rule has it"
    assert "  problem: its series are called gpu_util here, none of them gpu_use" in told


async def test_the_real_kubectl_reads_a_pods_metric_by_label(
    api: MetricsApiServer, kubectl: Kubectl
) -> None:
    pods = [pod_of(name) for name in ("bert-0", "bert-1", "bert-2")]
    for one in pods:
        await asyncio.to_thread(kubectl, "apply", "-f", "-", stdin=one)
    await asyncio.to_thread(register, kubectl, api)
    name = "v1beta2.custom.metrics.k8s.io"
    available = ("wait", "--for=condition=Available", "--timeout=60s", "apiservice", name)
    await asyncio.to_thread(kubectl, *available)
    path = f"{CUSTOM}/namespaces/default/pods/%2A/gpu_util?labelSelector=app%3Dbert"
    line = f"kubectl get --raw '{path}' | jq -rc '.items[] | [.describedObject.name, .value]'"
    out = await asyncio.to_thread(kubectl.shell, line, Path("/"))

    assert out.split() == ['["bert-0","63500m"]', '["bert-1","30500m"]']


def pod_of(name: str) -> str:
    return (
        "{apiVersion: v1, kind: Pod, metadata: {namespace: default, labels: {app: bert}, "
        f"name: {name}}}, spec: {{containers: [{{name: c, image: i}}]}}}}"
    )


async def test_discovery_does_not_wait_for_a_prometheus_that_is_down(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    async with metricsapi_server(
        tmp_path,
        prometheus=PrometheusSettings(url="http://127.0.0.1:1"),
        config=tmp_path / "rules.yaml",
    ) as api:
        times = []
        for _ in range(50):
            started = time.perf_counter()
            answer = await api.client.get("/apis/external.metrics.k8s.io/v1beta1")
            times.append(time.perf_counter() - started)
            assert answer.status_code == 200
        failed = await api.client.get(f"{EXTERNAL}/queue_length")

    assert sorted(times)[25] < 0.05  # 5 ms at rest; the machine of the tests is shared
    assert failed.status_code == 503
    assert "cannot connect" in failed.json()["message"]
