"""The API server put together: groups in discovery, URLs byte by byte, the explain page."""

from typing import Any

import httpx2
import pytest

from fakes.api_servers import Gate
from fakes.clock import FakeClock
from fakes.metric_sources import AT, FakeCustom, FakeExternal, FakeForecasts, FakeObjects
from gputide.kubeapi.model import Attributes, JsonObject
from gputide.metricsapi.api import MetricsApi, Sources
from gputide.metricsapi.ports import Measured

CUSTOM = "/apis/custom.metrics.k8s.io"
PODS = f"{CUSTOM}/v1beta2/namespaces/default/pods"
SELECTOR = "labelSelector=app%3Dbert%2Ctier%21%3Dx"
EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1"


class FakeExplainer:
    async def explain(self, metric: str, namespace: str) -> JsonObject:
        return {"metric": metric, "namespace": namespace}


def api(gate: Gate | None = None, **changes: Any) -> MetricsApi:  # noqa: ANN401 any source
    gate = gate or Gate()
    sources = {
        "forecasts": FakeForecasts(),
        "external": [FakeExternal({"gpu_util": [Measured(value="189", at_seconds=AT)]})],
        "custom": FakeCustom({"bert-0": "63500m", "web": "2k", "gpu-1": "1", "default": "5"}),
        "objects": FakeObjects({"app=bert,tier!=x": ("bert-0",)}),
        "explainer": FakeExplainer(),
    } | changes
    return MetricsApi(Sources(**sources), authenticator=gate, authorizer=gate, clock=FakeClock())


async def get(server: MetricsApi, path: str) -> httpx2.Response:
    """Ask for exactly that path, as it goes over the wire."""
    transport = httpx2.ASGITransport(app=server.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get(path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{EXTERNAL}/namespaces/default/gpu_util?labelSelector=model%3Dbert", "189"),
        (
            f"{PODS}/%2A/gpu_util?{SELECTOR}&metricLabelSelector=gpu%3D0",
            "63500m",
        ),
        (
            f"{CUSTOM}/v1beta1/namespaces/default/pods/*/gpu_util?{SELECTOR}",
            "63500m",
        ),
        (f"{CUSTOM}/v1beta2/namespaces/default/deployments.apps/web/rps", "2k"),
        (f"{CUSTOM}/v1beta2/namespaces/default/metrics/jobs", "5"),
        (f"{CUSTOM}/v1beta2/nodes/gpu-1/power", "1"),
    ],
)
async def test_the_urls_of_hpas_clients_are_answered(path: str, value: str) -> None:
    answer = await get(api(), path)

    assert answer.status_code == 200, answer.text
    assert [one["value"] for one in answer.json()["items"]] == [value]


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        (
            f"{EXTERNAL}/namespaces/n/gpu_util",
            {"verb": "list", "resource": "gpu_util", "subresource": "", "name": ""},
        ),
        (
            f"{CUSTOM}/v1beta2/namespaces/n/pods/*/gpu_util",
            {"verb": "get", "resource": "pods", "subresource": "gpu_util", "name": "*"},
        ),
    ],
)
async def test_rights_are_asked_for_in_the_words_of_the_clusters_roles(
    path: str, asked: dict[str, str]
) -> None:
    gate = Gate()
    await get(api(gate), path)

    found: Attributes = gate.asked[0]
    assert found.namespace == "n"
    assert {key: getattr(found, key) for key in asked} == asked


async def test_the_newer_version_of_custom_metrics_is_preferred() -> None:
    group = (await get(api(), CUSTOM)).json()

    assert group["preferredVersion"]["version"] == "v1beta2"
    assert [one["version"] for one in group["versions"]] == ["v1beta2", "v1beta1"]


async def test_what_has_no_source_is_not_listed() -> None:
    groups = (await get(api(custom=None), "/apis")).json()["groups"]

    assert [one["name"] for one in groups] == [
        "external.metrics.k8s.io",
        "metrics.alibabacloud.com",
    ]


async def test_explain_is_a_path_that_may_be_forbidden_by_itself() -> None:
    gate = Gate()
    answer = await get(api(gate), "/explain?metric=m&namespace=n")

    assert answer.json() == {"metric": "m", "namespace": "n"}
    assert (gate.asked[0].is_resource, gate.asked[0].path, gate.asked[0].verb) == (
        False,
        "/explain",
        "get",
    )
    assert (await get(api(), "/explain")).status_code == 400
    assert (await get(api(explainer=None), "/explain?metric=m")).status_code == 404
    shut = Gate(denied_verbs=frozenset({"get"}))
    assert (await get(api(shut), "/explain?metric=m")).status_code == 403


async def test_what_the_caches_spared_is_counted_by_kind() -> None:
    server = api()
    for _ in range(3):
        await get(server, f"{EXTERNAL}/namespaces/default/gpu_util")

    assert server.asked() == {"external": 3, "page": 0, "custom": 0}
    assert server.passed_on() == {"external": 1, "page": 0, "custom": 0}
