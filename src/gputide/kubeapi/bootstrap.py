"""The objects that every cluster has from the start."""

from collections.abc import Sequence

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.kinds.core import NAMESPACE, SERVICE_ACCOUNT
from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.ports import Storage

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


async def bootstrap(storage: Storage, namespaces: Sequence[str] = NAMESPACES) -> None:
    """Create those namespaces and their default accounts, where they do not exist yet."""
    for name in namespaces:
        await _ensured(storage, NAMESPACE, {"name": name})
        await _ensured(storage, SERVICE_ACCOUNT, {"name": "default", "namespace": name})


async def _ensured(storage: Storage, kind: Kind, metadata: JsonObject) -> None:
    obj: JsonObject = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    try:
        await storage.create(kind, kind.default(obj) if kind.default else obj)
    except StatusError as error:
        if error.reason != "AlreadyExists":
            raise
