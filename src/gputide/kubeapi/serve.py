"""An ASGI application over TCP or TLS by uvicorn, as one task among others."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ssl import SSLObject

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gputide.errors import SettingError
from gputide.kubeapi.handlers.watch import STOP
from gputide.kubeapi.routing import PEER_CERTIFICATE
from gputide.kubeapi.tls import ServerTls

BACKLOG = 512
MAX_HEAD_BYTES = 64 * 1024

FAREWELL_SECONDS = 1
"""How long an idle client may take to answer the end of TLS: most look at it only when they ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How connections are served."""

    tls: ServerTls | None = None
    """None: plain TCP."""

    max_connections: int = 2048
    """At one time; more are answered with 503 and closed."""

    keep_alive_seconds: int = 90
    """After which an idle connection is closed."""

    head_seconds: float = 30
    """In which a client has to send the head of a request, or its connection is closed."""

    grace_seconds: int = 10
    """From the wish to stop until what still runs is cancelled."""


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one.

    Raise SettingError where the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is named: else each answer waits 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingError("listen", f"{host}:{port}: {error.strerror or error}") from error
    return listener


async def serve(
    app: ASGIApp,
    listener: socket.socket,
    *,
    stop: asyncio.Event,
    serving: Serving | None = None,
) -> None:
    """Serve until `stop` is set; then end streams, let requests finish, and close.

    The listener accepts connections from the first, and is closed at the end.
    """
    how = serving or Serving()
    context = how.tls.context() if how.tls else None
    config = uvicorn.Config(
        _with_extension(app, STOP, stop),
        http=type("_Timed", (_Protocol,), {"head_seconds": how.head_seconds}),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=how.max_connections + 1,  # uvicorn refuses the one that reaches it
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        backlog=BACKLOG,
        timeout_keep_alive=how.keep_alive_seconds,
        timeout_graceful_shutdown=how.grace_seconds,
        ssl_context_factory=None if context is None else lambda *_: context,
    )
    try:
        await _Server(config, stop).serve(sockets=[listener])
    finally:
        listener.close()


class _Server(uvicorn.Server):
    """A server that leaves signals to the process it is a part of, and ends by an event."""

    def __init__(self, config: uvicorn.Config, stop: asyncio.Event) -> None:
        super().__init__(config)
        self._stop = stop

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not self._stop.is_set():
            await self.on_tick(0)  # the time in the Date header
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._stop.wait()


class _Protocol(H11Protocol):
    """A connection whose verified client certificate reaches the application."""

    head_seconds: float
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # the base class narrows the transport, so its subclass has to
        super().connection_made(transport)
        tls = transport.get_extra_info("ssl_object")
        if isinstance(tls, SSLObject):
            # of a certificate that did not verify nothing arrives here: the handshake has failed
            certificate = tls.getpeercert(binary_form=True)
            self.app = _with_extension(self.app, PEER_CERTIFICATE, certificate)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.is_closing():  # it was idle: nothing is lost
            self.loop.call_later(FAREWELL_SECONDS, self.transport.abort)

    def _watch_head(self) -> None:
        """Let a connection go whose client never comes to the end of a request's head."""
        if self.conn.their_state is not h11.IDLE:
            self._forget_head()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def _with_extension(app: ASGIApp, name: str, value: object) -> ASGIApp:
    """Return the application with one more ASGI extension in the scope of each request."""

    async def extended(scope: Scope, receive: Receive, send: Send) -> None:
        scope["extensions"] = {**(scope.get("extensions") or {}), name: value}
        await app(scope, receive, send)

    return extended
