"""Makes pods of Deployments, for an API server that has no controllers: a ReplicaSet and its pods.

    with deployment_controller(server.admin):
        ...

One ReplicaSet a Deployment, named by its template; a changed template replaces the pods at once.
Status is kept as Kubernetes keeps it: replicas, readyReplicas, availableReplicas, conditions.
"""

import asyncio
import hashlib
import json
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakes.kubelet import in_thread
from gputide.clock import Clock, SystemClock, utc_from_unix
from gputide.kube.client import KubeClient
from gputide.kube.errors import KubeError, NotFoundError
from gputide.kube.mirror import Mirror
from gputide.kube.model import DEPLOYMENTS, PODS, REPLICA_SETS, JsonObject, ResourceType
from gputide.kube.settings import KubeSettings

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
RETRY_SECONDS = 0.3


class DeploymentController:
    """Works on local copies of three kinds."""

    def __init__(self, kubeconfig: Path) -> None:
        self._settings = KubeSettings(kubeconfig=str(kubeconfig))
        self._clock: Clock = SystemClock()

    async def run(self, has_started: threading.Event) -> None:
        """Work until cancelled."""
        async with KubeClient(self._settings) as client, asyncio.TaskGroup() as tasks:
            mirrors = [
                Mirror(client, kind, lambda obj: obj, self._clock)
                for kind in (DEPLOYMENTS, REPLICA_SETS, PODS)
            ]
            wake = asyncio.Event()
            for mirror in mirrors:
                mirror.on_change(lambda _: wake.set())
                tasks.create_task(mirror.run())
                await mirror.wait_synced()
            has_started.set()
            while True:
                wake.clear()
                for deployment in list(mirrors[0].objects.values()):
                    try:
                        await self._deployment(client, deployment, mirrors[1], mirrors[2])
                    except KubeError:
                        wake.set()  # somebody else was quicker: look again
                if wake.is_set():
                    await self._clock.sleep(0.05)
                    continue
                await wake.wait()

    async def _deployment(
        self,
        client: KubeClient,
        deployment: JsonObject,
        sets: Mirror[JsonObject],
        pods: Mirror[JsonObject],
    ) -> None:
        metadata, spec = deployment["metadata"], deployment["spec"]
        namespace, wanted = metadata["namespace"], spec["replicas"]
        if "deletionTimestamp" in metadata:
            return
        name = f"{metadata['name']}-{_digest(spec['template'])}"
        for one in _owned(sets.objects, deployment):
            if one["metadata"]["name"] != name:
                await client.delete(REPLICA_SETS, namespace, one["metadata"]["name"])
        replica_set = sets.objects.get((namespace, name))
        if replica_set is None:
            await client.create(REPLICA_SETS, namespace, _replica_set(deployment, name))
            return
        if replica_set["spec"]["replicas"] != wanted:
            await client.patch(REPLICA_SETS, namespace, name, {"spec": {"replicas": wanted}})
        mine = _owned(pods.objects, replica_set)
        for _ in range(wanted - len(mine)):
            await client.create(PODS, namespace, _pod(replica_set))
        for pod in sorted(mine, key=_is_ready)[: max(len(mine) - wanted, 0)]:
            await _delete(client, namespace, pod["metadata"]["name"])
        ready = sum(map(_is_ready, mine))
        counts = {"replicas": len(mine), "readyReplicas": ready, "availableReplicas": ready}
        await self._tell(client, REPLICA_SETS, replica_set, counts)
        more = {"updatedReplicas": len(mine), "conditions": self._conditions(deployment, ready)}
        await self._tell(client, DEPLOYMENTS, deployment, counts | more)

    async def _tell(
        self, client: KubeClient, kind: ResourceType, obj: JsonObject, status: JsonObject
    ) -> None:
        """Write the status where it is another."""
        metadata = obj["metadata"]
        full = {"observedGeneration": metadata.get("generation", 1)} | status
        held = obj.get("status") or {}
        if any(held.get(name) != value for name, value in full.items()):
            await client.patch(
                kind, metadata["namespace"], metadata["name"], {"status": full},
                subresource="status",
            )  # fmt: skip

    def _conditions(self, deployment: JsonObject, ready: int) -> list[JsonObject]:
        """Return the Available condition, with the time of its last change."""
        is_there = "True" if ready >= deployment["spec"]["replicas"] else "False"
        now = utc_from_unix(self._clock.now_seconds()).strftime("%Y-%m-%dT%H:%M:%SZ")
        for one in (deployment.get("status") or {}).get("conditions") or ():
            if one["status"] == is_there:
                now = one["lastTransitionTime"]
        available = {"type": "Available", "status": is_there, "reason": "MinimumReplicas"}
        return [available | {"lastTransitionTime": now}]


@contextmanager
def deployment_controller(kubeconfig: Path) -> Iterator[None]:
    """Run one in a thread while the block runs."""
    with in_thread(DeploymentController(kubeconfig).run):
        yield


async def _delete(client: KubeClient, namespace: str, name: str) -> None:
    try:
        await client.delete(PODS, namespace, name)
    except NotFoundError:
        return


def _owned(objects: Mapping[tuple[str, str], JsonObject], owner: JsonObject) -> list[JsonObject]:
    """Return the objects of an owner that are not being deleted."""
    uid = owner["metadata"]["uid"]
    return [
        one
        for one in list(objects.values())
        if any(each["uid"] == uid for each in one["metadata"].get("ownerReferences") or ())
        and "deletionTimestamp" not in one["metadata"]
    ]


def _replica_set(deployment: JsonObject, name: str) -> JsonObject:
    template = _labelled(deployment["spec"]["template"], name)
    labels = template["metadata"]["labels"]
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "labels": labels, "ownerReferences": _owner(deployment)},
        "spec": {
            "replicas": deployment["spec"]["replicas"],
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }


def _pod(replica_set: JsonObject) -> JsonObject:
    template, name = replica_set["spec"]["template"], replica_set["metadata"]["name"]
    suffix = "".join(random.choices(LETTERS, k=5))
    metadata = {"name": f"{name}-{suffix}", "ownerReferences": _owner(replica_set)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template["metadata"], **metadata},
        "spec": template["spec"],
    }


def _owner(obj: JsonObject) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "apps/v1",
            "kind": obj["kind"],
            "name": obj["metadata"]["name"],
            "uid": obj["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def _labelled(template: JsonObject, name: str) -> JsonObject:
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), "pod-template-hash": name.rpartition("-")[2]}
    return {"metadata": {"labels": labels}, "spec": template["spec"]}


def _digest(template: JsonObject) -> str:
    number = int(hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest(), 16)
    letters = []
    for _ in range(9):
        number, rest = divmod(number, len(LETTERS))
        letters.append(LETTERS[rest])
    return "".join(letters)


def _is_ready(pod: JsonObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
