"""Nodes without machines: binds pods and says that they run, against any API server.

    with kubelet(server.admin, nodes=2, start_seconds=0.3) as rig:
        ...                                # pods become ready 0.3 s after they were bound
        rig.is_ready = lambda pod: False   # those that come from now on run and stay unready
        rig.ready_pods(app="web")

Each node has 8 GPUs; nothing is ever full. Pods that are deleted go at once.
"""

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path

from gputide.clock import Clock, SystemClock, utc_from_unix
from gputide.kube.client import KubeClient
from gputide.kube.errors import ConflictError, KubeError, NotFoundError
from gputide.kube.mirror import Mirror
from gputide.kube.model import NODES, PODS, JsonObject, ResourceType
from gputide.kube.settings import KubeSettings

RETRY_SECONDS = 0.5
Run = Callable[[threading.Event], Coroutine[None, None, None]]
BINDINGS = ResourceType(version="v1", plural="bindings", kind="Binding")


class Kubelet:
    """Works in a thread of its own; counts what it knows."""

    def __init__(self, kubeconfig: Path, *, nodes: int, start_seconds: float) -> None:
        self.is_ready: Callable[[JsonObject], bool] = lambda _: True
        self.start_seconds = start_seconds
        self.pods: dict[tuple[str, str], JsonObject] = {}
        self._settings = KubeSettings(kubeconfig=str(kubeconfig))
        self._nodes = [f"gpu-node-{number}" for number in range(nodes)]
        self._turn = itertools.cycle(self._nodes)
        self._addresses = itertools.count(1)
        self._clock: Clock = SystemClock()
        self._busy: set[tuple[str, str]] = set()

    def ready_pods(self, **labels: str) -> list[str]:
        """Return the names of ready pods that have those labels."""
        return sorted(
            pod["metadata"]["name"]
            for pod in list(self.pods.values())
            if labels.items() <= (pod["metadata"].get("labels") or {}).items()
            and "deletionTimestamp" not in pod["metadata"]
            and _is_ready(pod)
        )

    async def run(self, has_started: threading.Event) -> None:
        """Work until cancelled."""
        async with KubeClient(self._settings) as client, asyncio.TaskGroup() as tasks:
            for name in self._nodes:
                await self._register(client, name)
            mirror = Mirror(client, PODS, lambda pod: pod, self._clock)

            def changed(key: tuple[str, str]) -> None:
                self.pods = dict(mirror.objects)
                if key in mirror.objects and key not in self._busy:
                    self._busy.add(key)
                    tasks.create_task(self._look_after(client, mirror, key))

            mirror.on_change(changed)
            tasks.create_task(mirror.run())
            await mirror.wait_synced()
            has_started.set()

    async def _register(self, client: KubeClient, name: str) -> None:
        gpus = {"nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi", "pods": "500"}
        now = utc_from_unix(self._clock.now_seconds()).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
        times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
        status = {"capacity": gpus, "allocatable": gpus, "conditions": [ready | times]}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        try:
            await client.create(NODES, "", node)
        except ConflictError:
            return
        await client.patch(NODES, "", name, {"status": status}, subresource="status")

    async def _look_after(
        self, client: KubeClient, mirror: Mirror[JsonObject], key: tuple[str, str]
    ) -> None:
        """Bring one pod where it should be, step by step."""
        try:
            while (pod := mirror.objects.get(key)) is not None:
                try:
                    if not await self._step(client, pod):
                        return
                except NotFoundError:
                    return
                except KubeError:
                    await self._clock.sleep(RETRY_SECONDS)
                await self._clock.sleep(0.02)
        finally:
            self._busy.discard(key)

    async def _step(self, client: KubeClient, pod: JsonObject) -> bool:
        """Do what a pod needs next; False: nothing, until it changes."""
        metadata, spec = pod["metadata"], pod["spec"]
        namespace, name = metadata["namespace"], metadata["name"]
        if "deletionTimestamp" in metadata:
            now = {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}}
            await client._ask("DELETE", PODS.path(namespace, name), body=now)
            return False
        if "nodeName" not in spec:
            await self._bind(client, namespace, name)
            return True
        if (pod.get("status") or {}).get("phase") == "Running":
            return False
        await self._clock.sleep(self.start_seconds)
        status = self._running(pod)
        await client.patch(PODS, namespace, name, {"status": status}, subresource="status")
        return True

    async def _bind(self, client: KubeClient, namespace: str, name: str) -> None:
        node = next(self._turn)
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}}
        try:
            await client.create(BINDINGS, namespace, binding | {"target": target})
        except NotFoundError:  # no such resource: a server that has no schedulers to serve
            await client.patch(PODS, namespace, name, {"spec": {"nodeName": node}})

    def _running(self, pod: JsonObject) -> JsonObject:
        now = utc_from_unix(self._clock.now_seconds()).strftime("%Y-%m-%dT%H:%M:%SZ")
        is_ready = self.is_ready(pod)
        number = next(self._addresses)
        address = f"10.99.{number // 250}.{number % 250 + 1}"
        word = "True" if is_ready else "False"
        return {
            "phase": "Running",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "hostIP": "127.0.0.1",
            "startTime": now,
            "conditions": [
                {"type": kind, "status": word, "lastTransitionTime": now}
                for kind in ("Ready", "ContainersReady")
            ],
            "containerStatuses": [
                {
                    "name": container["name"],
                    "image": container.get("image", ""),
                    "imageID": "",
                    "ready": is_ready,
                    "started": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": now}},
                }
                for container in pod["spec"]["containers"]
            ],
        }


@contextmanager
def kubelet(kubeconfig: Path, *, nodes: int = 2, start_seconds: float = 0.3) -> Iterator[Kubelet]:
    """Run one in a thread while the block runs."""
    rig = Kubelet(kubeconfig, nodes=nodes, start_seconds=start_seconds)
    with in_thread(rig.run):
        yield rig


class _Thread(threading.Thread):
    """A coroutine in a thread and a loop of its own."""

    def __init__(self, run: Run) -> None:
        super().__init__(daemon=True)
        self.has_started = threading.Event()
        self.failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(run(self.has_started))

    def run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001  told to whoever waits
            self.failure = error
        finally:
            self.has_started.set()
            self._loop.close()

    def end(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self.join(30)


@contextmanager
def in_thread(run: Run) -> Iterator[None]:
    """Run a coroutine beside the block, from its own word that it has begun."""
    thread = _Thread(run)
    thread.start()
    try:
        assert thread.has_started.wait(60), "it did not begin"
        if thread.failure is None:
            yield
    finally:
        thread.end()
    if thread.failure is not None:
        raise thread.failure


def _is_ready(pod: JsonObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
