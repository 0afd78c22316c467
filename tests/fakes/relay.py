"""A line with delay, loss and cuts, for TCP, in user space (this kernel has no netem).

    async with relay(("127.0.0.1", port), delay_seconds=0.04, loss_ratio=0.02) as line:
        ...connect to 127.0.0.1:line.port...
        line.cut()       # a black hole: nothing passes, nobody is told
        line.mend()

What TCP makes of a lost segment is a wait for its repetition, in order: so is it here, by the time
of a retransmission for each segment drawn as lost.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

SEGMENT_BYTES = 1448
MIN_RETRANSMISSION_SECONDS = 0.2


@dataclass
class Line:
    """One line; `delay_seconds` is one way."""

    target: tuple[str, int]
    delay_seconds: float
    loss_ratio: float
    random: random.Random
    port: int = 0
    lost_segments: int = 0
    segments: int = 0
    open: asyncio.Event = field(default_factory=asyncio.Event)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        self.open.clear()

    def mend(self, *, is_reset: bool = True) -> None:
        """Let bytes pass again; connections of before are gone, as after a NAT's time-out."""
        self.open.set()
        if is_reset:
            for writer in tuple(self.writers):
                writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        try:
            await self.open.wait()
            there, back = await asyncio.open_connection(*self.target)
            self.writers.add(back)
            await asyncio.gather(self.carry(reader, back), self.carry(there, writer))
        except OSError:
            pass
        finally:
            for one in (writer, back) if "back" in locals() else (writer,):
                self.writers.discard(one)
                one.close()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes on, in order, each when its time has come."""
        queue: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue(maxsize=1024)
        loop = asyncio.get_running_loop()

        async def put() -> None:
            with suppress(OSError):
                while data := await reader.read(65_536):
                    await queue.put((loop.time() + self.delay_seconds + self.wait(data), data))
            await queue.put(None)

        putting = asyncio.create_task(put())
        try:
            while (entry := await queue.get()) is not None:
                due, data = entry
                if due > loop.time():
                    await asyncio.sleep(due - loop.time())  # noqa: TID251 a line is real time
                await self.open.wait()
                writer.write(data)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
        except OSError:
            writer.transport.abort()
        finally:
            putting.cancel()

    def wait(self, data: bytes) -> float:
        """Return how much later these bytes arrive because segments of them were lost."""
        count = -(-len(data) // SEGMENT_BYTES)
        lost = sum(self.random.random() < self.loss_ratio for _ in range(count))
        self.segments += count
        self.lost_segments += lost
        again = max(MIN_RETRANSMISSION_SECONDS, 2 * self.delay_seconds) + 2 * self.delay_seconds
        return again if lost else 0.0


@asynccontextmanager
async def relay(
    target: tuple[str, int],
    *,
    delay_seconds: float = 0.0,
    loss_ratio: float = 0.0,
    seed: int = 1,
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncIterator[Line]:
    """A line to a target while the block runs."""
    line = Line(target, delay_seconds, loss_ratio, random.Random(seed))
    line.open.set()
    server = await asyncio.start_server(line.serve, host, port)
    line.port = server.sockets[0].getsockname()[1]
    try:
        yield line
    finally:
        line.open.set()
        for writer in tuple(line.writers):
            writer.transport.abort()
        server.close()
