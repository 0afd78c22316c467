import asyncio
from http import HTTPStatus
from pathlib import Path

import pytest

from gputide.errors import SettingError
from gputide.exporter.http.connection import Limits
from gputide.exporter.http.model import Request, Response
from gputide.exporter.http.server import Address, Server, parse_address

GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


async def answer(request: Request) -> Response:
    return Response(status=HTTPStatus.OK, body=request.path.encode())


@pytest.mark.parametrize("text", ["", "9400", "host:99999", "a:b:1", "unix:"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="is not HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize("text", [":9400", "127.0.0.1:9400", "[::1]:9400", "unix:/run/x.sock"])
def test_an_address_is_written_as_it_is_read(text: str) -> None:
    assert str(parse_address(text)) == text


async def test_a_port_in_use_is_named() -> None:
    first, second = Server(answer), Server(answer)
    await first.bind(Address("127.0.0.1", 0))
    await first.start()
    try:
        with pytest.raises(SettingError, match=r"address: cannot listen on 127.0.0.1:\d+: "):
            await second.bind(Address("127.0.0.1", first.port))
    finally:
        await first.close()


async def test_two_that_take_an_address_at_the_same_time_cannot_both_serve() -> None:
    first, second = Server(answer), Server(answer)
    await first.bind(Address("127.0.0.1", 0))
    await second.bind(Address("127.0.0.1", first.port))
    await first.start()

    with pytest.raises(SettingError, match="cannot listen on"):
        await second.start()

    await first.close()
    await second.close()


async def test_a_unix_socket_answers(tmp_path: Path) -> None:
    path = tmp_path / "x.sock"
    server = Server(answer)
    await server.bind(Address(path=path))
    await server.start()
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(GET)

    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()
    await server.close()


async def test_a_crowd_of_idle_clients_cannot_keep_the_next_one_out() -> None:
    server = Server(answer, limits=Limits(max_connections=2))
    await server.bind(Address("127.0.0.1", 0))
    await server.start()
    idle = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(GET)

    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    for _, one in [*idle, (reader, writer)]:
        one.close()
    await server.close()
