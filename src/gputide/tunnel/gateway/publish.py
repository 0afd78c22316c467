"""Publishes node names: to a hosts file, and to the ConfigMap that CoreDNS mounts."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.kube.client import KubeClient
from gputide.kube.errors import ConflictError, NotFoundError
from gputide.kube.mirror import Mirror
from gputide.kube.model import CONFIG_MAPS, NODES
from gputide.tunnel.gateway.names import HostsFile, render_hosts
from gputide.tunnel.gateway.nodes import ClusterNode, name_entries, node_from
from gputide.tunnel.gateway.registry import Registry

log = structlog.stdlib.get_logger()

NAMESPACE, CONFIG_MAP, KEY = "kube-system", "edge-tunnel-nodes", "tunnel-nodes"
LOOK_SECONDS = 1.0
REFRESH_SECONDS = 300.0
"""Written again so often at the latest, should somebody else have changed it."""

Entries = Mapping[str, tuple[str, ...]]


class NameStore(Protocol):
    """Where names are published."""

    async def publish(self, entries: Entries) -> bool:
        """Write them where they changed; return whether they did. Raises GputideError."""


@dataclass(slots=True)
class FileNames:
    """A hosts file."""

    file: HostsFile

    async def publish(self, entries: Entries) -> bool:
        """Write the file where it changed."""
        return self.file.write(entries)


@dataclass(slots=True)
class ConfigMapNames:
    """The ConfigMap under the names that Raven uses, so that its CoreDNS goes on as it is."""

    client: KubeClient
    clock: Clock
    _written: str | None = field(default=None, init=False)
    _written_at_seconds: float = field(default=0.0, init=False)

    async def publish(self, entries: Entries) -> bool:
        """Write the ConfigMap where it changed; another gateway's write is no conflict."""
        text = render_hosts(entries)
        now_seconds = self.clock.monotonic_seconds()
        is_recent = now_seconds - self._written_at_seconds < REFRESH_SECONDS
        if text == self._written and is_recent:
            return False
        data = {"data": {KEY: text}}
        try:
            await self.client.patch(CONFIG_MAPS, NAMESPACE, CONFIG_MAP, data)
        except NotFoundError:
            try:
                await self.client.create(CONFIG_MAPS, NAMESPACE, _config_map(text))
            except ConflictError:
                await self.client.patch(CONFIG_MAPS, NAMESPACE, CONFIG_MAP, data)
        is_change = text != self._written
        self._written, self._written_at_seconds = text, now_seconds
        return is_change


def _config_map(text: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE},
        "data": {KEY: text},
    }


async def publish_for_ever(
    registry: Registry,
    stores: tuple[NameStore, ...],
    gateway_addresses: tuple[str, ...],
    clock: Clock,
    *,
    cluster: Callable[[], tuple[ClusterNode, ...]] = lambda: (),
) -> None:
    """Publish until cancelled; a store that fails is told of, once a reason, and tried again."""
    problems: dict[int, str] = {}
    while True:
        entries = name_entries(cluster(), registry.nodes, gateway_addresses)
        for place, store in enumerate(stores):
            try:
                if await store.publish(entries):
                    log.info("node names published", names=len(entries))
                problems.pop(place, None)
            except GputideError as error:
                if problems.get(place) != str(error):
                    log.warning("node names not published", error=str(error))
                problems[place] = str(error)
        await clock.sleep(LOOK_SECONDS)


async def publish_to_cluster(
    registry: Registry,
    client: KubeClient,
    stores: tuple[NameStore, ...],
    gateway_addresses: tuple[str, ...],
    clock: Clock,
) -> None:
    """Publish the cluster's own nodes too, which are watched; waits for their first list."""
    mirror = Mirror(client, NODES, node_from, clock)
    async with asyncio.TaskGroup() as group:
        group.create_task(mirror.run())
        await mirror.wait_synced()
        group.create_task(
            publish_for_ever(
                registry,
                stores,
                gateway_addresses,
                clock,
                cluster=lambda: tuple(mirror.objects.values()),
            )
        )
