"""The cluster's objects by label selector, through its API server."""

from collections.abc import Mapping

import msgspec

from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.errors import ForbiddenError, InvalidError, NotFoundError
from gputide.kube.model import JsonObject, ResourceType, name_of
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError, bad_request, forbidden
from gputide.metricsapi.ports import ObjectsFound, Resource
from gputide.metricsapi.questions import Questions

MAX_OBJECTS = 10_000
"""That one question may be about: their names have to fit into a query."""

TYPES_BOUNDS = CacheBounds(seconds=600, max_answers=1024, deadline_seconds=10)


class _Row(msgspec.Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool


class _Rows(msgspec.Struct, frozen=True):
    resources: tuple[_Row, ...] = ()


class _Version(msgspec.Struct, frozen=True):
    version: str


class _Group(msgspec.Struct, frozen=True, rename="camel"):
    preferred_version: _Version


class KubeObjects:
    """Lists objects when asked, each answer kept for a moment; only names are kept of them."""

    def __init__(
        self,
        client: KubeClient,
        clock: Clock,
        bounds: CacheBounds,
        *,
        max_objects: int = MAX_OBJECTS,
    ) -> None:
        self._client = client
        self._max_objects = max_objects
        self._types: Questions[ResourceType] = Questions(clock, TYPES_BOUNDS)
        self._lists: Questions[ObjectsFound] = Questions(clock, bounds)

    async def named(self, resource: Resource, name: str) -> ObjectsFound:
        """Return the kind beside the name."""
        kind = await self._types.get(resource, lambda: self._discovered(resource))
        return ObjectsFound(kind=kind.kind, api_version=kind.api_version, names=(name,))

    async def selected(
        self, resource: Resource, namespace: str, label_selector: str
    ) -> ObjectsFound:
        """Return the objects in order of their names."""
        kind = await self._types.get(resource, lambda: self._discovered(resource))
        key = (resource, namespace, label_selector)
        return await self._lists.get(key, lambda: self._listed(kind, namespace, label_selector))

    async def _listed(
        self, kind: ResourceType, namespace: str, label_selector: str
    ) -> ObjectsFound:
        names: list[str] = []

        def keep(obj: JsonObject) -> None:
            names.append(name_of(obj)[1])
            if len(names) > self._max_objects:
                most = f"more than {self._max_objects} {kind.plural}"
                raise bad_request(f"{most}: narrow the selector")

        try:
            await self._client.list(kind, namespace, label_selector=label_selector, decode=keep)
        except ForbiddenError as error:
            raise forbidden(f"{kind.qualified} cannot be listed: {error.problem}") from error
        except InvalidError as error:
            raise bad_request(error.problem) from error
        return ObjectsFound(
            kind=kind.kind, api_version=kind.api_version, names=tuple(sorted(names))
        )

    async def _discovered(self, resource: Resource) -> ResourceType:
        """Return where a resource is served; a 404 names it."""
        known = BUILT_IN.get(resource)
        if known is not None:
            return known
        try:
            version, row = await self._found(resource)
        except (NotFoundError, LookupError) as error:
            message = f"the cluster has no resource {resource.qualified}"
            raise StatusError(404, "NotFound", message) from error
        return ResourceType(
            group=resource.group,
            version=version,
            plural=row.name,
            kind=row.kind,
            is_namespaced=row.namespaced,
        )

    async def _found(self, resource: Resource) -> tuple[str, _Row]:
        version, root = "v1", "/api/v1"
        if resource.group:
            body = await self._client.raw(f"/apis/{resource.group}")
            version = msgspec.json.decode(body, type=_Group).preferred_version.version
            root = f"/apis/{resource.group}/{version}"
        rows = msgspec.json.decode(await self._client.raw(root), type=_Rows).resources
        for row in rows:
            if row.name == resource.plural:
                return version, row
        raise LookupError(resource.qualified)


def _core(plural: str, kind: str, *, is_namespaced: bool = True) -> ResourceType:
    return ResourceType(version="v1", plural=plural, kind=kind, is_namespaced=is_namespaced)


BUILT_IN: Mapping[Resource, ResourceType] = {
    Resource(plural=one.plural): one
    for one in (
        _core("pods", "Pod"),
        _core("services", "Service"),
        _core("nodes", "Node", is_namespaced=False),
        _core("namespaces", "Namespace", is_namespaced=False),
    )
}
"""What everybody asks for: known without a question."""
