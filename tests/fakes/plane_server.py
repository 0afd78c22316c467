"""Our own API server with Kubernetes' kinds, in this process, over plain HTTP; it can fail.

    async with plane_server(tmp_path, definitions=[DEFINITION]) as plane:
        async with KubeClient(plane.settings) as client: ...
        plane.fault = lambda scope: Fault(code=503)            # instead of an answer
        plane.fault = lambda scope: Fault(code=504, is_done=True)     # done, and the answer lost

Everybody may do everything. Nothing works behind it but what takes up definitions.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fakes.api_servers import Gate
from gputide.clock import Clock, SystemClock
from gputide.kube.client import KubeClient
from gputide.kube.model import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES
from gputide.kube.settings import KubeSettings
from gputide.kubeapi import cel
from gputide.kubeapi.control import ControlPlane, Parts
from gputide.kubeapi.selectors import select
from gputide.kubeapi.serve import listening, serve
from gputide.kubeapi.server import ApiServer
from gputide.kubeapi.storage import SqliteStorage


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with one request."""

    code: int = 503
    is_done: bool = False
    """Whether the server did what was asked before the answer was lost."""


@dataclass
class Plane:
    """A server that runs."""

    url: str
    settings: KubeSettings
    fault: Callable[[Scope], Fault | None] = lambda _scope: None
    """Asked for each request, before it is handled."""

    after: Callable[[Scope], None] = lambda _scope: None
    """Called when a request was handled."""


@asynccontextmanager
async def plane_server(
    folder: Path,
    *,
    clock: Clock | None = None,
    namespaces: Sequence[str] = ("gputide-system",),
    definitions: Sequence[dict[str, Any]] = (),
) -> AsyncIterator[Plane]:
    """Serve while the block runs; `plane.settings` lead to it by a kubeconfig in the folder."""
    clock, gate = clock or SystemClock(), Gate()
    listener, stop = listening("127.0.0.1", 0), asyncio.Event()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    running = Plane(url, KubeSettings(kubeconfig=str(_kubeconfig(folder, url))))
    async with SqliteStorage.open(":memory:", clock, select=select) as storage:
        parts = Parts(cel=cel.installed())
        plane = ControlPlane(storage, clock, authenticator=gate, authorizer=gate, parts=parts)
        await plane.prepare()
        app = ApiServer(
            plane.registry, authenticator=gate, authorizer=gate, storage=storage, clock=clock
        )
        serving = asyncio.create_task(serve(_faulty(app, running), listener, stop=stop))
        behind = asyncio.create_task(plane.run())
        try:
            await _prepare(running.settings, namespaces, definitions)
            yield running
        finally:
            stop.set()
            await asyncio.wait_for(serving, 20)
            behind.cancel()
            with suppress(asyncio.CancelledError):
                await behind


async def _prepare(
    settings: KubeSettings, namespaces: Sequence[str], definitions: Sequence[dict[str, Any]]
) -> None:
    async with KubeClient(settings) as client:
        for name in namespaces:
            await client.create(NAMESPACES, "", {"metadata": {"name": name}})
        for definition in definitions:
            await client.create(CUSTOM_RESOURCE_DEFINITIONS, "", definition)


def _faulty(app: ASGIApp, running: Plane) -> ASGIApp:
    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        fault = running.fault(scope) if scope["type"] == "http" else None
        if fault is None:
            await app(scope, receive, send)
        else:
            if fault.is_done:
                await app(scope, receive, _into_nothing)
            await _answer(send, fault.code)
        running.after(scope)

    return handle


async def _into_nothing(_message: Message) -> None:
    """Lose an answer."""


async def _answer(send: Send, code: int) -> None:
    body = json.dumps({"kind": "Status", "code": code, "message": "a fault"}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _kubeconfig(folder: Path, url: str) -> Path:
    path = folder / "kubeconfig"
    content = {
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {"token": "token-of-the-test"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    path.write_text(json.dumps(content))
    return path
