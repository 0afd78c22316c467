"""Which cluster and namespace a command is about."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from gputide.kube.client import KubeClient

CLUSTER = Group("Cluster", sort_key=9)


@Parameter(name="*", group=CLUSTER)
@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """How to reach the API server."""

    kubeconfig: str = ""
    """Path of a kubeconfig; $KUBECONFIG, the pod's service account, ~/.kube/config if not given."""

    context: str = ""
    """Context of the kubeconfig; its current one if not given."""

    namespace: Annotated[str, Parameter(name=["--namespace", "-n"])] = ""
    """Namespace; the context's if not given."""

    @asynccontextmanager
    async def client(self) -> AsyncIterator["KubeClient"]:
        """Connect while the block runs."""
        from gputide.kube.client import KubeClient
        from gputide.kube.settings import KubeSettings

        settings = KubeSettings(kubeconfig=self.kubeconfig, context=self.context)
        async with KubeClient(settings) as client:
            yield client


ClusterOption = Annotated[Cluster, Parameter(name="*", group=CLUSTER)]
