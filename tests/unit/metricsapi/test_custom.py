"""What custom.metrics.k8s.io answers, in both versions."""

from typing import Literal

import pytest

from fakes.clock import FakeClock
from fakes.metric_sources import PODS, FakeCustom, FakeObjects
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import ANONYMOUS, ReadRequest
from gputide.metricsapi.custom import CustomMetrics, CustomValues, asked
from gputide.metricsapi.ports import CustomAsk, CustomRow, Resource

VERSION = Literal["v1beta1", "v1beta2"]


def get(
    resource: str, name: str, metric: str = "", *, namespace: str = "", **query: str
) -> ReadRequest:
    return ReadRequest(
        user=ANONYMOUS,
        verb="get",
        resource=resource,
        namespace=namespace,
        name=name,
        subresource=metric,
        query={key: (value,) for key, value in query.items()},
    )


def group(
    values: dict[str, str], version: VERSION = "v1beta2", **names: tuple[str, ...]
) -> tuple[CustomMetrics, FakeCustom]:
    source = FakeCustom(values)
    objects = FakeObjects({key.replace("_", "="): one for key, one in names.items()})
    custom = CustomValues(source, objects, FakeClock(), CacheBounds(seconds=1))
    return CustomMetrics(custom, version), source


async def test_pods_are_found_by_label_and_their_series_by_the_other_selector() -> None:
    api, source = group({"bert-0": "63500m", "bert-1": "1"}, app_bert=("bert-0", "bert-1"))
    request = get(
        "pods",
        "*",
        "gpu_util",
        namespace="default",
        labelSelector="app=bert",
        metricLabelSelector="gpu=0",
    )
    answer = await api.read(request)

    assert source.asked == [
        CustomAsk(
            resource=PODS,
            namespace="default",
            names=("bert-0", "bert-1"),
            metric="gpu_util",
            selector="gpu=0",
            singular="pod",
        )
    ]
    assert answer["apiVersion"] == "custom.metrics.k8s.io/v1beta2"
    assert answer["items"][0] == {
        "describedObject": {
            "kind": "Pod",
            "namespace": "default",
            "name": "bert-0",
            "apiVersion": "/v1",
        },
        "metric": {"name": "gpu_util", "selector": {"matchLabels": {"gpu": "0"}}},
        "timestamp": "2026-03-02T00:00:45Z",
        "windowSeconds": 60,
        "value": "63500m",
    }
    assert [one["describedObject"]["name"] for one in answer["items"]] == ["bert-0", "bert-1"]


async def test_the_older_version_has_its_own_field_names() -> None:
    api, _ = group({"web": "2k"}, "v1beta1")
    answer = await api.read(get("deployments.apps", "web", "rps", namespace="n"))

    assert answer["items"] == [
        {
            "describedObject": {
                "kind": "Deployment",
                "namespace": "n",
                "name": "web",
                "apiVersion": "apps/v1",
            },
            "metricName": "rps",
            "timestamp": "2026-03-02T00:00:45Z",
            "window": 60,
            "value": "2k",
            "selector": None,
        }
    ]


async def test_an_object_without_a_sample_is_left_out_and_none_at_all_is_not_found() -> None:
    api, _ = group({"b": "1"}, x_1=("a", "b"), x_2=("a",))

    some = await api.read(get("pods", "*", "m", namespace="n", labelSelector="x=1"))
    assert [one["describedObject"]["name"] for one in some["items"]] == ["b"]
    with pytest.raises(StatusError, match="could not find the metric m for pods with selector x=2"):
        await api.read(get("pods", "*", "m", namespace="n", labelSelector="x=2"))
    with pytest.raises(StatusError, match="the selector selects no object"):
        await api.read(get("pods", "*", "m", namespace="n", labelSelector="x=3"))


@pytest.mark.parametrize(
    ("request_", "resource", "namespace", "name"),
    [
        (get("metrics", "m", namespace="n"), "namespaces", "n", "n"),
        (get("nodes", "gpu-1", "m"), "nodes", "", "gpu-1"),
        (get("deployments.apps", "web", "m", namespace="n"), "deployments.apps", "n", "web"),
    ],
)
def test_each_kind_of_url_names_its_object(
    request_: ReadRequest, resource: str, namespace: str, name: str
) -> None:
    found = asked(request_)

    assert (found.resource.qualified, found.namespace, found.names, found.metric) == (
        resource,
        namespace,
        (name,),
        "m",
    )


@pytest.mark.parametrize(
    "request_", [get("pods", "", namespace="n"), get("pods", "p", "m/x", namespace="n")]
)
def test_other_urls_are_not_found(request_: ReadRequest) -> None:
    with pytest.raises(StatusError, match="ask for RESOURCE/NAME/METRIC") as caught:
        asked(request_)
    assert caught.value.code == 404


async def test_a_namespace_that_is_itself_described_lies_in_none() -> None:
    api, _ = group({"n": "5"})
    answer = await api.read(get("metrics", "m", namespace="n"))

    assert answer["items"][0]["describedObject"] == {
        "kind": "Namespace",
        "name": "n",
        "apiVersion": "/v1",
    }


def test_discovery_names_resource_and_metric() -> None:
    api, source = group({})
    rows = (
        CustomRow(resource=Resource(plural="deployments", group="apps"), metric="rps"),
        CustomRow(resource=Resource(plural="nodes"), metric="power", is_namespaced=False),
    )
    source.listed = rows

    listed = api.resources()
    assert [(one.name, one.is_namespaced) for one in listed] == [
        ("deployments.apps/rps", True),
        ("nodes/power", False),
    ]
    assert api.resources() is listed
