"""Bytes both ways between an exchange and a TCP connection, until both have ended."""

import asyncio

from gputide.tunnel.exchange import Exchange
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code

CHUNK_BYTES = 65_536
IDLE_SECONDS = 600.0
"""A pipe that carries nothing for so long is closed."""


async def join_streams(
    exchange: Exchange,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    idle_seconds: float = IDLE_SECONDS,
) -> None:
    """Carry bytes until both sides have ended; TunnelRefusedError where one breaks."""
    tasks = [
        asyncio.create_task(_outward(exchange, reader, idle_seconds)),
        asyncio.create_task(_inward(exchange, writer, idle_seconds)),
    ]
    try:
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
        for task in pending:
            await task
    except (OSError, TimeoutError) as error:
        raise TunnelRefusedError(Code.GONE, _words(error)) from error
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _outward(exchange: Exchange, reader: asyncio.StreamReader, idle_seconds: float) -> None:
    while True:
        async with asyncio.timeout(idle_seconds):
            data = await reader.read(CHUNK_BYTES)
        if not data:
            exchange.finish()
            return
        await exchange.write(data)


async def _inward(exchange: Exchange, writer: asyncio.StreamWriter, idle_seconds: float) -> None:
    while True:
        async with asyncio.timeout(idle_seconds):
            data = await exchange.read()
        if not data:
            if writer.can_write_eof():
                writer.write_eof()
            return
        writer.write(data)
        await writer.drain()


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "nothing was sent for too long"
    return str(getattr(error, "strerror", None) or error)
