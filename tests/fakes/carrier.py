"""Two ends of an ordered connection in memory, as carriers of tunnel sessions."""

import asyncio

from gputide.tunnel.model import CarrierClosedError


class FakeCarrier:
    """One end; `joined` makes both. What is sent is delivered in order, `delay` bytes at a time."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=64)
        self.peer: FakeCarrier = self
        self.close_reason: str | None = None

    async def send(self, data: bytes) -> None:
        if self.close_reason is not None:
            raise CarrierClosedError(self.close_reason)
        await self.peer.inbox.put(data)

    async def receive(self) -> bytes:
        data = await self.inbox.get()
        if data is None:
            raise CarrierClosedError("closed by the other side")
        return data

    async def close(self, reason: str = "") -> None:
        if self.close_reason is None:
            self.close_reason = reason
            await self.peer.inbox.put(None)


def joined() -> tuple[FakeCarrier, FakeCarrier]:
    one, other = FakeCarrier(), FakeCarrier()
    one.peer, other.peer = other, one
    return one, other
