from dataclasses import replace
from pathlib import Path

import pytest

from fakes.http_server import Request, http_server, response
from fakes.kube_api import KUBECONFIG
from gputide.autoscaler.cluster.metrics_api import KubeMetrics, items_of, path_of
from gputide.autoscaler.demand.model import Answer, ApiSource
from gputide.autoscaler.model import DemandState
from gputide.errors import SettingError
from gputide.kube.client import KubeClient
from gputide.kube.settings import KubeSettings

QUEUE = ApiSource(
    name="queue_depth", namespace="shop", label_selector="queue=a,zone in (x)", is_external=True
)
PODS = ApiSource(name="rps", namespace="shop", label_selector="path=/v1", is_external=False)


def test_the_paths_are_those_of_an_hpa() -> None:
    assert path_of(QUEUE) == (
        "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth"
        "?labelSelector=queue%3Da%2Czone+in+%28x%29"
    )
    assert path_of(PODS) == (
        "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps"
        "?metricLabelSelector=path%3D%2Fv1"
    )
    assert "?" not in path_of(replace(QUEUE, label_selector=""))


def test_quantities_are_summed_whatever_their_form() -> None:
    body = b'{"items": [{"value": "1500m"}, {"value": "2k"}, {"value": 3}]}'
    assert items_of(body, "x") == [("", 1.5), ("", 2000.0), ("", 3.0)]
    with pytest.raises(SettingError, match="x: the metrics API answers with no list"):
        items_of(b"<html>", "x")


async def asked(tmp_path: Path, answer: bytes, source: ApiSource = QUEUE) -> Answer:
    def respond(_: Request) -> bytes:
        return answer

    async with http_server(respond) as server:
        config = tmp_path / "config"
        config.write_text(KUBECONFIG.format(url=server.url, token="t"))
        settings = KubeSettings(kubeconfig=str(config), timeout_seconds=2)
        async with KubeClient(settings) as client:
            return await KubeMetrics(client).read(source, now_seconds=1.0)


async def test_a_value_is_demand_and_anything_else_is_unknown(tmp_path: Path) -> None:
    found = await asked(tmp_path, response(b'{"items": [{"value": "5"}, {"value": "7"}]}'))
    assert (found.value, found.state, found.series_count) == (12.0, DemandState.FRESH, 2)

    of_pods = b'{"items": [{"describedObject": {"name": "web-0"}, "value": "2"}]}'
    pods = await asked(tmp_path, response(of_pods), PODS)
    assert (pods.value, pods.pods) == (None, {("shop", "web-0"): 2.0})
    empty = await asked(tmp_path, response(b'{"items": []}'))
    assert (empty.value, empty.state) == (None, DemandState.EMPTY)
    missing = b'{"kind": "Status", "code": 404, "message": "could not find the metric"}'
    gone = await asked(tmp_path, response(missing, status="404 Not Found"))
    assert (gone.state, gone.text) == (DemandState.EMPTY, "could not find the metric")
    refused = await asked(tmp_path, response(b"{}", status="403 Forbidden"))
    assert refused.state is DemandState.SOURCE_REFUSED
    noise = await asked(tmp_path, response(b"<html>"))
    assert noise.state is DemandState.SOURCE_REFUSED
