"""Keeps a link to every gateway: dial, serve, dial again with full jitter."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.tunnel.agent.join import GatewayUrl, parse_gateway
from gputide.tunnel.carrier import PATH, WebSocketCarrier, dial
from gputide.tunnel.link import Link
from gputide.tunnel.model import CarrierClosedError
from gputide.tunnel.ports import RequestHandler
from gputide.tunnel.protocol import Hello, Limits, Session, Side

log = structlog.stdlib.get_logger()

CONNECT_SECONDS = 10.0
FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 1.0, 30.0
STEADY_SECONDS = 60.0
"""A link that lasted so long was a good one: the next wait is short again."""

MAX_GATEWAYS = 16


@dataclass(slots=True, kw_only=True, eq=False)
class GatewayLink:
    """One gateway as the agent sees it."""

    gateway: GatewayUrl
    link: Link | None = None
    since_seconds: float = 0
    """Monotonic: when this link came up, or the last one went down."""

    problem: str = "not connected yet"
    attempts: int = 0
    is_configured: bool = True
    """Named by the person; the others were named by a gateway."""


@dataclass(slots=True, kw_only=True)
class Dialer:
    """Dials the gateways it was given and those that they name."""

    gateways: tuple[GatewayUrl, ...]
    context: Callable[[], ssl.SSLContext]
    """Asked anew for each connection: a renewed certificate counts at the next one."""

    hello: Hello
    new_handler: Callable[[], RequestHandler]
    clock: Clock
    random: Callable[[], float]
    limits: Limits | None = None
    on_change: Callable[[], None] = lambda: None
    """Told when a link came up or went down."""

    links: dict[str, GatewayLink] = field(default_factory=dict)
    """By `host:port`."""

    @property
    def up(self) -> list[Link]:
        """The links that are greeted and take requests."""
        return [one.link for one in self.links.values() if one.link and one.link.can_open]

    async def run(self) -> None:
        """Dial until cancelled."""
        async with asyncio.TaskGroup() as group:
            for gateway in self.gateways:
                self._add(group, gateway, is_configured=True)

    def _add(self, group: asyncio.TaskGroup, gateway: GatewayUrl, *, is_configured: bool) -> None:
        if gateway.authority in self.links or len(self.links) >= MAX_GATEWAYS:
            return
        entry = GatewayLink(gateway=gateway, is_configured=is_configured)
        self.links[gateway.authority] = entry
        group.create_task(self._keep(group, entry))

    async def _keep(self, group: asyncio.TaskGroup, entry: GatewayLink) -> None:
        wait = FIRST_WAIT_SECONDS
        while True:
            started = self.clock.monotonic_seconds()
            entry.attempts += 1
            try:
                await self._link(group, entry)
                entry.problem = "the gateway drained"
            except (GputideError, OSError, TimeoutError) as error:
                entry.problem = _words(error)
            entry.link = None
            entry.since_seconds = self.clock.monotonic_seconds()
            self.on_change()
            log.warning("gateway link down", gateway=entry.gateway.authority, why=entry.problem)
            if entry.since_seconds - started >= STEADY_SECONDS:
                wait = FIRST_WAIT_SECONDS
            # full jitter: ten thousand agents of a gateway that restarts must not come at once
            await self.clock.sleep(wait * self.random())
            wait = min(wait * 2, MAX_WAIT_SECONDS)

    async def _link(self, group: asyncio.TaskGroup, entry: GatewayLink) -> None:
        carrier = await self._connect(entry.gateway)
        session = Session(
            Side.AGENT, self.hello, self.limits, now_seconds=self.clock.monotonic_seconds()
        )
        link = Link(carrier, session, self.new_handler(), self.clock)
        greeting = asyncio.create_task(self._greet(group, entry, link))
        try:
            await link.run()
        finally:
            greeting.cancel()

    async def _greet(self, group: asyncio.TaskGroup, entry: GatewayLink, link: Link) -> None:
        await link.wait_greeted()
        entry.link = link
        entry.since_seconds = self.clock.monotonic_seconds()
        entry.problem = ""
        self.on_change()
        greeted = link.greeted
        name = greeted.hello.name if greeted else ""
        log.info("gateway link up", gateway=entry.gateway.authority, name=name)
        for text in greeted.hello.gateways if greeted else ():
            try:
                self._add(group, parse_gateway(text, setting="gateways"), is_configured=False)
            except GputideError as error:
                log.warning("gateway named another that is none", error=str(error))

    async def _connect(self, gateway: GatewayUrl) -> WebSocketCarrier:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(
                gateway.host, gateway.port, ssl=self.context(), server_hostname=gateway.host
            )
        raw = writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return await dial(reader, writer, gateway.url(PATH), timeout_seconds=CONNECT_SECONDS)
        except CarrierClosedError:
            writer.close()
            raise


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the gateway's certificate does not count: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or str(error)).lower().replace('_', ' ')}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error)
