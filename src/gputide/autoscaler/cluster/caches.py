"""Local copies of what the controller reads, each kept up by a watch."""

import asyncio
from collections.abc import Iterator
from functools import partial

from gputide.autoscaler.cluster.wire import (
    Declared,
    OtherScaler,
    SeenPod,
    Workload,
    declared_from,
    pod_from,
    scaler_from,
    workload_from,
)
from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.mirror import Mirror, MirrorState
from gputide.kube.model import (
    AUTOSCALERS,
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)

STALE_SECONDS = 120.0
"""A server sends a bookmark a minute at least; two missed ones, and the copy is too old to act."""


class Caches:
    """Autoscalers, workloads, pods and HPAs of the cluster, or of one namespace."""

    def __init__(
        self, client: KubeClient, clock: Clock, *, namespace: str = "", default_time_zone: str
    ) -> None:
        declare = partial(declared_from, default_time_zone=default_time_zone)
        self.declared: Mirror[Declared] = Mirror(
            client, AUTOSCALERS, declare, clock, namespace=namespace
        )
        self.workloads: dict[str, Mirror[Workload]] = {
            kind.kind: Mirror(client, kind, workload_from, clock, namespace=namespace)
            for kind in (DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS)
        }
        self.pods: Mirror[SeenPod] = Mirror(client, PODS, pod_from, clock, namespace=namespace)
        self.scalers: Mirror[OtherScaler] = Mirror(
            client, HORIZONTAL_POD_AUTOSCALERS, scaler_from, clock, namespace=namespace
        )

    def _all(self) -> Iterator[Mirror[object]]:
        yield self.declared  # type: ignore[misc]  # only their state is looked at
        yield from self.workloads.values()  # type: ignore[misc]
        yield self.pods  # type: ignore[misc]
        yield self.scalers  # type: ignore[misc]

    async def run(self) -> None:
        """Keep up until cancelled."""
        async with asyncio.TaskGroup() as group:
            for mirror in self._all():
                group.create_task(mirror.run())

    async def wait_synced(self) -> None:
        """Wait until everything was listed once."""
        await asyncio.gather(*(mirror.wait_synced() for mirror in self._all()))

    @property
    def is_synced(self) -> bool:
        """Whether everything was listed once."""
        return all(mirror.is_synced for mirror in self._all())

    def problem(self) -> str:
        """Return why the copies are too old to act on; empty when they are not."""
        for mirror in self._all():
            if not mirror.is_synced:
                return mirror.problem or f"{mirror.resource} were not listed yet"
            if mirror.state is MirrorState.FORBIDDEN:
                return mirror.problem
            if mirror.state is MirrorState.MISSING and mirror is self.pods:
                # every API server has pods: a wrong backend answers, and none is not what there is
                return mirror.problem or "this server has no pods: is it Kubernetes?"
            age = mirror.age_seconds()
            if age is None or age > STALE_SECONDS:
                # without the age, which would be another text each time
                said = f"{mirror.resource}: nothing heard for more than {STALE_SECONDS:.0f} s"
                return mirror.problem or said
        return ""
