"""A real HTTP or HTTPS server on loopback whose every byte the test chooses.

    async with http_server(lambda request: response(b'{"status": "success"}')) as server:
        ...ask(server.url)...
    server.requests[0].headers["authorization"]

The responder, plain or async, gets each request and returns the bytes that go on the wire (after
which the connection is closed), or None: then the server is silent until the client goes away.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

CLOSE_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client sent; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Responder = Callable[[Request], bytes | Awaitable[bytes] | None]


@dataclass(slots=True)
class HttpServer:
    """A server that runs: its address, and what it was asked."""

    url: str
    requests: list[Request] = field(default_factory=list)


def response(
    body: bytes = b"",
    status: str = "200 OK",
    *,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    length: int | None = None,
) -> bytes:
    """Return a response as bytes; `length` other than the body's makes it end too early."""
    fields = {"Content-Type": content_type, "Connection": "close", **(headers or {})}
    fields["Content-Length"] = str(len(body) if length is None else length)
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


@asynccontextmanager
async def http_server(
    responder: Responder, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HttpServer]:
    """Serve while the block runs."""
    running = HttpServer(url="")

    open_connections: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_connections.add(asyncio.current_task())
        with suppress(ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            request = await _read(reader)
            running.requests.append(request)
            answer = responder(request)
            if isinstance(answer, Awaitable):
                answer = await answer
            if answer is None:
                await reader.read()  # until the client closes
            else:
                writer.write(answer)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    running.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    async with server:
        yield running
        ending = [task for task in open_connections if task]
        if ending:  # the clients have gone, so these come to their end
            await asyncio.wait(ending, timeout=CLOSE_TIMEOUT_SECONDS)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, target=target, headers=headers, body=body)
