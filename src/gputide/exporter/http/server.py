"""The listening side: an address, all connections, and an orderly end."""

import asyncio
import os
import re
import ssl
from dataclasses import dataclass
from pathlib import Path

from gputide.errors import SettingError
from gputide.exporter.http.connection import Answer, Connection, Limits

_CLOSE_SECONDS = 2.0
_HANDSHAKE_SECONDS = 10.0
_BACKLOG = 128
_UNIX = "unix:"
_HOST_AND_PORT = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^:\[\]]*)):(?P<port>[0-9]{1,5})"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: a host (all where empty) and a port, or a socket's path."""

    host: str = ""
    port: int = 0
    path: Path | None = None

    def __str__(self) -> str:
        """Return it as people write it."""
        if self.path is not None:
            return f"{_UNIX}{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str, *, setting: str = "address") -> Address:
    """Return the address of `HOST:PORT`, `:PORT`, `[IPv6]:PORT` or `unix:PATH`.

    >>> parse_address(":9400"), parse_address("[::1]:0").host
    (Address(host='', port=9400, path=None), '::1')
    """
    if text.startswith(_UNIX) and len(text) > len(_UNIX):
        return Address(path=Path(text.removeprefix(_UNIX)))
    found = _HOST_AND_PORT.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise SettingError(setting, f"{text!r} is not HOST:PORT, [IPv6]:PORT or unix:PATH")
    return Address(host=found["six"] or found["host"] or "", port=int(found["port"]))


class Server:
    """Accepts connections until closed."""

    def __init__(
        self,
        answer: Answer,
        *,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._answer = answer
        self._limits = limits or Limits()
        self._tls = tls
        self._connections: dict[Connection, None] = {}
        self._empty = asyncio.Event()
        self._listener: asyncio.Server | None = None
        self._address, self._setting = Address(), "address"

    @property
    def port(self) -> int:
        """The TCP port in use; 0 on a unix socket."""
        sockets = self._listener.sockets if self._listener is not None else ()
        names = [one.getsockname() for one in sockets]
        return int(names[0][1]) if names and isinstance(names[0], tuple) else 0

    async def bind(self, address: Address, *, setting: str = "address") -> None:
        """Take the address; raise SettingError where it cannot be had."""
        self._address, self._setting = address, setting
        try:
            self._listener = await self._open(address)
        except OSError as error:
            raise self._taken(error) from error

    async def start(self) -> None:
        """Begin to accept; raise SettingError where somebody else has begun meanwhile."""
        if self._listener is None:
            return
        try:
            await self._listener.start_serving()
        except OSError as error:
            raise self._taken(error) from error

    async def close(self) -> None:
        """Accept no more, let responses under way go out, then close everything."""
        if self._listener is not None:
            self._listener.close()
        self._empty.clear()
        for connection in list(self._connections):
            connection.end()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                while self._connections:
                    self._empty.clear()
                    await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.abort()

    def add(self, connection: Connection) -> bool:
        """Take in a connection; where all places are taken, the longest waiting one goes.

        So a crowd of idle or slow clients cannot keep Prometheus out.
        """
        if len(self._connections) >= self._limits.max_connections:
            waiting = next((each for each in self._connections if each.is_waiting), None)
            if waiting is None:
                return False
            self.remove(waiting)
            waiting.abort()
        self._connections[connection] = None
        return True

    def remove(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self._connections.pop(connection, None)
        self._empty.set()

    def touch(self, connection: Connection) -> None:
        """Note that a connection was of use: it goes to the end of the line."""
        if self._connections.pop(connection, self) is not self:
            self._connections[connection] = None

    def _taken(self, error: OSError) -> SettingError:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return SettingError(self._setting, f"cannot listen on {self._address}: {reason}")

    def _connection(self) -> Connection:
        return Connection(self._answer, self._limits, self)

    async def _open(self, address: Address) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        handshake = _HANDSHAKE_SECONDS if self._tls is not None else None
        if address.path is not None:
            return await loop.create_unix_server(
                self._connection,
                str(address.path),
                ssl=self._tls,
                ssl_handshake_timeout=handshake,
                start_serving=False,
            )
        return await loop.create_server(
            self._connection,
            address.host or None,
            address.port,
            backlog=_BACKLOG,
            ssl=self._tls,
            ssl_handshake_timeout=handshake,
            start_serving=False,
        )
