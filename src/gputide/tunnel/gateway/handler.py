"""Answers what agents ask of a gateway."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gputide.tunnel.exchange import Exchange
from gputide.tunnel.gateway.registry import Connection
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Call, Code, Reply, Request

CallHandler = Callable[[Connection, Mapping[str, Any]], Awaitable[dict[str, Any]]]
StreamHandler = Callable[[Connection, Exchange], Awaitable[None]]
"""For calls with more data than parameters; accepts the exchange itself."""


class GatewayHandler:
    """Calls by name; a gateway serves neither pages nor pipes to agents."""

    def __init__(
        self,
        connection: Connection,
        calls: Mapping[str, CallHandler],
        streams: Mapping[str, StreamHandler],
    ) -> None:
        self._connection = connection
        self._calls = calls
        self._streams = streams

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer one request."""
        if not isinstance(request, Call):
            raise TunnelRefusedError(Code.NOT_ALLOWED, "agents can ask no nodes")
        stream = self._streams.get(request.method)
        if stream is not None:
            await stream(self._connection, exchange)
            return
        handler = self._calls.get(request.method)
        if handler is None:
            text = f"this gateway does not know {request.method!r}"
            raise TunnelRefusedError(Code.UNSUPPORTED, text)
        result = await handler(self._connection, request.params)
        exchange.accept(Reply(result=result), is_finished=True)
