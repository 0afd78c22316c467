import asyncio
import json
import logging

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fakes.api_servers import BOXES, Gate, api_server, box
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.handlers.context import Limits
from gputide.kubeapi.model import ANONYMOUS, Credentials, Kind, User
from gputide.kubeapi.registry import Call, Virtual
from gputide.kubeapi.server import Options

LOADS = "/apis/load.x.io/v1/namespaces/n/loads"


async def test_whoever_is_nobody_is_a_401() -> None:
    async with api_server(gate=Gate(user=None)) as api:
        assert (await api.ask("GET", BOXES, code=401))["reason"] == "Unauthorized"
        assert api.gate.asked == []


async def test_whoever_may_not_is_a_403_that_says_why() -> None:
    gate = Gate(user=ANONYMOUS, denied_verbs=frozenset({"create"}))
    async with api_server(gate=gate) as api:
        await api.ask("GET", BOXES)
        status = await api.ask("POST", BOXES, box("a"), code=403)
        assert status["message"].endswith(
            'cannot create resource "boxes" in API group "x.io" '
            'in the namespace "default": the gate is shut'
        )


async def test_a_bug_is_a_500_that_tells_the_client_no_more_than_a_mark(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with api_server() as api:
        with caplog.at_level(logging.CRITICAL):
            status = await api.ask("GET", f"{LOADS}/broken", code=500)
        assert status["reason"] == "InternalError"
        assert "ZeroDivisionError" not in json.dumps(status)


async def test_a_request_that_takes_too_long_is_a_504() -> None:
    options = Options(limits=Limits(deadline_seconds=0.05))
    async with api_server(options=options) as api:
        assert (await api.ask("GET", f"{LOADS}/slow", code=504))["reason"] == "Timeout"


async def test_requests_beyond_the_bound_are_refused_with_a_time_to_come_back() -> None:
    options = Options(limits=Limits(max_in_flight=1))
    async with api_server(options=options) as api:
        slow = asyncio.create_task(api.client.get(f"{LOADS}/slow"))
        async with asyncio.timeout(5):
            while (refused := await api.client.get("/healthz")).status_code == 200:
                pass
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        async with asyncio.timeout(5):
            while (await api.client.get("/healthz")).status_code == 429:
                pass


async def test_a_body_that_is_too_large_is_a_413() -> None:
    options = Options(limits=Limits(max_body_bytes=100))
    async with api_server(options=options) as api:
        await api.ask("POST", BOXES, box("a" * 200), code=413)


async def test_a_kind_may_come_and_go_while_the_server_runs() -> None:
    bottle = Kind(group="y.io", version="v1", kind="Bottle", plural="bottles")
    path = "/apis/y.io/v1/namespaces/n/bottles"
    async with api_server() as api:
        await api.ask("GET", path, code=404)
        api.registry.add_kind(bottle)
        await api.ask("GET", path)
        assert "y.io" in json.dumps(await api.ask("GET", "/apis"))
        api.registry.remove_kind(bottle)
        await api.ask("GET", path, code=404)
        assert "y.io" not in json.dumps(await api.ask("GET", "/apis"))


async def test_further_paths_know_the_user() -> None:
    async def explain(request: Request) -> Response:
        user: User = request.scope["user"]
        return JSONResponse({"user": user.name})

    async with api_server(options=Options(routes={"/explain": explain})) as api:
        assert await api.ask("GET", "/explain?x=1") == {"user": "admin"}
        (asked,) = api.gate.asked
        assert (asked.path, asked.is_resource) == ("/explain", False)


async def test_an_endpoint_answers_its_verbs_alone() -> None:
    async def log(call: Call) -> Response:
        return json_answer({"of": call.target.name, "by": call.user.name})

    virtual = Virtual(
        group="x.io", version="v1", name="boxes/log", kind="Box", verbs=("get",), endpoint=log
    )
    async with api_server() as api:
        api.registry.add_virtual(virtual)
        assert await api.ask("GET", f"{BOXES}/a/log") == {"of": "a", "by": "admin"}
        await api.ask("POST", f"{BOXES}/a/log", {}, code=405)


async def test_an_authenticator_that_fails_refuses() -> None:
    class Broken:
        async def authenticate(self, _credentials: Credentials) -> User | None:
            raise StatusError(503, "ServiceUnavailable", "no answer", retry_after_seconds=1)

    async with api_server(authenticator=Broken()) as api:
        await api.ask("GET", BOXES, code=503)


async def test_a_client_that_goes_away_while_it_sends_leaves_nothing_behind() -> None:
    async with api_server(options=Options(limits=Limits(max_in_flight=1))) as api:
        port = int(api.url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST {BOXES} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{"
        writer.write(head.encode())
        await writer.drain()
        writer.close()
        async with asyncio.timeout(5):
            while (await api.client.get("/healthz")).status_code != 200:
                pass
