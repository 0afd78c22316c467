"""Clients of the entrances: who may ask, what cannot be smuggled, and who reads too slowly."""

import asyncio

import h11
import httpx2
import pytest

from fakes.tunnel import Cloud, start_gateway, until
from gputide.tunnel.gateway.entrance.answer import Answer, write_answer
from integration.tunnel.conftest import NODE, Neighbour

LARGE = b"x" * 50_000_000


async def raw(port: int, request: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; return the status and everything after the first head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    async with asyncio.timeout(5):
        answer = await reader.read()
    writer.close()
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), rest


async def test_a_client_that_is_not_on_the_list_gets_nothing(cloud: Cloud) -> None:
    gateway = start_gateway(cloud, allowed=lambda client: client == "10.1.2.3")
    async with httpx2.AsyncClient(trust_env=False) as client:
        for name in ("pages", "proxy"):
            answer = await client.get(
                f"http://127.0.0.1:{gateway.entrances[name]}/metrics", headers={"Host": NODE}
            )
            assert answer.status_code == 403
            assert answer.reason_phrase == "127.0.0.1 is not on the list of clients"
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.entrances["tls"])
    assert await reader.read() == b""
    writer.close()
    await gateway.stop()


GET = b"GET /metrics HTTP/1.1\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        GET + b"Host: edge-gpu-001\r\nHost: edge-gpu-002\r\n\r\n",
        b"GET http://edge-gpu-002/metrics HTTP/1.1\r\nHost: edge-gpu-001\r\n\r\n",
        GET
        + b"Host: edge-gpu-001\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        GET
        + b"Host: edge-gpu-001\r\nContent-Length: 28\r\n\r\nGET /debug HTTP/1.1\r\nHost: a\r\n\r\n",
        GET + b"Host : edge-gpu-001\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n\r\n",
        GET + b"Host: edge-gpu-001\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: edge-gpu-001\r\n\r\n",
        b"GET /metrics\\..\\debug HTTP/1.1\r\nHost: edge-gpu-001@evil\r\n\r\n",
    ],
)
async def test_a_doubtful_request_reaches_no_node(
    neighbour: Neighbour, request_bytes: bytes
) -> None:
    entrance = neighbour.gateway.entrances["pages"]
    status, rest = await raw(entrance, request_bytes)
    assert 400 <= status < 500
    assert b"HTTP/1.1" not in rest  # one answer, then the connection is closed
    await neighbour.goes_on()


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    cut = asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        connection.next_event()
        with pytest.raises(TimeoutError):
            await write_answer(writer, connection, Answer(status=200, body=LARGE), seconds=0.3)
        cut.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        async with asyncio.timeout(5):
            await cut.wait()
        assert len(await reader.read()) < len(LARGE)
        writer.close()


async def test_slow_readers_hold_up_nobody(neighbour: Neighbour) -> None:
    port = neighbour.gateway.entrances["pages"]
    slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(50)]
    for _, writer in slow:
        writer.write((GET + b"Host: edge-gpu-001\r\n\r\n") * 20)
    await neighbour.goes_on()
    for _, writer in slow:
        writer.transport.abort()
    await until(lambda: neighbour.served > 5)
    await neighbour.goes_on()
