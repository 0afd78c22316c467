"""One scrape through a link: one message each way, the page packed against the one before."""

import asyncio
from dataclasses import dataclass

from gputide.tunnel.gateway.registry import Connection
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.pages import MAX_PAGE_BYTES, PackedPage, PageError, unpack
from gputide.tunnel.protocol import Code, Reply, Scrape

MARGIN_SECONDS = 0.05
"""What is left of the client's deadline for the way back from here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scraped:
    """What came back from a node."""

    status: int
    headers: tuple[tuple[str, str], ...]
    page: bytes
    wire_bytes: int
    """Bytes of the packed page."""


async def scrape(connection: Connection, request: Scrape, *, timeout_seconds: float) -> Scraped:
    """Return the page that an agent fetched; raise TunnelRefusedError.

    A page that cannot be unpacked (the agent's and our last page differ) is asked for once more,
    whole.
    """
    try:
        async with asyncio.timeout(max(timeout_seconds - MARGIN_SECONDS, 0.01)):
            try:
                return await _once(connection, request)
            except PageError:
                connection.shelf.drop(_target(request))
                return await _once(connection, request)
    except TimeoutError as error:
        text = f"{request.node}: no page through the tunnel in {timeout_seconds:g} s"
        raise TunnelRefusedError(Code.TIMED_OUT, text) from error
    except PageError as error:
        raise TunnelRefusedError(Code.FAILED, str(error)) from error


def _target(request: Scrape) -> str:
    return f"{request.node}:{request.port}{request.path}?{request.query}"


async def _once(connection: Connection, request: Scrape) -> Scraped:
    target = _target(request)
    base = connection.shelf.digest(target)
    asked = Scrape(
        node=request.node,
        port=request.port,
        path=request.path,
        query=request.query,
        headers=request.headers,
        timeout_ms=request.timeout_ms,
        base=base,
        is_tls=request.is_tls,
    )
    exchange = connection.link.open(asked, is_finished=True)
    try:
        reply = await exchange.reply()
        data = await exchange.read_all(max_bytes=MAX_PAGE_BYTES)
    finally:
        connection.link.close_exchange(exchange)
    page = unpack(_packed(reply, data), connection.shelf.get(target, base))
    if reply.digest:
        connection.shelf.put(target, page, reply.digest)
    return Scraped(status=reply.status, headers=reply.headers, page=page, wire_bytes=len(data))


def _packed(reply: Reply, data: bytes) -> PackedPage:
    return PackedPage(packing=reply.packing, data=data, digest=reply.digest, size=reply.size)
