"""HTTP in: requests whose Host (or absolute form, or CONNECT) names a node and a port."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import h11
import structlog

from gputide.errors import GputideError
from gputide.tunnel.gateway.entrance.answer import (
    CLIENT_NOT_ALLOWED,
    answer_of,
    refused,
    write_answer,
)
from gputide.tunnel.gateway.entrance.ask import Ask, BadAskError, read_ask
from gputide.tunnel.gateway.entrance.ports import Service
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code

log = structlog.stdlib.get_logger()

READ_BYTES = 65_536
IDLE_SECONDS = 120.0
REQUEST_SECONDS = 10.0
MAX_HEAD_BYTES = 32_768
PROXY_READY = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """One port of the gateway that others of the cloud ask."""

    serve: Service
    port: int | None
    """The exporters' port that it stands for; None: a proxy, where the request names the port."""

    is_allowed: Callable[[str], bool]
    """Whether a client address may ask."""


async def serve_http(
    entrance: Entrance, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: str
) -> None:
    """See one client's connection through: requests one after the other."""
    if not entrance.is_allowed(client):
        log.warning("client refused", client=client, port=entrance.port)
        text = f"{client} is not on the list of clients"
        answer = refused(403, text, code=CLIENT_NOT_ALLOWED)
        await write_answer(writer, h11.Connection(h11.SERVER), answer)
        return
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
    with contextlib.suppress(ConnectionError, TimeoutError):
        while await _one(entrance, connection, reader, writer, client):
            connection.start_next_cycle()


async def _one(
    entrance: Entrance,
    connection: h11.Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    client: str,
) -> bool:
    """Answer one request; return whether another may follow."""
    try:
        request = await _next_request(connection, reader)
        if request is None:
            return False
        ask = read_ask(request, port=entrance.port)
    except (BadAskError, h11.RemoteProtocolError) as error:
        answer = refused(getattr(error, "status", 400), str(error), code=Code.BAD_REQUEST)
        await write_answer(writer, connection, answer)
        return False
    if ask.is_connect:
        await _connect(entrance.serve, ask, connection, (reader, writer), client)
        return False
    try:
        answer = await entrance.serve.page(ask, client=client)
    except TunnelRefusedError as error:
        answer = answer_of(error)
    except GputideError as error:
        answer = refused(502, str(error), code=Code.FAILED)
    await write_answer(writer, connection, answer, is_head=ask.is_head)
    return connection.our_state is h11.DONE and connection.their_state is h11.DONE


async def _next_request(
    connection: h11.Connection, reader: asyncio.StreamReader
) -> h11.Request | None:
    """Return a request without a body; None at the end of the connection."""
    seconds = IDLE_SECONDS
    found: h11.Request | None = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            async with asyncio.timeout(seconds):
                connection.receive_data(await reader.read(READ_BYTES))
            seconds = REQUEST_SECONDS
        elif isinstance(event, h11.Request):
            found = event
            if event.method == b"CONNECT":
                return event
        elif isinstance(event, h11.EndOfMessage):
            return found
        elif isinstance(event, h11.Data):
            raise BadAskError(413, "a scrape has no body")
        else:
            return None


async def _connect(
    service: Service,
    ask: Ask,
    connection: h11.Connection,
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    client: str,
) -> None:
    early, _ = connection.trailing_data
    try:
        await service.pipe(ask, PROXY_READY, early, streams, client=client)
    except TunnelRefusedError as error:
        await write_answer(streams[1], connection, answer_of(error))
