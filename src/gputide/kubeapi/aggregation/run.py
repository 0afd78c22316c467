"""Keeps the group versions behind in step with the stored APIServices, and asks each how it is."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import structlog

from gputide.clock import Clock, utc_from_unix
from gputide.kubeapi.aggregation.identity import FrontProxy
from gputide.kubeapi.aggregation.proxy import Backend, Limits
from gputide.kubeapi.aggregation.service import Behind, address, behind
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.follow import follow
from gputide.kubeapi.kinds.registration import API_SERVICE
from gputide.kubeapi.model import EventType, JsonObject, Kind, WatchEvent
from gputide.kubeapi.patch.ownership import rfc3339
from gputide.kubeapi.ports import Storage
from gputide.kubeapi.registry import Proxied

log = structlog.stdlib.get_logger()
SERVICE = Kind(group="", version="v1", kind="Service", plural="services")
CHECK_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.5
Endpoint = Callable[[str, str, int], tuple[str, int] | None]
"""(namespace, service, port) -> host and port where it listens; None: as the Service says."""


class ProxiedGroups(Protocol):
    """The group versions that other servers answer: the server's registry."""

    def add_proxied(self, proxied: Proxied) -> None:
        """Hand a group version to another server."""

    def remove_proxied(self, group: str, version: str) -> None:
        """Stop handing it."""


class Aggregator:
    """One task per APIService: it proxies from the start and answers 503 until a check passed."""

    def __init__(
        self,
        storage: Storage,
        groups: ProxiedGroups,
        clock: Clock,
        proxy: FrontProxy,
        *,
        endpoint: Endpoint | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._storage = storage
        self._groups = groups
        self._clock = clock
        self._proxy = proxy
        self._endpoint = endpoint
        self._limits = limits or Limits()
        self._kept: dict[str, tuple[Behind, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Follow the APIServices until cancelled."""
        async with asyncio.TaskGroup() as tasks:

            async def take(event: WatchEvent) -> None:
                await self._take(tasks, event.type, event.object)

            await follow(self._storage, API_SERVICE, self._clock, take)

    async def _take(
        self, tasks: asyncio.TaskGroup, event: EventType, api_service: JsonObject
    ) -> None:
        name = api_service["metadata"]["name"]
        try:
            wanted = None if event is EventType.DELETED else behind(api_service)
        except StatusError as error:
            await self._tell(name, "InvalidCABundle", str(error))
            wanted = None
        kept = self._kept.get(name)
        if kept is not None and kept[0] != wanted:
            kept[1].cancel()
            await asyncio.wait([kept[1]])
            del self._kept[name]
        if wanted is not None and name not in self._kept:
            self._kept[name] = (wanted, tasks.create_task(self._keep(wanted)))

    async def _keep(self, wanted: Behind) -> None:
        """Proxy one group version and ask how it is, until cancelled."""
        backend = Backend(wanted, self._proxy, lambda: self._address(wanted), self._limits)
        self._groups.add_proxied(backend)
        pause = FIRST_PAUSE_SECONDS
        try:
            while True:
                await self._check(backend)
                pause = CHECK_SECONDS if backend.is_available else min(pause * 2, CHECK_SECONDS)
                await self._clock.sleep(pause)
        finally:
            self._groups.remove_proxied(wanted.group, wanted.version)
            await backend.close()

    async def _check(self, backend: Backend) -> None:
        before = (backend.is_available, backend.reason)
        known = backend.resource_list()
        try:
            await backend.check()
        except StatusError as error:
            backend.is_available, backend.reason = False, str(error)
            reason = error.reason
        else:
            backend.is_available, backend.reason = True, "all checks passed"
            reason = "Passed"
        if backend.resource_list() is not known:
            self._groups.add_proxied(backend)  # discovery follows the registry's revision
        await self._tell(
            backend.behind.name, reason, backend.reason, is_available=backend.is_available
        )
        if before != (backend.is_available, backend.reason):
            log.info("server behind checked", name=backend.behind.name, reason=backend.reason)

    async def _address(self, wanted: Behind) -> tuple[str, int]:
        known = self._endpoint and self._endpoint(wanted.namespace, wanted.service, wanted.port)
        if known:
            return known
        try:
            service = await self._storage.get(SERVICE, wanted.namespace, wanted.service)
        except StatusError as error:
            if error.code != 404:
                raise
            message = f'service/{wanted.service} in "{wanted.namespace}" is not present'
            raise StatusError(503, "ServiceNotFound", message) from error
        found = address(service, wanted.port)
        if found is None:
            message = f'service/{wanted.service} in "{wanted.namespace}" has no address'
            raise StatusError(503, "MissingEndpoints", message)
        return found

    async def _tell(
        self, name: str, reason: str, message: str, *, is_available: bool = False
    ) -> None:
        """Write the condition Available, where it is another than before."""
        time = rfc3339(utc_from_unix(self._clock.now_seconds()))
        status = "True" if is_available else "False"
        told = {"type": "Available", "status": status, "reason": reason, "message": message}

        def change(obj: JsonObject) -> JsonObject:
            rows = (obj.get("status") or {}).get("conditions") or []
            last: JsonObject = next((one for one in rows if one.get("type") == "Available"), {})
            since = last.get("lastTransitionTime", time) if last.get("status") == status else time
            return obj | {"status": {"conditions": [told | {"lastTransitionTime": since}]}}

        try:
            await self._storage.update(API_SERVICE, "", name, change)
        except StatusError as error:
            if error.code not in (404, 409):
                raise
