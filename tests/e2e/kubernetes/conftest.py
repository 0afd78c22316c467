"""One suite for two API servers: ours, and Kubernetes' own where it was built."""

import re
from collections.abc import Iterator

import pytest

from fakes.control_plane import SKIP_REASON, ControlPlane, control_plane, kubernetes_assets
from fakes.deployment_controller import deployment_controller
from fakes.kubeapi_server import KubeapiServer, kubeapi_server
from fakes.kubectl import Kubectl
from fakes.kubelet import Kubelet, kubelet

Server = ControlPlane | KubeapiServer
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
