"""One exchange over a link, for the shell: await the reply, read, write, finish."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Protocol

from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code, Reply, Session, StreamClosedError


class Waker(Protocol):
    """Whoever sends what a session has queued."""

    def wake(self) -> None:
        """Send soon."""


class Exchange:
    """A stream of a session as something to await; made by `Link` alone.

    Reading and writing raise TunnelRefusedError where the stream is refused or broken, by either
    side or because the link went down.
    """

    def __init__(self, session: Session, waker: Waker, stream: int) -> None:
        self._session = session
        self._waker = waker
        self.stream = stream
        self._reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._chunks: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._is_ended = False
        self._broken: TunnelRefusedError | None = None

    # The link tells ------------------------------------------------------------------------------

    def on_reply(self, reply: Reply) -> None:
        """Take the answer."""
        if not self._reply.done():
            self._reply.set_result(reply)

    def on_data(self, data: bytes) -> None:
        """Take bytes of the peer."""
        self._chunks.append(data)
        self._changed.set()

    def on_end(self) -> None:
        """Note that no more bytes follow."""
        self._is_ended = True
        self._changed.set()

    def on_break(self, code: Code, text: str) -> None:
        """Note that the stream is over before its end."""
        self._broken = TunnelRefusedError(code, text)
        if not self._reply.done():
            self._reply.set_exception(self._broken)
            self._reply.exception()  # whoever does not wait for a reply need not hear of it
        self._changed.set()

    def on_writable(self) -> None:
        """Note that data can be sent again."""
        self._changed.set()

    # The shell asks ------------------------------------------------------------------------------

    async def reply(self) -> Reply:
        """Wait for the answer; the caller sets the deadline."""
        return await asyncio.shield(self._reply)

    def accept(self, reply: Reply, *, is_finished: bool = False) -> None:
        """Answer a request of the peer."""
        self._guard()
        self._session.accept(self.stream, reply, is_finished=is_finished)
        self._waker.wake()

    async def read(self) -> bytes:
        """Return the next bytes as they came; b"" at the end."""
        while not self._chunks:
            if self._is_ended:
                return b""
            self._guard()
            self._changed.clear()
            await self._changed.wait()
        data = self._chunks.popleft()
        self._session.consumed(self.stream, len(data))
        self._waker.wake()
        return data

    async def read_all(self, *, max_bytes: int) -> bytes:
        """Return everything up to the end; TunnelRefusedError (`too_large`) beyond the bound."""
        parts: list[bytes] = []
        size = 0
        async for data in self:
            parts.append(data)
            size += len(data)
            if size > max_bytes:
                self.reset(Code.TOO_LARGE, f"more than {max_bytes} bytes")
                raise TunnelRefusedError(Code.TOO_LARGE, f"more than {max_bytes} bytes")
        return b"".join(parts)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.read():
            yield data

    async def write(self, data: bytes) -> None:
        """Send bytes; waits while the peer does not take them."""
        left = memoryview(data)
        while left:
            self._guard()
            self._changed.clear()
            try:
                taken = self._session.send(self.stream, left)
            except StreamClosedError as error:
                raise TunnelRefusedError(Code.GONE, str(error)) from error
            left = left[taken:]
            self._waker.wake()
            if left:
                await self._changed.wait()

    def finish(self) -> None:
        """Say that no more bytes follow."""
        self._session.finish(self.stream)
        self._waker.wake()

    def refuse(self, code: Code, text: str = "") -> None:
        """Refuse the request, or break the stream where it was accepted; harmless when over."""
        try:
            self._session.refuse(self.stream, code, text)
        except StreamClosedError:
            self._session.reset(self.stream, code, text)
        self._broken = self._broken or TunnelRefusedError(code, text)
        self._changed.set()
        self._waker.wake()

    def reset(self, code: Code = Code.GONE, text: str = "") -> None:
        """Break the stream; harmless when it is over."""
        self._session.reset(self.stream, code, text)
        self._broken = self._broken or TunnelRefusedError(code, text)
        self._changed.set()
        self._waker.wake()

    def _guard(self) -> None:
        if self._broken is not None:
            raise self._broken
