"""Sessions over WebSocket over TLS: the protocol is `websockets`' own, the sockets asyncio's."""

import asyncio
from collections import deque
from collections.abc import Mapping

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from gputide.tunnel.model import CarrierClosedError

PATH = "/v1/tunnel"
MAX_MESSAGE_BYTES = 1_048_576
READ_BYTES = 65_536
WRITE_LIMIT_BYTES = 262_144
CLOSE_SECONDS = 2.0
MAX_REASON_BYTES = 120


class WebSocketCarrier:
    """An open WebSocket as an ordered stream of bytes; text messages and fragments are refused."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        protocol: ClientProtocol | ServerProtocol,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = protocol
        self._inbox: deque[bytes] = deque()
        writer.transport.set_write_buffer_limits(high=WRITE_LIMIT_BYTES)

    async def send(self, data: bytes) -> None:
        """Send one message; waits while the connection is full."""
        if self._protocol.state is not State.OPEN:
            raise CarrierClosedError(self._why())
        self._protocol.send_binary(data)
        await self._flush()

    async def receive(self) -> bytes:
        """Return the next message."""
        while not self._inbox:
            if self._protocol.state is not State.OPEN:
                raise CarrierClosedError(self._why())
            await self._read_once()
        return self._inbox.popleft()

    async def close(self, reason: str = "") -> None:
        """Say goodbye and close; never raises, never takes long."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._protocol.state is State.OPEN:
                    text = reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
                    self._protocol.send_close(CloseCode.NORMAL_CLOSURE, text)
                    await self._flush()
                self._writer.close()
                await self._writer.wait_closed()
        except (OSError, CarrierClosedError, TimeoutError):
            self._writer.transport.abort()

    def receive_events(self) -> None:
        """Take what the protocol has read so far (bytes that came with the handshake)."""
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)

    async def _read_once(self) -> None:
        try:
            data = await self._reader.read(READ_BYTES)
        except OSError as error:
            raise CarrierClosedError(f"the connection broke: {error}") from error
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self.receive_events()
        await self._flush()  # pongs, and the close frame's echo
        if not data and not self._inbox:
            raise CarrierClosedError(self._why())

    def _take(self, frame: Frame) -> None:
        if frame.opcode is Opcode.BINARY and frame.fin:
            self._inbox.append(bytes(frame.data))
        elif frame.opcode in (Opcode.BINARY, Opcode.CONT, Opcode.TEXT):
            self._protocol.fail(CloseCode.UNSUPPORTED_DATA, "whole binary messages only")

    async def _flush(self) -> None:
        try:
            for data in self._protocol.data_to_send():
                if data:
                    self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise CarrierClosedError(f"the connection broke: {error}") from error

    def _why(self) -> str:
        protocol = self._protocol
        if protocol.parser_exc is not None:
            return f"the connection broke: {protocol.parser_exc}"
        if protocol.close_rcvd is not None:
            reason = protocol.close_rcvd.reason
            return f"closed by the other side{': ' + reason if reason else ''}"
        return "the connection was cut"


async def read_request(
    reader: asyncio.StreamReader, protocol: ServerProtocol, *, timeout_seconds: float
) -> Request:
    """Return the HTTP request that opens a connection; raise CarrierClosedError."""
    try:
        async with asyncio.timeout(timeout_seconds):
            while True:
                data = await reader.read(READ_BYTES)
                if not data:
                    raise CarrierClosedError("closed before its request was whole")
                protocol.receive_data(data)
                for event in protocol.events_received():
                    if isinstance(event, Request):
                        return event
                if protocol.parser_exc is not None:
                    raise CarrierClosedError(f"no HTTP request: {protocol.parser_exc}")
    except TimeoutError as error:
        raise CarrierClosedError("sent no request in time") from error
    except OSError as error:
        raise CarrierClosedError(f"the connection broke: {error}") from error


async def respond(
    writer: asyncio.StreamWriter, protocol: ServerProtocol, response: Response
) -> None:
    """Answer the request; the connection stays open where it was upgraded."""
    protocol.send_response(response)
    try:
        for data in protocol.data_to_send():
            if data:
                writer.write(data)
        await writer.drain()
    except OSError as error:
        raise CarrierClosedError(f"the connection broke: {error}") from error


async def dial(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float = 10,
) -> WebSocketCarrier:
    """Return the WebSocket of a connection to `wss://host:port/path`; raise CarrierClosedError."""
    protocol = ClientProtocol(parse_uri(url), max_size=MAX_MESSAGE_BYTES)
    request = protocol.connect()
    for name, value in (headers or {}).items():
        request.headers[name] = value
    protocol.send_request(request)
    try:
        async with asyncio.timeout(timeout_seconds):
            while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
                await _shake_hands(reader, writer, protocol)
    except TimeoutError as error:
        raise CarrierClosedError("the gateway did not answer in time") from error
    if protocol.handshake_exc is not None:
        raise CarrierClosedError(_refusal(protocol.handshake_exc)) from protocol.handshake_exc
    carrier = WebSocketCarrier(reader, writer, protocol)
    carrier.receive_events()
    return carrier


def _refusal(error: Exception) -> str:
    """Return why a gateway (or a proxy before it) let nobody in, in its own words."""
    if isinstance(error, InvalidStatus):
        body = (error.response.body or b"")[:MAX_REASON_BYTES].decode("ascii", "replace")
        first = body.strip().splitlines()[:1]
        if first and not first[0].lstrip().startswith("<"):  # no page of some proxy
            return first[0]
    return f"refused: {error}"


async def _shake_hands(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol
) -> None:
    try:
        for data in protocol.data_to_send():
            if data:
                writer.write(data)
        await writer.drain()
        data = await reader.read(READ_BYTES)
    except OSError as error:
        raise CarrierClosedError(f"the connection broke: {error}") from error
    if data:
        protocol.receive_data(data)
    else:
        protocol.receive_eof()
