"""An API server on loopback with one kind (Box), one computed group, and a storage in memory.

async with api_server() as api:
    await api.put_box("a")
    response = await api.client.get("/apis/x.io/v1/namespaces/default/boxes/a")
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from fakes.clock import FakeClock
from gputide.clock import Clock
from gputide.kubeapi.errors import not_found
from gputide.kubeapi.model import (
    Attributes,
    Column,
    ComputedResource,
    Credentials,
    JsonObject,
    Kind,
    ReadRequest,
    Ruling,
    ScalePaths,
    Scope,
    User,
)
from gputide.kubeapi.ports import Authenticator, Authorizer
from gputide.kubeapi.registry import Registry
from gputide.kubeapi.selectors import select
from gputide.kubeapi.serve import Serving, listening, serve
from gputide.kubeapi.server import ApiServer, Options
from gputide.kubeapi.storage import SqliteStorage

ADMIN = User(name="admin", groups=("system:masters", "system:authenticated"))
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
MERGE = {"content-type": "application/merge-patch+json"}
APPLY = {"content-type": "application/apply-patch+yaml"}
BOXES = "/apis/x.io/v1/namespaces/default/boxes"

BOX = Kind(
    group="x.io",
    version="v1",
    kind="Box",
    plural="boxes",
    singular="box",
    short_names=("bx",),
    categories=("all",),
    has_status=True,
    has_strategic_merge=False,
    scale=ScalePaths(),
    schema={
        "type": "object",
        "description": "A box.",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "description": "What it should be.",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "description": "How big."},
                    "replicas": {"type": "integer", "minimum": 0},
                    "mode": {
                        "type": "string",
                        "enum": ["a", "b"],
                        "default": "a",
                        "description": "Which way up.",
                    },
                },
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    },
    columns=(
        Column(name="Name", read=lambda obj: obj["metadata"]["name"], format="name"),
        Column(name="Size", read=lambda obj: obj["spec"]["size"], type="integer"),
        Column(name="Mode", read=lambda obj: obj["spec"].get("mode"), priority=1),
        Column(name="Age", read=lambda obj: obj["metadata"]["creationTimestamp"], type="date"),
    ),
)
ZONE = Kind(group="x.io", version="v1", kind="Zone", plural="zones", scope=Scope.CLUSTER)


def box(name: str = "a", **spec: Any) -> JsonObject:  # noqa: ANN401 any JSON value
    """Return a box as a client sends it."""
    return {
        "apiVersion": "x.io/v1",
        "kind": "Box",
        "metadata": {"name": name},
        "spec": {"size": 1} | spec,
    }


@dataclass
class Loads:
    """A computed group: the load of whatever is asked for, except `absent`."""

    group: str = "load.x.io"
    version: str = "v1"
    listed: tuple[ComputedResource, ...] = (
        ComputedResource(name="loads", kind="Load", verbs=("get", "list")),
        ComputedResource(name="pods/load", kind="Load"),
    )
    asked: list[ReadRequest] = field(default_factory=list)

    def resources(self) -> Sequence[ComputedResource]:
        """Return what is listed."""
        return self.listed

    async def read(self, request: ReadRequest) -> JsonObject:
        """Answer, and remember what was asked."""
        self.asked.append(request)
        if request.name == "absent":
            raise not_found("loads.load.x.io", request.name)
        if request.name == "broken":
            raise ZeroDivisionError
        if request.name == "slow":
            await asyncio.Event().wait()
        one = {"metadata": {"name": request.name or "one"}, "value": "63500m"}
        head = {"apiVersion": "load.x.io/v1"}
        if request.verb == "list":
            return head | {"kind": "LoadList", "metadata": {}, "items": [one]}
        return head | {"kind": "Load"} | one


@dataclass
class Gate:
    """Authenticates everybody as `user` and allows all that is not in `denied_verbs`."""

    user: User | None = ADMIN
    denied_verbs: frozenset[str] = frozenset()
    seen: list[Credentials] = field(default_factory=list)
    asked: list[Attributes] = field(default_factory=list)

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the user."""
        self.seen.append(credentials)
        return self.user

    async def authorize(self, attributes: Attributes) -> Ruling:
        """Return the ruling."""
        self.asked.append(attributes)
        is_allowed = attributes.verb not in self.denied_verbs
        return Ruling(is_allowed=is_allowed, reason="" if is_allowed else "the gate is shut")


@dataclass
class Api:
    """A server that runs."""

    url: str
    client: httpx2.AsyncClient
    registry: Registry
    storage: SqliteStorage
    loads: Loads
    gate: Gate
    clock: Clock
    stop: asyncio.Event

    async def put_box(self, name: str = "a", **spec: Any) -> JsonObject:  # noqa: ANN401
        """Create a box through the API."""
        return await self.ask("POST", BOXES, box(name, **spec), code=201)

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401 any JSON value
        *,
        code: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> JsonObject:
        """Send a request, check the code, and return the body."""
        content = None if body is None else json.dumps(body)
        sent = {"content-type": "application/json"} | dict(headers or {})
        answer = await self.client.request(method, path, content=content, headers=sent)
        assert answer.status_code == code, answer.text
        found: JsonObject = answer.json()
        return found


@asynccontextmanager
async def api_server(
    *,
    gate: Gate | None = None,
    authenticator: Authenticator | None = None,
    authorizer: Authorizer | None = None,
    options: Options | None = None,
    serving: Serving | None = None,
    clock: Clock | None = None,
    verify: ssl.SSLContext | bool = True,
) -> AsyncIterator[Api]:
    """Serve while the block runs."""
    clock, gate, loads = clock or FakeClock(), gate or Gate(), Loads()
    storage = SqliteStorage.open(":memory:", clock, select=select)
    registry = Registry(kinds=[BOX, ZONE], computed=[loads])
    app = ApiServer(
        registry,
        authenticator=authenticator or gate,
        authorizer=authorizer or gate,
        storage=storage,
        clock=clock,
        options=options,
    )
    listener, stop = listening("127.0.0.1", 0), asyncio.Event()
    scheme = "https" if serving and serving.tls else "http"
    url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
    task = asyncio.create_task(serve(app, listener, stop=stop, serving=serving))
    client = httpx2.AsyncClient(base_url=url, verify=verify, trust_env=False, timeout=20)
    try:
        async with client:
            yield Api(url, client, registry, storage, loads, gate, clock, stop)
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)
        await storage.close()
