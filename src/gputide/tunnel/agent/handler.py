"""Answers what gateways ask of an agent: pages, pipes, calls."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gputide.tunnel.agent.fetch import Fetched, Fetcher
from gputide.tunnel.agent.site import Site
from gputide.tunnel.exchange import Exchange
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.pages import PageShelf, pack
from gputide.tunnel.pipe import join_streams
from gputide.tunnel.protocol import Call, Code, Pipe, Reply, Request, Scrape

CallHandler = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
PageListener = Callable[[Scrape, Fetched, bytes], None]
"""Gets the request, what was fetched, and the page's digest."""

MAX_DIAL_SECONDS = 10.0


class AgentHandler:
    """One a link, since the last pages are what this gateway got."""

    def __init__(
        self,
        site: Site,
        fetcher: Fetcher,
        calls: Mapping[str, CallHandler],
        *,
        on_page: PageListener | None = None,
    ) -> None:
        self._site = site
        self._fetcher = fetcher
        self._calls = calls
        self._on_page = on_page
        self._shelf = PageShelf()

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer one request."""
        if isinstance(request, Scrape):
            await self._scrape(request, exchange)
        elif isinstance(request, Pipe):
            await self._pipe(request, exchange)
        else:
            await self._call(request, exchange)

    async def _scrape(self, request: Scrape, exchange: Exchange) -> None:
        fetched = await self._fetcher.fetch(request)
        target = f"{request.node}:{request.port}{request.path}?{request.query}"
        packed = pack(fetched.page, self._shelf.get(target, request.base))
        self._shelf.put(target, fetched.page, packed.digest)
        if self._on_page is not None:
            self._on_page(request, fetched, packed.digest)
        exchange.accept(
            Reply(
                status=fetched.status,
                headers=fetched.headers,
                packing=packed.packing,
                digest=packed.digest,
                size=packed.size,
            )
        )
        await exchange.write(packed.data)

    async def _pipe(self, request: Pipe, exchange: Exchange) -> None:
        address = self._site.pipe_address(request.node, request.port)
        seconds = min(max(request.timeout_ms / 1000, 0.01), MAX_DIAL_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                reader, writer = await asyncio.open_connection(address, request.port)
        except TimeoutError as error:
            text = f"{request.node}:{request.port} did not answer in {seconds:.3g} s"
            raise TunnelRefusedError(Code.TARGET_TIMED_OUT, text) from error
        except OSError as error:
            text = f"{request.node}:{request.port} ({address}): {error.strerror or error}"
            raise TunnelRefusedError(Code.UNREACHABLE, text) from error
        exchange.accept(Reply())
        try:
            await join_streams(exchange, reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _call(self, request: Call, exchange: Exchange) -> None:
        handler = self._calls.get(request.method)
        if handler is None:
            text = f"this agent does not know {request.method!r}"
            raise TunnelRefusedError(Code.UNSUPPORTED, text)
        try:
            async with asyncio.timeout(request.timeout_ms / 1000):
                result = await handler(request.params)
        except TimeoutError as error:
            raise TunnelRefusedError(Code.TIMED_OUT, f"{request.method} took too long") from error
        exchange.accept(Reply(result=result), is_finished=True)
