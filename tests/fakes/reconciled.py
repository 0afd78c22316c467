"""A small cluster on our own API server, and a controller whose rounds a test makes by hand.

    async with reconciled(tmp_path) as cluster:
        await cluster.deploy("web", replicas=4)
        await cluster.autoscale("web", scaleStrategy="auto")
        cluster.use("web", 1.89)               # GPUs busy in all, on the ready pods
        await cluster.round()                  # 15 s later: see, decide, scale, tell
        assert await cluster.replicas("web") == 10

Every write of a scale is held against the law of the autoscaler: never beyond the bounds, never
down while demand is not known. `cluster.fault` lets requests fail; `cluster.scaled` has what was
written.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from starlette.types import Scope

from fakes.autoscalers import FakeDemand, autoscaler_object
from fakes.plane_server import Fault, Plane, plane_server
from fakes.skewed_clock import SkewedClock, World
from gputide.autoscaler.cluster.caches import Caches
from gputide.autoscaler.cluster.scales import Scales
from gputide.autoscaler.cluster.wire import declared_from, pod_from, scaler_from, workload_from
from gputide.autoscaler.cluster.writer import Writer
from gputide.autoscaler.control import Control, Round
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import DemandState
from gputide.kube.client import KubeClient
from gputide.kube.errors import NotFoundError
from gputide.kube.mirror import Mirror
from gputide.kube.model import (
    AUTOSCALERS,
    DEPLOYMENTS,
    EVENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    PODS,
    JsonObject,
    ObjectList,
    ResourceType,
    name_of,
)

DEFINITION = Path(__file__).parents[2] / "deploy/manifests/crd-ahpa.yaml"
PERIOD_SECONDS = 15.0
PATIENCE_SECONDS = 20
AHPAS = AUTOSCALERS.plural


@dataclass
class Controlled:
    """One controller: its caches follow the server, its rounds are made by hand."""

    control: Control
    engine: AutoscalerEngine
    following: asyncio.Task[None]

    async def stop(self) -> None:
        """End it as a killed process ends: nothing is said to anybody."""
        self.following.cancel()
        with suppress(asyncio.CancelledError):
            await self.following


@dataclass
class Cluster:
    """The server, what runs on it, and the controllers that look at it."""

    plane: Plane
    admin: KubeClient
    world: World
    clock: SkewedClock
    stack: AsyncExitStack
    silence: World = field(default_factory=World)
    """Time by which the controllers' copies age; a server sends bookmarks by true time alone."""

    demand: FakeDemand = field(default_factory=FakeDemand)
    controllers: list[Controlled] = field(default_factory=list)
    scaled: list[str] = field(default_factory=list)
    """Names of the Deployments whose scale was written in the newest round."""

    told: list[str] = field(default_factory=list)
    """Names of the autoscalers whose status was written."""

    fault: Callable[[Scope], Fault | None] = lambda _scope: None
    busy: dict[str, float] = field(default_factory=dict)

    @property
    def one(self) -> Controlled:
        """The newest controller."""
        return self.controllers[-1]

    async def deploy(self, name: str, *, replicas: int) -> None:
        """Create a Deployment with ready pods."""
        await self.admin.create(DEPLOYMENTS, "default", deployment(name, replicas))
        await self.settle(name)

    async def autoscale(self, name: str, **spec: object) -> None:
        """Create an autoscaler for a Deployment of its name."""
        obj = autoscaler_object(name, **spec)
        obj["metadata"] = {"name": name, "namespace": "default"}
        await self.admin.create(AUTOSCALERS, "default", obj)

    async def settle(self, name: str, *, ready: int | None = None) -> None:
        """Have as many pods as the Deployment asks for; the first `ready` of them are ready."""
        owner = await self.admin.get(DEPLOYMENTS, "default", name)
        wanted = owner["spec"]["replicas"]
        label = f"app={name}"
        listed = await self.admin.list(PODS, "default", label_selector=label, decode=dict)
        present = {pod["metadata"]["name"] for pod in listed.items}
        names = [f"{name}-{n}" for n in range(wanted)]
        for pod in present - set(names):
            await self.admin.delete(PODS, "default", pod)
        for n, pod in enumerate(names):
            if pod not in present:
                made = pod_of(pod, name, owner["metadata"]["uid"])
                await self.admin.create(PODS, "default", made)
            is_ready = ready is None or n < ready
            condition = {"type": "Ready", "status": "True" if is_ready else "False"}
            status = {"status": {"phase": "Running", "conditions": [condition]}}
            await self.admin.patch(PODS, "default", pod, status, subresource="status")
        self._spread(name, wanted if ready is None else ready)

    def use(self, name: str, total: float) -> None:
        """Say how many GPUs the workload's pods keep busy in all."""
        self.busy[name] = total

    def _spread(self, name: str, count: int) -> None:
        mine = [pod for pod in self.demand.pods if pod.rpartition("-")[0] == name]
        for pod in mine:
            del self.demand.pods[pod]
        total = self.busy.get(name, 0.0)
        self.demand.pods.update({f"{name}-{n}": total / count for n in range(count)})

    async def replicas(self, name: str) -> int:
        """Return what the Deployment's spec asks for."""
        found = await self.admin.get(DEPLOYMENTS, "default", name)
        return int(found["spec"]["replicas"])

    async def status(self, name: str) -> JsonObject:
        """Return the autoscaler's status on the server."""
        found = await self.admin.get(AUTOSCALERS, "default", name)
        return dict(found.get("status") or {})

    async def condition(self, name: str, kind: str) -> tuple[str, str, str]:
        """Return status, reason and message of a condition; empty where it is not there."""
        for one in (await self.status(name)).get("conditions") or ():
            if one["type"] == kind:
                return one["status"], one["reason"], one["message"]
        return "", "", ""

    async def events(self, name: str) -> list[JsonObject]:
        """Return the autoscaler's events, oldest first."""
        listed = await self.admin.list(EVENTS, "default", decode=dict)
        return [one for one in listed.items if one["involvedObject"]["name"] == name]

    async def reasons(self, name: str) -> list[str]:
        """Return the reasons of its events."""
        return [one["reason"] for one in await self.events(name)]

    async def round(
        self, controlled: Controlled | None = None, *, seconds: float = PERIOD_SECONDS
    ) -> Round:
        """Let time pass and make one round on what the server shows now; check what it wrote."""
        one = controlled or self.one
        self.world.seconds += seconds
        await self.catch_up(one)
        before = await self._all_replicas()
        self.scaled.clear()
        made = await one.control.once()
        await self._check(before)
        return made

    async def _check(self, before: dict[str, int]) -> None:
        after = await self._all_replicas()
        for name in self.scaled:
            found = await self.admin.get(AUTOSCALERS, "default", name)
            spec = found["spec"]
            assert spec["minReplicas"] <= after[name] <= spec["maxReplicas"], after
            assert spec["scaleStrategy"] != "observer"
            if after[name] < before[name]:
                assert self.demand.state is DemandState.FRESH, "scaled in on unknown demand"
                known = sum(pod.rpartition("-")[0] == name for pod in self.demand.pods)
                assert known >= before[name], "scaled in on half of the pods"

    async def _all_replicas(self) -> dict[str, int]:
        listed: ObjectList[JsonObject] = await self.admin.list(DEPLOYMENTS, "default", decode=dict)
        return {one["metadata"]["name"]: one["spec"]["replicas"] for one in listed.items}

    async def catch_up(self, controlled: Controlled | None = None) -> None:
        """Wait until the controller's copies show what the server has."""
        caches = (controlled or self.one).control.caches
        async with asyncio.timeout(PATIENCE_SECONDS):
            for kind, copy, decode in (
                (AUTOSCALERS, caches.declared, partial(declared_from, default_time_zone="UTC")),
                (DEPLOYMENTS, caches.workloads["Deployment"], workload_from),
                (PODS, caches.pods, pod_from),
                (HORIZONTAL_POD_AUTOSCALERS, caches.scalers, scaler_from),
            ):
                await self._catch_up(kind, copy, decode)

    async def _catch_up(
        self, kind: ResourceType, copy: Mirror[Any], decode: Callable[[JsonObject], object]
    ) -> None:
        while True:
            wanted = {}
            with suppress(NotFoundError):
                listed: ObjectList[JsonObject] = await self.admin.list(kind, decode=dict)
                wanted = {name_of(one): decode(one) for one in listed.items}
            if copy.objects == {key: one for key, one in wanted.items() if one is not None}:
                return
            await copy.wait_changed()

    async def start(self, stack: AsyncExitStack, **more: Any) -> Controlled:  # noqa: ANN401
        """Start a further controller, which knows nothing of those before."""
        client = await stack.enter_async_context(KubeClient(self.plane.settings, clock=self.clock))
        engine = AutoscalerEngine(self.demand, **more)
        control = Control(
            caches=Caches(client, SkewedClock(self.silence), default_time_zone="UTC"),
            scales=Scales(client, self.clock),
            engine=engine,
            writer=Writer(client, self.clock),
            clock=self.clock,
        )
        made = Controlled(control, engine, asyncio.create_task(control.caches.run()))
        stack.push_async_callback(made.stop)
        self.controllers.append(made)
        return made

    def note(self, scope: Scope) -> Fault | None:
        """Take note of a request, and let it fail where the test wants it to."""
        parts = scope["path"].split("/")
        found = self.fault(scope)
        is_done = found is None or found.is_done
        if is_done and scope["method"] == "PUT" and parts[-1] == "scale":
            self.scaled.append(parts[-2])
        if is_done and scope["method"] == "PATCH" and parts[-1] == "status" and AHPAS in parts:
            self.told.append(parts[-2])
        return found


