import asyncio
import socket

import httpx2
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from gputide.errors import SettingError
from gputide.kubeapi.serve import Serving, listening, serve


class Door:
    """An application that answers once it is opened."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.is_open = asyncio.Event()
        self.scope: Scope = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.is_asked.set()
        await self.is_open.wait()
        await PlainTextResponse("in")(scope, receive, send)


def address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_what_runs_is_finished_before_the_server_ends() -> None:
    door, stop, listener = Door(), asyncio.Event(), listening("127.0.0.1", 0)
    url = address(listener)
    async with asyncio.timeout(10), httpx2.AsyncClient(trust_env=False) as client:
        running = asyncio.create_task(serve(door, listener, stop=stop))
        asked = asyncio.create_task(client.get(url))
        await door.is_asked.wait()
        stop.set()
        await asyncio.wait([running], timeout=0.3)
        assert not running.done()
        door.is_open.set()
        assert (await asked).text == "in"
        await running
        with pytest.raises(httpx2.ConnectError):
            await client.get(url)


async def test_what_does_not_end_is_cancelled_after_the_grace() -> None:
    door, stop, listener = Door(), asyncio.Event(), listening("127.0.0.1", 0)
    async with asyncio.timeout(10), httpx2.AsyncClient(trust_env=False) as client:
        running = asyncio.create_task(
            serve(door, listener, stop=stop, serving=Serving(grace_seconds=1))
        )
        asked = asyncio.create_task(client.get(address(listener)))
        await door.is_asked.wait()
        stop.set()
        await running
        with pytest.raises(httpx2.HTTPError):
            (await asked).raise_for_status()


async def test_connections_beyond_the_bound_are_refused() -> None:
    door, stop, listener = Door(), asyncio.Event(), listening("127.0.0.1", 0)
    serving = Serving(max_connections=1)
    async with asyncio.timeout(10), httpx2.AsyncClient(trust_env=False) as client:
        running = asyncio.create_task(serve(door, listener, stop=stop, serving=serving))
        first = asyncio.create_task(client.get(address(listener)))
        await door.is_asked.wait()
        refused = await client.get(address(listener))
        assert refused.status_code == 503
        door.is_open.set()
        assert (await first).status_code == 200
        stop.set()
        await running


async def test_nobody_can_claim_another_address() -> None:
    door, stop, listener = Door(), asyncio.Event(), listening("127.0.0.1", 0)
    door.is_open.set()
    async with asyncio.timeout(10), httpx2.AsyncClient(trust_env=False) as client:
        running = asyncio.create_task(serve(door, listener, stop=stop))
        claims = {"x-forwarded-for": "10.0.0.1", "x-forwarded-proto": "https"}
        await client.get(address(listener), headers=claims)
        assert (door.scope["client"][0], door.scope["scheme"]) == ("127.0.0.1", "http")
        stop.set()
        await running


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: "])
async def test_a_client_that_never_ends_its_head_is_let_go(sent: bytes) -> None:
    quick = Serving(head_seconds=0.05)
    door, stop, listener = Door(), asyncio.Event(), listening("127.0.0.1", 0)
    async with asyncio.timeout(10):
        running = asyncio.create_task(serve(door, listener, stop=stop, serving=quick))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(sent)
        assert await reader.read() == b""
        writer.close()
        stop.set()
        await running


async def test_a_client_that_is_served_is_not_let_go() -> None:
    quick = Serving(head_seconds=0.05)
    door, stop, listener = Door(), asyncio.Event(), listening("127.0.0.1", 0)
    async with asyncio.timeout(10):
        running = asyncio.create_task(serve(door, listener, stop=stop, serving=quick))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.wait([running], timeout=0.2)
        door.is_open.set()
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
        stop.set()
        await running


def test_an_address_that_is_taken_is_named() -> None:
    taken = listening("127.0.0.1", 0)
    port = taken.getsockname()[1]
    with pytest.raises(SettingError, match=f"127.0.0.1:{port}"):
        listening("127.0.0.1", port)
    taken.close()


def test_small_answers_leave_at_once() -> None:
    listener = listening("127.0.0.1", 0)
    assert listener.proto == socket.IPPROTO_TCP  # else asyncio does not set TCP_NODELAY
    listener.close()
