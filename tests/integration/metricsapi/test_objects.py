"""Objects by label selector, from a real API server."""

import json
from collections.abc import Iterator

import pytest

from fakes.clock import FakeClock
from fakes.kubeapi_server import KubeapiServer
from fakes.kubectl import Kubectl
from gputide.kube.client import KubeClient
from gputide.kube.settings import KubeSettings
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.objects import KubeObjects
from gputide.metricsapi.ports import Resource

PODS = Resource(plural="pods")
DEPLOYMENTS = Resource(plural="deployments", group="apps")


@pytest.fixture(scope="module", autouse=True)
def pods(kubectl: Kubectl) -> Iterator[None]:
    kubectl("create", "namespace", "objects")
    for name, app in (("b", "web"), ("a", "web"), ("c", "other")):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "objects", "labels": {"app": app}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    yield
    kubectl("delete", "pods", "--all", "-n", "objects", "--wait=false")


def client(cluster: KubeapiServer) -> KubeClient:
    return KubeClient(KubeSettings(kubeconfig=str(cluster.admin)))


async def test_a_selector_selects_names_in_order(cluster: KubeapiServer) -> None:
    async with client(cluster) as kube:
        found = await KubeObjects(kube, FakeClock(), CacheBounds()).selected(
            PODS, "objects", "app in (web)"
        )

    assert (found.kind, found.api_version, found.names) == ("Pod", "v1", ("a", "b"))


async def test_other_resources_are_found_by_discovery_and_a_name_is_not_looked_up(
    cluster: KubeapiServer,
) -> None:
    async with client(cluster) as kube:
        asked = KubeObjects(kube, FakeClock(), CacheBounds())
        found = await asked.named(DEPLOYMENTS, "absent")
        for plural, group in (("tides", ""), ("tides", "x.io")):
            with pytest.raises(StatusError, match="the cluster has no resource tides") as caught:
                await asked.selected(Resource(plural=plural, group=group), "objects", "")
            assert caught.value.code == 404

    assert (found.kind, found.api_version, found.names) == ("Deployment", "apps/v1", ("absent",))


async def test_a_selector_that_is_none_is_a_bad_request(cluster: KubeapiServer) -> None:
    async with client(cluster) as kube:
        with pytest.raises(StatusError, match="selector") as caught:
            await KubeObjects(kube, FakeClock(), CacheBounds()).selected(PODS, "objects", "a in b")
    assert caught.value.code == 400


async def test_too_many_objects_are_refused(cluster: KubeapiServer) -> None:
    async with client(cluster) as kube:
        asked = KubeObjects(kube, FakeClock(), CacheBounds(), max_objects=2)
        with pytest.raises(StatusError, match="narrow the selector") as caught:
            await asked.selected(PODS, "objects", "")
    assert caught.value.code == 400


async def test_who_may_not_list_gets_told(cluster: KubeapiServer) -> None:
    nobody = KubeSettings(kubeconfig=str(cluster.kubeconfig(user="nobody")))
    async with KubeClient(nobody) as kube:
        with pytest.raises(StatusError, match="pods cannot be listed") as caught:
            await KubeObjects(kube, FakeClock(), CacheBounds()).selected(PODS, "objects", "")
    assert caught.value.code == 403
