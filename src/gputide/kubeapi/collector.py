"""Clears away what is left behind: dependents of deleted owners, contents of deleted namespaces."""

from collections.abc import AsyncIterator
from typing import Any, Protocol

import structlog

from gputide.clock import Clock
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.follow import RETRY_SECONDS
from gputide.kubeapi.kinds.core import NAMESPACE
from gputide.kubeapi.model import EventType, JsonObject, Selection, WatchEvent
from gputide.kubeapi.ports import Storage
from gputide.kubeapi.storage.model import Held
from gputide.kubeapi.storage.records import FOREGROUND

log = structlog.stdlib.get_logger()
FINALIZER = "kubernetes"
PASSING = (404, 409)
"""The object has gone or changed meanwhile: its next event says what there is to do."""


class Holdings(Storage, Protocol):
    """The storage, looked at across all kinds."""

    async def revision(self) -> int:
        """Return the newest revision."""

    def changes(self, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Yield every event of every kind after that version; 410."""

    async def owned_by(self, uid: str) -> tuple[Held, ...]:
        """Return the objects that name this uid as an owner."""

    async def dangling(self) -> tuple[Held, ...]:
        """Return the objects that name an owner which does not exist."""

    async def by_uid(self, uid: str) -> Held | None:
        """Return the object with this uid."""

    async def in_namespace(self, namespace: str) -> tuple[Held, ...]:
        """Return all objects of a namespace."""


class Collector:
    """Deletes what nobody owns any more, and what lies in a namespace under deletion.

    It starts with a sweep over everything, so that nothing is missed while it did not run.
    """

    def __init__(self, storage: Holdings, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def run(self) -> None:
        """Collect until cancelled."""
        while True:
            try:
                revision = await self._storage.revision()
                await self.sweep()
                async for event in self._storage.changes(str(revision)):
                    await self.take(event)
            except StatusError as error:
                log.warning("collector starts over", reason=str(error))
                await self._clock.sleep(RETRY_SECONDS)

    async def sweep(self) -> None:
        """Look at everything once."""
        for held in await self._storage.dangling():
            await self._collect(held)
        namespaces = await self._storage.list(NAMESPACE, Selection())
        for one in namespaces.items:
            if "deletionTimestamp" in one["metadata"]:
                await self._empty(one["metadata"]["name"])

    async def take(self, event: WatchEvent) -> None:
        """Do what one event asks for."""
        metadata = event.object["metadata"]
        if event.type is EventType.DELETED:
            await self._after(metadata)
        elif "deletionTimestamp" in metadata:
            if event.object["kind"] == "Namespace" and event.object["apiVersion"] == "v1":
                await self._empty(metadata["name"])
            if FOREGROUND in (metadata.get("finalizers") or []):
                await self._delete_dependents(metadata["uid"])
        elif event.type is EventType.ADDED and metadata.get("ownerReferences"):
            held = await self._storage.by_uid(metadata["uid"])
            if held is not None:
                await self._collect(held)

    async def _after(self, gone: JsonObject) -> None:
        """Follow up on an object that is gone."""
        for held in await self._storage.owned_by(gone["uid"]):
            await self._collect(held)
        for reference in gone.get("ownerReferences") or []:
            owner = await self._storage.by_uid(str(reference.get("uid")))
            if owner is not None and FOREGROUND in (owner.obj["metadata"].get("finalizers") or []):
                await self._delete_dependents(owner.uid)
        if gone.get("namespace"):
            await self._finish(gone["namespace"])

    async def _collect(self, held: Held) -> None:
        """Delete an object that no owner holds any more; else strike the owners that are gone."""
        references = held.obj["metadata"].get("ownerReferences") or []
        alive = [
            one for one in references if await self._storage.by_uid(str(one.get("uid"))) is not None
        ]
        if len(alive) == len(references):
            return
        if alive:
            await self._update(held, {"ownerReferences": alive})
        else:
            await self._delete(held)

    async def _delete_dependents(self, uid: str) -> None:
        """Delete what an owner under foreground deletion holds, and let it go after the last."""
        dependents = await self._storage.owned_by(uid)
        for held in dependents:
            if "deletionTimestamp" not in held.obj["metadata"]:
                await self._delete(held, propagation="Foreground")
        owner = await self._storage.by_uid(uid)
        if owner is not None and not await self._storage.owned_by(uid):
            finalizers = owner.obj["metadata"].get("finalizers") or []
            await self._update(owner, {"finalizers": [f for f in finalizers if f != FOREGROUND]})

    async def _empty(self, namespace: str) -> None:
        """Delete all that lies in a namespace under deletion."""
        for held in await self._storage.in_namespace(namespace):
            if "deletionTimestamp" not in held.obj["metadata"]:
                await self._delete(held)
        await self._finish(namespace)

    async def _finish(self, namespace: str) -> None:
        """Let a namespace under deletion go once nothing lies in it."""

        def finished(obj: JsonObject) -> JsonObject:
            if "deletionTimestamp" not in obj["metadata"]:
                return obj
            spec: dict[str, Any] = obj.get("spec") or {}
            kept = [one for one in spec.get("finalizers") or [] if one != FINALIZER]
            return obj | {"spec": spec | {"finalizers": kept}}

        if await self._storage.in_namespace(namespace):
            return
        try:
            await self._storage.update(NAMESPACE, "", namespace, finished)
        except StatusError as error:
            _pass(error)

    async def _delete(self, held: Held, *, propagation: str = "") -> None:
        place = held.place
        try:
            await self._storage.delete(
                held.as_kind(),
                place.namespace,
                place.name,
                uid=held.uid,
                propagation=propagation,
            )
        except StatusError as error:
            _pass(error)

    async def _update(self, held: Held, metadata: JsonObject) -> None:
        def change(obj: JsonObject) -> JsonObject:
            version = held.obj["metadata"]["resourceVersion"]
            return obj | {"metadata": obj["metadata"] | metadata | {"resourceVersion": version}}

        place = held.place
        try:
            await self._storage.update(held.as_kind(), place.namespace, place.name, change)
        except StatusError as error:
            _pass(error)


def _pass(error: StatusError) -> None:
    if error.code not in PASSING:
        raise error
