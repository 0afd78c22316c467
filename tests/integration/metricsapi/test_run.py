"""The whole server over TLS: behind an API server with the real kubectl, and by itself."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.browser import chromium, opened
from fakes.forecast_endpoint import autoscaler, detail
from fakes.http_server import http_server
from fakes.kubeapi_server import KubeapiServer
from fakes.kubectl import Kubectl
from fakes.metricsapi_server import metricsapi_server, register
from gputide.errors import GputideError
from gputide.metricsapi.settings import ServingSettings

EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1"
OBSERVER = "/apis/metrics.alibabacloud.com/v1beta1/namespaces/default/predictionsobserver"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


def fresh() -> dict[str, object]:
    """Return a forecast of now."""
    return detail(issuedAt=datetime.now(UTC).timestamp())  # noqa: TID251 the real server has the real time


def draw(page: Path) -> tuple[list[str], list[str]]:
    """Open a page as a person does; return its charts' titles, and what went wrong."""
    with chromium() as browser, opened(browser, page) as seen:
        seen.draw_all()
        titles = seen.page.locator(".chart-title").all_inner_texts()
        return titles, [*seen.complaints, *(r for r in seen.requests if "file:" not in r)]


async def test_the_tutorials_line_works_as_written_behind_an_api_server(
    cluster: KubeapiServer, kubectl: Kubectl, tmp_path: Path
) -> None:
    account = cluster.service_account("gputide-system", "gputide-metricsapi")
    serving = ServingSettings(kubeconfig=str(account))
    async with (
        http_server(autoscaler(fresh())) as endpoint,
        metricsapi_server(tmp_path, serving=serving, forecast_url=(endpoint.url,)) as api,
    ):
        await asyncio.to_thread(register, kubectl, api)
        wait = ("wait", "--for=condition=Available", "--timeout=60s", "apiservice")
        await asyncio.to_thread(kubectl, *wait, "v1beta1.metrics.alibabacloud.com")
        await asyncio.to_thread(kubectl, *wait, "v1beta1.external.metrics.k8s.io")
        line = f"kubectl get --raw '{OBSERVER}/fib-gpu' | jq -r .content | base64 -d > o.html"
        await asyncio.to_thread(kubectl.shell, line, tmp_path)
        titles, complaints = await asyncio.to_thread(draw, tmp_path / "o.html")
        raw = (
            f"{EXTERNAL}/namespaces/default/gputide_forecast_replicas?labelSelector=ahpa%3Dfib-gpu"
        )
        value = await asyncio.to_thread(kubectl, "get", "--raw", raw)
        table = await asyncio.to_thread(kubectl, "get", "predictionsobserver")
        listed = await asyncio.to_thread(
            kubectl, "api-resources", "--api-group=metrics.alibabacloud.com"
        )
        alice = Kubectl(cluster.kubeconfig(user="alice"), cluster.folder)
        refused = await asyncio.to_thread(alice.fails, "get", "--raw", f"{OBSERVER}/fib-gpu")

    assert titles == ["Predict GPU Resource Observer", "Predict POD Observer"]
    assert complaints == []
    assert '"value":"12"' in value
    assert "fib-gpu" in table
    assert "predictionsobserver" in listed
    assert "alice" in refused
    assert "forbidden" in refused


async def test_without_the_front_proxys_certificate_nobody_can_claim_to_be_another(
    cluster: KubeapiServer, tmp_path: Path
) -> None:
    account = cluster.service_account("gputide-system", "gputide-metricsapi")
    async with metricsapi_server(tmp_path, serving=ServingSettings(kubeconfig=str(account))) as api:
        claims = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
        answer = await api.client.get(EXTERNAL, headers=claims)

    assert answer.status_code == 403
    assert 'User "system:anonymous"' in answer.json()["message"]


async def test_discovery_is_quick_while_everything_behind_is_down(tmp_path: Path) -> None:
    async with metricsapi_server(
        tmp_path, forecast_url=("http://127.0.0.1:1",), forward_url="http://127.0.0.1:1"
    ) as api:
        took = {}
        for path, accept in (("/apis", AGGREGATED), ("/apis", "application/json"), (EXTERNAL, "")):
            times = []
            for _ in range(50):
                started = time.perf_counter()
                answer = await api.client.get(path, headers={"accept": accept or "*/*"})
                times.append(time.perf_counter() - started)
                assert answer.status_code == 200
            took[path, accept] = sorted(times)[25]
        health = [(await api.client.get(path)).text for path in ("/healthz", "/readyz", "/livez")]

    assert health == ["ok", "ok", "ok"]
    assert max(took.values()) < 0.05, took  # 5 ms at rest; the machine of the tests is shared


async def test_an_external_metric_of_a_loop_of_servers_ends_as_not_found(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    async with metricsapi_server(tmp_path / "one") as far:
        insecure = {"forward_ca_file": far.running.files.ca_file}
        async with metricsapi_server(tmp_path / "two", forward_url=far.url, **insecure) as near:
            path = f"{EXTERNAL}/namespaces/n/nobodys"
            answer = await near.client.get(path)
            again = await near.client.get(path, headers={"X-Gputide-Forwarded": "1"})
            own = await near.own_metrics()
            others = await far.own_metrics()

    assert (answer.status_code, again.status_code) == (404, 404)
    assert answer.json()["message"].startswith("the server could not find the metric nobodys")
    count = 'requests_total{group="external.metrics.k8s.io",code="404"}'
    assert f"{count} 2" in own
    assert f"{count} 1" in others  # what had been sent on once was not sent on again


async def test_forecasts_are_external_metrics_and_an_old_one_is_not_found(tmp_path: Path) -> None:
    old = detail("old") | {"issuedAt": 1000.0}
    async with (
        http_server(autoscaler(fresh(), old)) as endpoint,
        metricsapi_server(tmp_path, forecast_url=(endpoint.url,)) as api,
    ):
        path = f"{EXTERNAL}/namespaces/default/gputide_forecast_demand"
        good = await api.client.get(path, params={"labelSelector": "ahpa=fib-gpu"})
        bad = await api.client.get(path, params={"labelSelector": "ahpa=old"})
        listed = [one["name"] for one in (await api.client.get(EXTERNAL)).json()["resources"]]

    assert good.json()["items"][0]["value"] == "2345m"
    assert (bad.status_code, bad.json()["reason"]) == (404, "NotFound")
    assert "s old, more than 180 s" in bad.json()["message"]
    assert listed == ["gputide_forecast_demand", "gputide_forecast_replicas", "gputide_demand"]


async def test_the_servers_own_metrics_are_on_a_plain_port(tmp_path: Path) -> None:
    async with metricsapi_server(tmp_path) as api:
        await api.client.get("/apis")
        page = await api.own_metrics()

    assert "gputide_metricsapi_build_info{" in page
    assert "gputide_metricsapi_certificate_expiry_timestamp_seconds " in page
    assert 'gputide_metricsapi_requests_total{group="other",code="200"} 1' in page


async def test_a_certificate_that_cannot_be_used_ends_the_start_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "tls.crt").write_text("no certificate")
    (tmp_path / "tls.key").write_text("no key")
    serving = ServingSettings(
        without_cluster=True,
        authorization="none",
        tls_cert_file=tmp_path / "tls.crt",
        tls_private_key_file=tmp_path / "tls.key",
    )
    with pytest.raises(GputideError, match=r"^tls: .*tls\.crt"):
        async with metricsapi_server(tmp_path, serving=serving):
            raise AssertionError
