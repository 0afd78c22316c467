"""What the two ends of the tunnel need from outside."""

from typing import TYPE_CHECKING, Protocol

from gputide.tunnel.protocol import Request

if TYPE_CHECKING:
    from gputide.tunnel.exchange import Exchange


class Carrier(Protocol):
    """An ordered, encrypted connection that carries a session: a WebSocket, or a test's pipe."""

    async def send(self, data: bytes) -> None:
        """Send bytes; waits while the connection is full. Raises CarrierClosedError."""

    async def receive(self) -> bytes:
        """Return the next bytes. Raises CarrierClosedError."""

    async def close(self, reason: str = "") -> None:
        """Close it; never raises."""


class RequestHandler(Protocol):
    """Answers what the peer asks."""

    async def handle(self, request: Request, exchange: "Exchange") -> None:
        """Accept or refuse, and see it through; runs as a task of its own.

        TunnelRefusedError refuses (or resets) with its code; a return ends the stream.
        """
