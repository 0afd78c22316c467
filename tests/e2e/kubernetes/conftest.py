"""One suite for two API servers: ours, and Kubernetes' own where it was built."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.control_plane import SKIP_REASON, ControlPlane, control_plane, kubernetes_assets
from fakes.deployment_controller import deployment_controller
from fakes.gpu_page import GpuPage, gpu_page
from fakes.kubeapi_server import KubeapiServer, kubeapi_server
from fakes.kubectl import Kubectl
from fakes.kubelet import Kubelet, kubelet
from fakes.programs import Programs, wait_until
from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from gputide.clock import SystemClock
from gputide.kubeapi import cel

Server = ControlPlane | KubeapiServer
MANIFESTS = Path(__file__).parents[3] / "deploy/manifests"
DEFINITION = "advancedhorizontalpodautoscalers.autoscaling.alibabacloud.com"
WORKLOAD = "bert-intent-detection"
KEPT_NAMESPACES = {"default", "kube-system", "kube-public", "kube-node-lease"}
MADE_BY_TESTS = "deployments,statefulsets,jobs,services,configmaps,pods,serviceaccounts"


@pytest.fixture(scope="session")
def kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Kubernetes itself."""
    assets = kubernetes_assets()
    if assets is None:
        pytest.skip(SKIP_REASON)
    with control_plane(tmp_path_factory.mktemp("kubernetes"), assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def kubeapi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeapiServer]:
    """Our own API server, and what makes pods of Deployments on it."""
    folder = tmp_path_factory.mktemp("kubeapi")
    with kubeapi_server(folder) as server, deployment_controller(server.admin):
        yield server


@pytest.fixture(scope="session", params=["kubeapi", "kubernetes"])
def api_server(request: pytest.FixtureRequest) -> Server:
    """Each of the two."""
    server: Server = request.getfixturevalue(request.param)
    return server


@pytest.fixture(scope="session")
def nodes(api_server: Server) -> Iterator[Kubelet]:
    """What runs pods."""
    with kubelet(api_server.admin) as rig:
        yield rig


@pytest.fixture
def kubectl(api_server: Server, nodes: Kubelet) -> Iterator[Kubectl]:
    """kubectl of an administrator; what the test made goes afterwards."""
    del nodes  # it only has to run
    admin = Kubectl(api_server.admin, api_server.folder)
    yield admin
    clean(admin)


@pytest.fixture(scope="session")
def definition(api_server: Server) -> None:
    """The definition of our own kind, as a person installs it."""
    kubectl = Kubectl(api_server.admin, api_server.folder)
    kubectl("apply", "-f", str(MANIFESTS / "crd-ahpa.yaml"))
    kubectl("wait", "--for=condition=Established", f"crd/{DEFINITION}", "--timeout=60s")
    wait_until("ahpa is known", lambda: not kubectl("get", "ahpa", "-A", "-o", "name"))
    wait_until("ahpa is explained", lambda: kubectl("explain", "ahpa.spec.scaleStrategy"))


@pytest.fixture
def ahpa(kubectl: Kubectl, definition: None) -> Iterator[Kubectl]:
    """kubectl where our kind is defined; no object of it stays."""
    del definition
    yield kubectl
    kubectl("delete", "ahpa", "--all", "-A")


@pytest.fixture(scope="session")
def gpus() -> Iterator[GpuPage]:
    """What GPUs do now."""
    with gpu_page() as page:
        yield page


@pytest.fixture(scope="session")
def prometheus(
    gpus: GpuPage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrometheusServer]:
    """A Prometheus that reads the page, and knows two pods of a week up to now: busy by day."""
    folder = tmp_path_factory.mktemp("prometheus")
    start = SystemClock().now_seconds() // 60 * 60 - 7 * 86400
    minutes = range(7 * 1440)
    busy = [60 + 35 * math.sin(2 * math.pi * (start / 60 + minute) / 1440) for minute in minutes]
    pods = [f"{WORKLOAD}-7b486f6bf-{suffix}" for suffix in ("q8r2v", "x4k9d")]
    labels = [{"namespace": "default", "pod": pod, "UUID": f"GPU-{pod}"} for pod in pods]
    series = [
        RecordedSeries("DCGM_FI_DEV_GPU_UTIL", one, start_seconds=start, values=busy)
        for one in labels
    ]
    write_history(folder, series)
    with running_prometheus(folder, config=gpus.scrape_config) as server:
        yield server


@pytest.fixture
def rules(api_server: Server) -> None:
    """Skip where nobody evaluates the rules of a definition."""
    if isinstance(api_server, KubeapiServer) and cel.installed() is None:
        pytest.skip("our server evaluates rules where common-expression-language is installed")


@pytest.fixture
def programs(gpus: GpuPage, tmp_path: Path) -> Iterator[Programs]:
    """Starts commands that end with the test; the GPUs are idle and answering."""
    gpus.percent, gpus.text, gpus.is_down = {}, "", False
    with Programs(tmp_path) as made:
        yield made


def clean(kubectl: Kubectl) -> None:
    """Delete what tests make, in the namespaces that stay, and the others whole."""
    for namespace in ("default", "kube-system"):
        listed = kubectl("get", MADE_BY_TESTS, "-n", namespace, "-o", "name").split()
        ours = [name for name in listed if not _is_kubernetes_own(name, namespace)]
        if ours:
            kubectl("delete", "-n", namespace, "--wait=false", "--ignore-not-found", *ours)
    names = {item["metadata"]["name"] for item in kubectl.json("get", "namespaces")["items"]}
    for name in names - KEPT_NAMESPACES:
        kubectl("delete", "namespace", name)


def _is_kubernetes_own(name: str, namespace: str) -> bool:
    own = r"configmap/(kube-.*|extension-apiserver-authentication)|service/kubernetes"
    is_account = name.startswith("serviceaccount/")
    return bool(re.fullmatch(own, name)) or (
        is_account and (namespace == "kube-system" or name == "serviceaccount/default")
    )
