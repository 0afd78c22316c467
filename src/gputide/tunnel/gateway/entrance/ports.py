"""What lies behind an entrance."""

import asyncio
from typing import Protocol

from gputide.tunnel.gateway.entrance.answer import Answer
from gputide.tunnel.gateway.entrance.ask import Ask

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Service(Protocol):
    """Pages and pipes of nodes."""

    async def page(self, ask: Ask, *, client: str) -> Answer:
        """Return a node's page; TunnelRefusedError."""

    async def pipe(
        self, ask: Ask, ready: bytes, early: bytes, streams: Streams, *, client: str
    ) -> None:
        """Connect a client with a node's port and see it through.

        When connected, `ready` goes to the client and `early` (what it sent already) to the node.
        TunnelRefusedError before that; later failures close the connection.
        """
