"""What the source of owners needs beside the pods: the kubelet's word, and the processes'."""

from collections.abc import Iterable
from typing import Protocol

from gputide.errors import GputideError
from gputide.exporter.owners.model import HeldDevices, SeenProcesses
from gputide.exporter.ports import PodDirectory


class OwnerSourceError(GputideError):
    """A source of owners cannot be asked: `source` names it, `problem` says what mends it."""

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(f"{source}: {problem}")
        self.source = source
        self.problem = problem


class Kubelet(Protocol):
    """The kubelet's list of the devices that it gave away."""

    async def held_devices(self) -> tuple[HeldDevices, ...]:
        """Return what every container holds now; raise OwnerSourceError."""

    async def close(self) -> None:
        """Close the connection."""


class NodePodDirectory(PodDirectory, Protocol):
    """The node's pods, kept up to date until closed."""

    async def close(self) -> None:
        """End keeping them up to date."""


class Processes(Protocol):
    """The control groups of processes."""

    def look(self, pids: Iterable[int]) -> SeenProcesses:
        """Return what can be seen of those processes; one that is gone is left out."""
