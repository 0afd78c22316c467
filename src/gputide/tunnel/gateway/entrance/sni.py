"""TLS in, unopened: the node's name is read from the client's hello, the bytes pass as they are."""

import asyncio
import contextlib
import ssl
import struct

import structlog

from gputide.errors import SettingError
from gputide.tunnel.gateway.entrance.ask import Ask
from gputide.tunnel.gateway.entrance.http import Entrance
from gputide.tunnel.model import TunnelRefusedError, parse_node

log = structlog.stdlib.get_logger()

HELLO_SECONDS = 5.0
MAX_HELLO_BYTES = 16_640
_ALERT_UNRECOGNIZED_NAME = struct.pack(">BHHBB", 21, 0x0303, 2, 2, 112)
_ALERT_INTERNAL = struct.pack(">BHHBB", 21, 0x0303, 2, 2, 80)


class ServerNameReader:
    """Finds the server name in a client's hello, by the machine's own TLS library."""

    def __init__(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = self._on_name
        self._incoming = ssl.MemoryBIO()
        self._secured = context.wrap_bio(self._incoming, ssl.MemoryBIO(), server_side=True)
        self._has_name = False
        self.name = ""
        """The name asked for; empty where the client gave none."""

    def receive(self, data: bytes) -> bool:
        """Take bytes; return whether the hello is read (there may be no name in it)."""
        self._incoming.write(data)
        try:
            self._secured.do_handshake()
        except ssl.SSLWantReadError:
            return self._has_name
        except ssl.SSLError:  # no certificate is loaded: reading the hello is all that is wanted
            return True
        return True

    def _on_name(self, _object: object, name: str | None, _context: object) -> int:
        self._has_name = True
        self.name = name or ""
        return int(ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME)  # ends the handshake here


async def serve_tls(
    entrance: Entrance, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: str
) -> None:
    """See one client's connection through to the node that its hello names."""
    if not entrance.is_allowed(client) or entrance.port is None:
        log.warning("client refused", client=client, port=entrance.port)
        return
    try:
        name, early = await _read_name(reader)
        node = parse_node(name)
    except (SettingError, TimeoutError, OSError) as error:
        log.info("no node in a client's hello", client=client, port=entrance.port, why=str(error))
        with contextlib.suppress(OSError):
            writer.write(_ALERT_UNRECOGNIZED_NAME)
            await writer.drain()
        return
    ask = Ask(node=node, port=entrance.port, is_connect=True)
    try:
        await entrance.serve.pipe(ask, b"", early, (reader, writer), client=client)
    except TunnelRefusedError as error:
        log.info("connection refused", node=node, port=entrance.port, why=str(error))
        writer.write(_ALERT_INTERNAL)
        await writer.drain()


async def _read_name(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    found = ServerNameReader()
    early = b""
    async with asyncio.timeout(HELLO_SECONDS):
        while len(early) <= MAX_HELLO_BYTES:
            data = await reader.read(MAX_HELLO_BYTES)
            early += data
            if not data or found.receive(data):
                break
    return found.name, early
