"""Requests through the front proxy to a real TLS server behind it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fakes.behind import RESOURCES, Site, discovery, port_of
from fakes.http_server import HttpServer, Request, http_server, response
from gputide.kubeapi.aggregation.proxy import MAX_DISCOVERY_BYTES, Backend, Limits
from gputide.kubeapi.aggregation.service import Behind
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import User

ANN = User(name="ann", groups=("dev",))


class Client:
    """An ASGI client: sends one request, keeps what comes back, may go away."""

    def __init__(
        self, path: str = "/apis/x.io/v1/tides", query: str = "", body: bytes = b""
    ) -> None:
        headers = [(b"authorization", b"Bearer secret"), (b"x-remote-user", b"admin")]
        if body:
            headers.append((b"content-length", str(len(body)).encode()))
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "POST" if body else "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "user": ANN,
        }
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.body = b""
        self.is_gone = asyncio.Event()
        self.has_chunk = asyncio.Event()
        self._bodies = [body]

    async def receive(self) -> dict:
        if self._bodies:
            return {"type": "http.request", "body": self._bodies.pop(), "more_body": False}
        await self.is_gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.body += message.get("body", b"")
            if self.body:
                self.has_chunk.set()

    async def ask(self, backend: Backend) -> "Client":
        await backend.app(self.scope, self.receive, self.send)
        return self


@asynccontextmanager
async def behind(
    site: Site, server: HttpServer, limits: Limits | None = None, **more: object
) -> AsyncIterator[Backend]:
    """Yield a backend that reaches that server."""
    wanted = Behind(
        group="x.io",
        version="v1",
        namespace="n",
        service="s",
        port=443,
        **({"authority_pem": site.authority_pem} | more),
    )

    async def find() -> tuple[str, int]:
        return ("127.0.0.1", port_of(server))

    backend = Backend(wanted, site.proxy, find, limits or Limits())
    try:
        yield backend
    finally:
        await backend.close()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def test_discovery_is_asked_as_the_aggregator_and_remembered(site: Site) -> None:
    async with site.served() as server, behind(site, server) as backend:
        assert backend.resource_list() is None
        await backend.check()
        known = backend.resource_list()
        await backend.check()

        assert known == RESOURCES
        assert backend.resource_list() is known
        asked = server.requests[0]
        assert asked.target == "/apis/x.io/v1"
        assert asked.headers["x-remote-user"] == "system:kube-aggregator"
        assert asked.headers["x-remote-group"] == "system:masters"
        assert asked.headers["host"] == "s.n.svc"


async def test_a_request_goes_through_with_the_user_and_without_credentials(site: Site) -> None:
    def answer(request: Request) -> bytes:
        return response(request.body[::-1], "201 Created", headers={"X-Theirs": "1"})

    async with site.served(answer) as server, behind(site, server) as backend:
        backend.is_available = True
        client = await Client("/apis/x.io/v1/namespaces/n/a%2Fb", "limit=1&x=%20", b"abc").ask(
            backend
        )

        assert (client.status, client.body, client.headers[b"x-theirs"]) == (201, b"cba", b"1")
        asked = server.requests[0]
        assert asked.target == "/apis/x.io/v1/namespaces/n/a%2Fb?limit=1&x=%20"
        assert asked.headers["x-remote-user"] == "ann"
        assert "authorization" not in asked.headers


async def test_a_server_of_another_name_or_authority_is_not_believed(
    site: Site, tmp_path: Path
) -> None:
    async with site.served(name="other.n.svc") as server:
        async with behind(site, server) as backend:
            with pytest.raises(StatusError, match=r"(?i)certificate|hostname"):
                await backend.check()
        async with behind(site, server, is_verified=False, authority_pem="") as backend:
            await backend.check()
    other = Site(tmp_path)
    async with (
        other.served() as server,
        behind(other, server, authority_pem=site.authority_pem) as backend,
    ):
        with pytest.raises(StatusError, match=r"(?i)certificate"):
            await backend.check()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (response(b"", "500 Internal Server Error"), "bad status: 500"),
        (response(b"", "302 Found", headers={"Location": "https://elsewhere"}), "bad status: 302"),
        (response(b"<html>"), "is no JSON"),
        (response(b"[]"), "is no JSON"),
        (response(b'{"kind": "Status"}'), "is no APIResourceList"),
        (response(b"x" * (MAX_DISCOVERY_BYTES + 1)), "has over"),
        (b"", "disconnected"),
    ],
)
async def test_a_server_that_does_not_answer_rightly_is_told_with_the_reason(
    site: Site, answer: bytes, why: str
) -> None:
    async with site.served(lambda _: answer) as server, behind(site, server) as backend:
        with pytest.raises(StatusError, match=why) as caught:
            await backend.check()

        assert caught.value.reason == "FailedDiscoveryCheck"


async def test_a_server_that_is_silent_fails_the_check_and_the_request_in_time(site: Site) -> None:
    limits = Limits(health_seconds=0.05, answer_seconds=0.05)
    async with site.served(lambda _: None) as server, behind(site, server, limits) as backend:
        with pytest.raises(StatusError, match=r"no answer in 0.05 s"):
            await backend.check()
        backend.is_available = True
        client = await Client().ask(backend)

        assert client.status == 503
        assert "error trying to reach service n/s: no answer in 0.05 s" in client.body.decode()


async def test_while_unavailable_the_answer_is_a_status_at_once(site: Site) -> None:
    async with site.served(discovery) as server, behind(site, server) as backend:
        client = await Client().ask(backend)

        assert client.status == 503
        assert json.loads(client.body)["reason"] == "ServiceUnavailable"
        assert server.requests == []


async def test_nobody_listening_is_a_503_of_the_request(site: Site) -> None:
    async with http_server(discovery) as server:
        pass
    async with behind(site, server) as backend:
        backend.is_available = True
        client = await Client().ask(backend)

        assert client.status == 503
        assert "error trying to reach service" in client.body.decode()


@asynccontextmanager
async def trickling(site: Site, chunks: "asyncio.Queue[bytes]") -> AsyncIterator[HttpServer]:
    """Serve an answer without end, chunk by chunk."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while chunk := await chunks.get():
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
        is_closed = await reader.read()
        assert is_closed == b""
        await chunks.put(b"gone")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=site.context())
    port = server.sockets[0].getsockname()[1]
    try:
        yield HttpServer(f"https://127.0.0.1:{port}")
    finally:
        server.close()


async def test_a_watch_streams_without_a_deadline_until_its_client_goes_away(site: Site) -> None:
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    limits = Limits(answer_seconds=0.3)
    async with trickling(site, chunks) as server, behind(site, server, limits) as backend:
        backend.is_available = True
        client = Client(query="watch=true")
        asking = asyncio.create_task(client.ask(backend))
        await chunks.put(b"one\n")
        await client.has_chunk.wait()
        assert client.body == b"one\n"
        done, _ = await asyncio.wait([asking], timeout=0.4)
        assert not done

        client.is_gone.set()
        await asking
        await chunks.put(b"")
        await asyncio.wait_for(_until(chunks, b"gone"), 10)


async def test_an_answer_that_does_not_end_in_time_is_broken_off(site: Site) -> None:
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    limits = Limits(answer_seconds=0.3)
    async with trickling(site, chunks) as server, behind(site, server, limits) as backend:
        backend.is_available = True
        await chunks.put(b"half")
        with pytest.raises(TimeoutError):
            await Client().ask(backend)
        await chunks.put(b"")
        await asyncio.wait_for(_until(chunks, b"gone"), 10)


async def _until(chunks: "asyncio.Queue[bytes]", wanted: bytes) -> None:
    while await chunks.get() != wanted:
        pass
