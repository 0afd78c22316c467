"""One API server for all tests of the folder: our own, as a process, over TLS."""

from collections.abc import Iterator

import pytest

from fakes.kubeapi_server import KubeapiServer, kubeapi_server
from fakes.kubectl import Kubectl


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeapiServer]:
    with kubeapi_server(tmp_path_factory.mktemp("cluster")) as server:
        kubectl = Kubectl(server.admin, server.folder)
        kubectl("create", "namespace", "gputide-system")
        yield server


@pytest.fixture(scope="session")
def kubectl(cluster: KubeapiServer) -> Kubectl:
    return Kubectl(cluster.admin, cluster.folder)
