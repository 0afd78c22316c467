import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

import pytest
from structlog.testing import capture_logs

from gputide.exporter.http.connection import Limits
from gputide.exporter.http.model import Request, Response
from gputide.exporter.http.server import Address, Server

SMALL = Limits(max_header_bytes=1024, request_seconds=0.3, idle_seconds=0.3)


async def answer(request: Request) -> Response:
    if request.path == "/bug":
        raise RuntimeError("a bug")
    return Response(status=HTTPStatus.OK, body=f"{request.method} {request.path}".encode())


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    one = Server(answer, limits=SMALL)
    await one.bind(Address("127.0.0.1", 0))
    await one.start()
    yield one
    await one.close()


async def sent(server: Server, data: bytes) -> bytes:
    """Send, and return all that comes until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(data)
    async with asyncio.timeout(5):
        got = await reader.read()
    writer.close()
    return got


async def test_two_requests_go_over_one_connection(server: Server) -> None:
    one = b"GET /a?x=1 HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    got = await sent(server, one + last)

    assert got.count(b"HTTP/1.1 200") == 2
    assert b"GET /a" in got
    assert got.endswith(b"GET /b")


async def test_head_has_the_length_and_no_body(server: Server) -> None:
    got = await sent(server, b"HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert b"content-length: 7" in got.lower()
    assert got.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5000, b"431"),
    ],
)
async def test_a_broken_request_gets_the_protocols_own_error(
    server: Server, data: bytes, status: bytes
) -> None:
    assert (await sent(server, data)).startswith(b"HTTP/1.1 " + status)


async def test_a_client_that_never_ends_its_request_is_let_go(server: Server) -> None:
    got = await sent(server, b"GET / HTTP/1.1\r\nHost:")

    assert got == b"" or got.startswith(b"HTTP/1.1 408")


async def test_a_bug_in_an_answer_is_500_and_the_server_goes_on(server: Server) -> None:
    with capture_logs() as logs:
        got = await sent(server, b"GET /bug HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert got.startswith(b"HTTP/1.1 500")
    assert [line["event"] for line in logs] == ["a request met a bug"]
    again = await sent(server, b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert again.startswith(b"HTTP/1.1 200")
