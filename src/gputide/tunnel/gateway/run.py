"""The gateway's shell: the agents' door, the entrances, revocation."""

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from gputide import __version__
from gputide.clock import Clock
from gputide.tunnel.backfilling import CLOCK
from gputide.tunnel.gateway.desk import Desk
from gputide.tunnel.gateway.door import Door
from gputide.tunnel.gateway.entrance.http import Entrance, serve_http
from gputide.tunnel.gateway.entrance.sni import serve_tls
from gputide.tunnel.gateway.handler import CallHandler, GatewayHandler, StreamHandler
from gputide.tunnel.gateway.registry import Connection, Registry
from gputide.tunnel.gateway.service import GatewayService
from gputide.tunnel.identity.revoked import RevocationList
from gputide.tunnel.joining import RENEW
from gputide.tunnel.listener import Listener, ListenerLimits
from gputide.tunnel.model import Identity
from gputide.tunnel.protocol import Hello, Limits

log = structlog.stdlib.get_logger()

REVOCATION_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntranceSocket:
    """A bound socket and what it stands for."""

    listening: socket.socket
    port: int | None
    """The exporters' port; None: the proxy."""

    is_tls: bool = False
    """Routed by the server name in the client's hello, unopened."""


@dataclass(slots=True, kw_only=True, eq=False)
class Gateway:
    """Everything that one gateway is made of."""

    name: str
    desk: Desk
    revocations: RevocationList
    context: Callable[[], ssl.SSLContext]
    """Of the agents' door, asked anew for each connection."""

    clock: Clock
    registry: Registry = field(default_factory=Registry)
    is_client_allowed: Callable[[str], bool] = lambda _client: True
    gateways: tuple[str, ...] = ()
    calls: dict[str, CallHandler] = field(default_factory=dict)
    streams: dict[str, StreamHandler] = field(default_factory=dict)
    limits: Limits | None = None
    listener_limits: ListenerLimits | None = None
    service: GatewayService = field(init=False)
    door: Door = field(init=False)

    def __post_init__(self) -> None:
        self.service = GatewayService(self.registry, self.clock)
        self.calls |= {RENEW: self._renew, CLOCK: self._tell_clock}
        self.door = Door(
            self.registry,
            self.desk,
            self,
            lambda connection: GatewayHandler(connection, self.calls, self.streams),
            hello=Hello(
                program=f"gputide {__version__}",
                name=self.name,
                gateways=self.gateways,
                features=tuple(self.streams),
            ),
            clock=self.clock,
            limits=self.limits,
        )

    def is_revoked(self, identity: Identity) -> bool:
        """Whether a certificate was revoked."""
        return self.revocations.holds(identity)

    async def _tell_clock(
        self, _connection: Connection, _params: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"now_seconds": self.clock.now_seconds()}

    async def _renew(self, connection: Connection, params: Mapping[str, Any]) -> dict[str, Any]:
        return {"certificate": self.desk.renew(connection.identity, str(params.get("request")))}


async def run(
    gateway: Gateway,
    door: socket.socket,
    entrances: tuple[EntranceSocket, ...],
    refused: dict[str, Counter[str]] | None = None,
) -> None:
    """Serve until cancelled; `refused` gets the listeners' counts by name."""
    refused = {} if refused is None else refused
    async with asyncio.TaskGroup() as group:
        limits = gateway.listener_limits
        agents = Listener(door, gateway.door.serve, context=gateway.context, limits=limits)
        refused["agents"] = agents.refused
        group.create_task(agents.run())
        for one in entrances:
            entrance = Entrance(
                serve=gateway.service, port=one.port, is_allowed=gateway.is_client_allowed
            )
            serve = partial(serve_tls if one.is_tls else serve_http, entrance)
            listener = Listener(one.listening, serve, context=None, limits=limits)
            refused[f"port_{one.port or 'proxy'}"] = listener.refused
            group.create_task(listener.run())
        group.create_task(_watch_revocations(gateway))


async def _watch_revocations(gateway: Gateway) -> None:
    """Drop links whose certificates were revoked meanwhile."""
    while True:
        if gateway.revocations.refresh():
            for connection in gateway.registry:
                if gateway.revocations.holds(connection.identity):
                    log.warning("agent revoked", agent=connection.name)
                    connection.link.cut("revoked")
        await gateway.clock.sleep(REVOCATION_SECONDS)
