"""A TLS port with bounds: unfinished handshakes, connections in all and from one address."""

import asyncio
import contextlib
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from gputide.errors import SettingError

log = structlog.stdlib.get_logger()

StreamHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]
BACKLOG = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerLimits:
    """Bounds of a port; whoever is beyond them is closed at once, and counted."""

    max_connections: int = 20_000
    max_handshakes: int = 256
    """Unfinished TLS handshakes (and first requests) at a time."""

    max_handshakes_an_address: int = 64
    handshake_seconds: float = 5.0


class Listener:
    """Accepts connections and hands each, as streams, to a task; `context` None: no TLS.

    `context` is asked anew for each connection, so that renewed certificates count at once.
    """

    def __init__(
        self,
        listening: socket.socket,
        handler: StreamHandler,
        *,
        context: Callable[[], ssl.SSLContext] | None,
        limits: ListenerLimits | None = None,
    ) -> None:
        self._socket = listening
        self._handler = handler
        self._context = context
        self._limits = limits or ListenerLimits()
        self._handshakes: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused: Counter[str] = Counter()
        """Connections closed at a bound or in the handshake, by reason; for metrics."""

    @property
    def port(self) -> int:
        """The TCP port."""
        return int(self._socket.getsockname()[1])

    @property
    def connections(self) -> int:
        """Connections that are open, unfinished handshakes included."""
        return len(self._tasks)

    async def run(self) -> None:
        """Accept until cancelled; then close everything."""
        loop = asyncio.get_running_loop()
        self._socket.setblocking(False)
        self._socket.listen(BACKLOG)
        try:
            while True:
                try:
                    accepted, address = await loop.sock_accept(self._socket)
                except OSError as error:  # out of descriptors: those in use end some time
                    self.refused["descriptors"] += 1
                    log.warning("cannot accept a connection", port=self.port, error=str(error))
                    await asyncio.sleep(0.2)  # noqa: TID251  no decision depends on this time
                    continue
                self._admit(accepted, str(address[0]))
        finally:
            self._socket.close()
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _admit(self, accepted: socket.socket, address: str) -> None:
        limits = self._limits
        if len(self._tasks) >= limits.max_connections:
            reason = "connections"
        elif self._handshakes.total() >= limits.max_handshakes:
            reason = "handshakes"
        elif self._handshakes[address] >= limits.max_handshakes_an_address:
            reason = "handshakes_of_address"
        else:
            task = asyncio.create_task(self._serve(accepted, address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        self.refused[reason] += 1
        accepted.close()

    async def _serve(self, accepted: socket.socket, address: str) -> None:
        streams = await self._shake_hands(accepted, address)
        if streams is None:
            return
        reader, writer = streams
        try:
            await self._handler(reader, writer, address)
        except OSError as error:
            log.info("connection broke", port=self.port, peer=address, error=str(error))
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), 2)

    async def _shake_hands(
        self, accepted: socket.socket, address: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        self._handshakes[address] += 1
        try:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport, protocol = await loop.connect_accepted_socket(
                lambda: asyncio.StreamReaderProtocol(reader),
                accepted,
                ssl=None if self._context is None else self._context(),
                ssl_handshake_timeout=(
                    None if self._context is None else self._limits.handshake_seconds
                ),
            )
        except (OSError, ssl.SSLError, TimeoutError) as error:
            self.refused["tls"] += 1
            log.info("handshake failed", port=self.port, peer=address, error=_words(error))
            accepted.close()
            return None
        finally:
            self._handshakes[address] -= 1
            if not self._handshakes[address]:
                del self._handshakes[address]
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _words(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason or str(error) or "no handshake in time").lower().replace("_", " ")


def bind(address: str, *, setting: str) -> socket.socket:
    """Return a socket bound to `host:port`, or raise SettingError that says why not."""
    host, separator, port = address.rpartition(":")
    host = host.strip("[]")
    if not separator or not port.isdecimal() or int(port) > 65_535:
        raise SettingError(setting, f"{address!r} is no host:port")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host or None, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(where)
    except OSError as error:
        raise SettingError(setting, f"cannot listen on {address}: {error.strerror}") from error
    return bound
