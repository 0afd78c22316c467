"""Pages and pipes by node name: through the agent's link, or directly where a node needs none."""

import asyncio
from collections import Counter
from collections.abc import Callable

import structlog

from gputide.clock import Clock
from gputide.tunnel.gateway.entrance.answer import Answer
from gputide.tunnel.gateway.entrance.ask import Ask
from gputide.tunnel.gateway.entrance.ports import Streams
from gputide.tunnel.gateway.registry import Registry
from gputide.tunnel.gateway.scrape import scrape
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.pipe import join_streams
from gputide.tunnel.protocol import Pipe, Scrape

log = structlog.stdlib.get_logger()

PIPE_CONNECT_SECONDS = 10.0


class GatewayService:
    """Serves the entrances from the registry's links."""

    def __init__(
        self, registry: Registry, clock: Clock, *, on_scrape: "ScrapeListener | None" = None
    ) -> None:
        self._registry = registry
        self._clock = clock
        self._on_scrape = on_scrape
        self.scrapes: Counter[str] = Counter()
        """By outcome: `ok`, or the code of the refusal."""

        self.pipes: Counter[str] = Counter()
        self.page_bytes = 0
        self.wire_bytes = 0
        self.seconds_total = 0.0

    async def page(self, ask: Ask, *, client: str) -> Answer:  # noqa: ARG002  of the protocol
        """Return a node's page; TunnelRefusedError."""
        started = self._clock.monotonic_seconds()
        request = Scrape(
            node=ask.node,
            port=ask.port,
            path=ask.path,
            query=ask.query,
            headers=ask.headers,
            timeout_ms=int(ask.seconds * 1000),
        )
        try:
            connection = self._registry.find(ask.node, now_seconds=started)
            scraped = await scrape(connection, request, timeout_seconds=ask.seconds)
        except TunnelRefusedError as error:
            self.scrapes[error.code] += 1
            log.info("scrape failed", node=ask.node, port=ask.port, code=error.code, why=str(error))
            raise
        self.scrapes["ok"] += 1
        self.page_bytes += len(scraped.page)
        self.wire_bytes += scraped.wire_bytes
        self.seconds_total += self._clock.monotonic_seconds() - started
        if self._on_scrape is not None:
            self._on_scrape(request)
        return Answer(status=scraped.status, body=scraped.page, headers=scraped.headers)

    async def pipe(
        self,
        ask: Ask,
        ready: bytes,
        early: bytes,
        streams: Streams,
        *,
        client: str,  # noqa: ARG002  of the protocol
    ) -> None:
        """Connect a client with a node's port and see it through."""
        reader, writer = streams
        try:
            connection = self._registry.find(ask.node, now_seconds=self._clock.monotonic_seconds())
            timeout_ms = int(PIPE_CONNECT_SECONDS * 1000)
            request = Pipe(node=ask.node, port=ask.port, timeout_ms=timeout_ms)
            exchange = connection.link.open(request)
        except TunnelRefusedError as error:
            self.pipes[error.code] += 1
            raise
        try:
            if early:
                await exchange.write(early)
            async with asyncio.timeout(PIPE_CONNECT_SECONDS + 1):
                await exchange.reply()
            self.pipes["ok"] += 1
            writer.write(ready)
        except TunnelRefusedError as error:
            self.pipes[error.code] += 1
            connection.link.close_exchange(exchange)
            raise
        try:
            await join_streams(exchange, reader, writer)
        except TunnelRefusedError as error:
            log.info("pipe broke", node=ask.node, port=ask.port, why=str(error))
        finally:
            connection.link.close_exchange(exchange)


ScrapeListener = Callable[[Scrape], None]