@asynccontextmanager
async def reconciled(folder: Path, *, has_definition: bool = True) -> AsyncIterator[Cluster]:
    """Serve, with one controller."""
    definitions = [yaml.safe_load(DEFINITION.read_text())] if has_definition else []
    async with AsyncExitStack() as stack:
        serving = plane_server(folder, namespaces=(), definitions=definitions)
        plane = await stack.enter_async_context(serving)
        admin = await stack.enter_async_context(KubeClient(plane.settings))
        world = World()
        made = Cluster(plane, admin, world, SkewedClock(world), stack)
        plane.fault = made.note
        first = await made.start(stack)
        if has_definition:
            await first.control.caches.wait_synced()
        yield made


def deployment(name: str, replicas: int) -> JsonObject:
    """Return a Deployment whose pods ask for a GPU each."""
    labels = {"app": name}
    container = {"name": "main", "image": "demo"}
    container["resources"] = {"limits": {"nvidia.com/gpu": "1"}}  # type: ignore[assignment]
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def pod_of(name: str, app: str, owner_uid: str) -> JsonObject:
    """Return a pod that an owner made."""
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": app, "uid": owner_uid}
    return {
        "metadata": {
            "name": name,
            "labels": {"app": app},
            "ownerReferences": [owner | {"controller": True}],
        },
        "spec": {"containers": [{"name": "main", "image": "demo"}]},
    }
