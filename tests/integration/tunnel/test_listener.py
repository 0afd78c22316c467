"""Connections that come and say nothing: bounded, counted, and in nobody's way."""

import asyncio
import socket

from fakes.tunnel import bound, until
from gputide.clock import SystemClock
from gputide.tunnel.listener import Listener, ListenerLimits
from integration.tunnel.conftest import Neighbour

HALF_OPEN = 10_000
HELD = 300
"""Of these the client keeps its side open; so many descriptors any test machine has."""


async def test_ten_thousand_half_open_connections_stop_nobody(neighbour: Neighbour) -> None:
    gateway = neighbour.gateway
    loop = asyncio.get_running_loop()
    held = []
    for number in range(HALF_OPEN):
        one = socket.socket()
        one.setblocking(False)
        await loop.sock_connect(one, ("127.0.0.1", gateway.url.port))
        if number < HELD:
            held.append(one)
        else:
            one.close()
    await until(lambda: gateway.refused["agents"].total() >= HALF_OPEN - 200, seconds=30)
    assert gateway.refused["agents"]["handshakes_of_address"] >= HELD - 64
    await neighbour.goes_on()
    assert neighbour.slowest_seconds < 3
    for one in held:
        one.close()


async def test_the_bounds_count_connections_and_free_their_places(neighbour: Neighbour) -> None:
    assert neighbour.gateway.refused["agents"].total() == 0
    started = asyncio.Event()

    async def hold(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str
    ) -> None:
        assert address == "127.0.0.1"
        started.set()
        writer.write(await reader.read(1))

    listening = bound()
    listener = Listener(listening, hold, context=None, limits=ListenerLimits(max_connections=2))
    running = asyncio.create_task(listener.run())
    await SystemClock().sleep(0.05)
    streams = [await asyncio.open_connection("127.0.0.1", listener.port) for _ in range(2)]
    await until(lambda: listener.connections == 2)
    reader, _ = late = await asyncio.open_connection("127.0.0.1", listener.port)
    assert await reader.read() == b""
    assert listener.refused == {"connections": 1}
    streams[0][1].write(b"x")
    assert await streams[0][0].read() == b"x"
    await until(lambda: listener.connections == 1)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    for _, writer in (*streams, late):
        writer.close()
