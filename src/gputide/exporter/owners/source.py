"""The node's owners: asks the sources, each with its time limits, and puts the answers together.

A shell opens it before the loop runs, and closes it at the end:

    owners = open_owners(OwnerSettings(node_name="gpu-1"), clock)
    collector = Collector(reader, owners, clock, ...)
    ...
    await owners.close()
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.exporter.model import Device, Ownership
from gputide.exporter.owners.attribution import Evidence, attribute
from gputide.exporter.owners.model import HeldDevices, SeenProcesses
from gputide.exporter.owners.ports import Kubelet, NodePodDirectory, Processes
from gputide.exporter.owners.settings import OwnerSettings
from gputide.exporter.ports import PodRecord

Answer = TypeVar("Answer")
_Pods = Mapping[tuple[str, str], PodRecord]


@asynccontextmanager
async def node_owners(settings: OwnerSettings, clock: Clock) -> AsyncIterator["NodeOwners"]:
    """Let the owners be looked up while the block runs."""
    owners = open_owners(settings, clock)
    try:
        yield owners
    finally:
        await owners.close()


def open_owners(settings: OwnerSettings, clock: Clock) -> "NodeOwners":
    """Return a source of what the settings ask for, to be closed at the end.

    Nothing is opened or asked before the first look, so no loop need run yet.
    """
    from gputide.exporter.owners.cgroup import ProcFiles
    from gputide.exporter.owners.podresources import PodResources

    pods = None
    if settings.has_kube_api:
        # Memory that a node without Kubernetes need not spend.
        from gputide.exporter.owners.kube import NodePods

        pods = NodePods(settings, clock)
    return NodeOwners(
        settings,
        clock,
        kubelet=PodResources(settings) if settings.kubelet_socket else None,
        pods=pods,
        processes=ProcFiles(settings.proc_root) if settings.proc_root else None,
    )


class NodeOwners:
    """An OwnershipSource; a source that fails costs only what it alone would have told."""

    def __init__(
        self,
        settings: OwnerSettings,
        clock: Clock,
        *,
        kubelet: Kubelet | None = None,
        pods: NodePodDirectory | None = None,
        processes: Processes | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._processes = processes
        self._open = tuple(each for each in (kubelet, pods) if each is not None)
        self._held: Kept[tuple[HeldDevices, ...]] | None = None
        self._pods: Kept[_Pods] | None = None
        if kubelet is not None:
            self._held = Kept("kubelet", kubelet.held_devices, settings, clock)
        if pods is not None:
            self._pods = Kept("Kubernetes API", pods.pods, settings, clock)

    async def ownership(self, devices: Iterable[Device], pids: Iterable[int]) -> Ownership:
        """Return the owners of those devices and processes; raises nothing of ours."""
        asked = [kept.refresh() for kept in (self._held, self._pods) if kept is not None]
        await asyncio.gather(*asked)
        seen = SeenProcesses(cgroups={})
        if self._processes is not None and self._pods is not None:
            seen = self._processes.look(pids)
        kept = [each for each in (self._held, self._pods) if each is not None]
        times = [each.at_seconds for each in kept if each.at_seconds is not None]
        kubelet_problem = self._held.problem if self._held else self._unasked()
        evidence = Evidence(
            held=self._held.answer if self._held else None,
            pods=self._pods.answer if self._pods else None,
            cgroups=seen.cgroups,
            problems=(kubelet_problem,) if kubelet_problem else (),
            api_problem=self._pods.problem if self._pods else "",
            process_problem=seen.problem,
        )
        return attribute(
            evidence,
            tuple(devices),
            self._settings,
            at_seconds=min(times, default=self._clock.now_seconds()),
        )

    async def close(self) -> None:
        """Close the connections and end the watch."""
        for each in self._open:
            await each.close()

    def _unasked(self) -> str:
        if self._pods is None:
            return ""
        return "GPUs held whole are unknown: no kubelet socket is set"

    def ages_seconds(self) -> Mapping[str, float]:
        """Return how old each source's answer is; one without an answer is left out."""
        now = self._clock.now_seconds()
        named = {"kubelet": self._held, "pods": self._pods}
        times = {name: each.at_seconds for name, each in named.items() if each is not None}
        return {name: max(now - at, 0.0) for name, at in times.items() if at is not None}


class Kept(Generic[Answer]):
    """The newest answer of one source: asked anew when it is old, dropped when it is too old."""

    def __init__(
        self,
        name: str,
        ask: Callable[[], Awaitable[Answer]],
        settings: OwnerSettings,
        clock: Clock,
    ) -> None:
        self._name = name
        self._ask = ask
        self._settings = settings
        self._clock = clock
        self._asked_at: float | None = None
        self._answered_at: float | None = None
        self.answer: Answer | None = None
        self.at_seconds: float | None = None
        """Unix time of the answer, None where there is none."""

        self.problem = ""

    async def refresh(self) -> None:
        """Ask where the answer is older than its lifetime; a failure is not repeated before."""
        now = self._clock.monotonic_seconds()
        if self._asked_at is not None and now - self._asked_at < self._settings.ttl_seconds:
            return
        self._asked_at = now
        unix = self._clock.now_seconds()
        deadline = self._settings.deadline_seconds
        try:
            async with asyncio.timeout(deadline):
                answer = await self._ask()
        except TimeoutError:
            self._fail(f"{self._name}: no answer within {deadline:g} s")
        except GputideError as error:
            self._fail(str(error))
        else:
            self.answer, self.problem = answer, ""
            self.at_seconds, self._answered_at = unix, now

    def _fail(self, problem: str) -> None:
        self.problem = problem
        if self._answered_at is None:
            return
        age = self._clock.monotonic_seconds() - self._answered_at
        if age > self._settings.max_age_seconds:  # who may be gone must not keep its series
            self.answer, self.at_seconds, self._answered_at = None, None, None
