"""The agents' port: fetch the authority, join, or open a link with a certificate."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Protocol

import structlog
from cryptography import x509
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from gputide.clock import Clock
from gputide.errors import GputideError, InputError
from gputide.tunnel.carrier import (
    MAX_MESSAGE_BYTES,
    PATH,
    WebSocketCarrier,
    read_request,
    respond,
)
from gputide.tunnel.exchange import Exchange
from gputide.tunnel.gateway.registry import Connection, Registry
from gputide.tunnel.identity.certificate import read_identity
from gputide.tunnel.link import Link
from gputide.tunnel.model import CarrierClosedError, Identity, parse_node
from gputide.tunnel.ports import RequestHandler
from gputide.tunnel.protocol import Greeted, Hello, Limits, Session, Side
from gputide.tunnel.protocol import Request as AgentRequest

log = structlog.stdlib.get_logger()

CA_PATH, JOIN_PATH = "/v1/ca", "/v1/join"
REQUEST_SECONDS = 10.0
MAX_JOIN_BYTES = 262_144


class JoinDesk(Protocol):
    """Trades join tokens for certificates."""

    def authority_pem(self) -> bytes:
        """Return the gateways' authority, for everybody."""

    async def join(self, message: bytes, *, address: str) -> bytes:
        """Return the answer to a join message; never raises for a bad one."""


class Doorman(Protocol):
    """Says whose certificate still counts."""

    def is_revoked(self, identity: Identity) -> bool:
        """Whether it was revoked."""


class Door:
    """Serves the agents' port; one call of `serve` a connection."""

    def __init__(  # noqa: PLR0913  its parts, all needed
        self,
        registry: Registry,
        desk: JoinDesk,
        doorman: Doorman,
        handler: Callable[[Connection], RequestHandler],
        *,
        hello: Hello,
        clock: Clock,
        limits: Limits | None = None,
    ) -> None:
        self._registry = registry
        self._desk = desk
        self._doorman = doorman
        self._handler = handler
        self._hello = hello
        self._clock = clock
        self._limits = limits
        self.refused: Counter[str] = Counter()
        """Requests turned away, by reason; for metrics."""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str
    ) -> None:
        """See one connection through."""
        protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES)
        try:
            request = await read_request(reader, protocol, timeout_seconds=REQUEST_SECONDS)
            await self._route(request, reader, writer, protocol, address)
        except CarrierClosedError as error:
            log.info("agent connection ended", peer=address, why=str(error))

    async def _route(
        self,
        request: Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        protocol: ServerProtocol,
        address: str,
    ) -> None:
        path = request.path.partition("?")[0]
        if path == CA_PATH:
            await respond(writer, protocol, _page(HTTPStatus.OK, self._desk.authority_pem()))
            return
        if path not in (PATH, JOIN_PATH):
            self.refused["path"] += 1
            await respond(writer, protocol, _page(HTTPStatus.NOT_FOUND, b"no such page\n"))
            return
        certificate = _certificate(writer)
        if path == PATH:
            why = self._why_refused(certificate)
            if why:
                self.refused[why] += 1
                log.warning("agent refused", peer=address, reason=why)
                text = f"refused: {why.replace('_', ' ')}\n".encode()
                await respond(writer, protocol, _page(HTTPStatus.FORBIDDEN, text))
                return
        await respond(writer, protocol, protocol.accept(request))
        carrier = WebSocketCarrier(reader, writer, protocol)
        carrier.receive_events()
        if path == JOIN_PATH:
            await self._join(carrier, address)
        elif certificate is not None:
            await self._link(carrier, read_identity(certificate), address)

    def _why_refused(self, certificate: x509.Certificate | None) -> str:
        """Return why a certificate opens no link; empty when it does."""
        if certificate is None:
            return "no_certificate"
        try:
            identity = read_identity(certificate)
        except InputError:
            return "wrong_certificate"
        if self._clock.now_seconds() >= identity.not_after_seconds:
            return "expired"  # TLS checks it too, against the machine's own clock
        return "revoked" if self._doorman.is_revoked(identity) else ""

    async def _join(self, carrier: WebSocketCarrier, address: str) -> None:
        async with asyncio.timeout(REQUEST_SECONDS):
            message = await carrier.receive()
            if len(message) > MAX_JOIN_BYTES:
                raise CarrierClosedError("a join message is not that large")
            await carrier.send(await self._desk.join(message, address=address))
        await carrier.close()

    async def _link(self, carrier: WebSocketCarrier, identity: Identity, address: str) -> None:
        now_seconds = self._clock.monotonic_seconds()
        session = Session(Side.GATEWAY, self._hello, self._limits, now_seconds=now_seconds)
        late = LateHandler()
        link = Link(carrier, session, late, self._clock)
        connection = Connection(
            identity=identity, link=link, nodes=(), address=address, since_seconds=now_seconds
        )
        late.handler = self._handler(connection)
        why = "drained"
        async with asyncio.TaskGroup() as group:
            arrival = group.create_task(self._arrive(connection))
            try:
                await link.run()
            except GputideError as error:
                why = str(error)
            finally:
                arrival.cancel()
        if connection in tuple(self._registry):
            self._registry.remove(connection, why=why, now_seconds=self._clock.monotonic_seconds())
            log.info("agent left", agent=identity.name, site=identity.site, why=why)

    async def _arrive(self, connection: Connection) -> None:
        await connection.link.wait_greeted()
        greeted = connection.link.greeted
        nodes = announced(greeted)
        self._registry.add(connection, now_seconds=self._clock.monotonic_seconds())
        self._registry.announce(connection, nodes, now_seconds=self._clock.monotonic_seconds())
        refused = sorted(set(nodes) - set(connection.nodes))
        log.info(
            "agent arrived",
            agent=connection.name,
            site=connection.identity.site,
            peer=connection.address,
            nodes=len(connection.nodes),
            refused_nodes=refused[:10],
        )
        self.refused["node_name"] += len(refused)


class LateHandler:
    """Stands for the handler that needs the connection, which needs the link, which needs it."""

    handler: RequestHandler

    async def handle(self, request: AgentRequest, exchange: Exchange) -> None:
        """Pass on."""
        await self.handler.handle(request, exchange)


def announced(greeted: Greeted | None) -> tuple[str, ...]:
    """Return the node names of an agent's hello, those that are names."""
    names = []
    for text in greeted.hello.nodes if greeted is not None else ():
        try:
            names.append(parse_node(text))
        except GputideError:
            continue
    return tuple(names)


def _certificate(writer: asyncio.StreamWriter) -> x509.Certificate | None:
    secured = writer.get_extra_info("ssl_object")
    if not isinstance(secured, ssl.SSLObject):
        return None
    der = secured.getpeercert(binary_form=True)
    return x509.load_der_x509_certificate(der) if der else None


def _page(status: HTTPStatus, body: bytes) -> Response:
    headers = Headers(
        {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
    )
    return Response(status.value, status.phrase, headers, body)
