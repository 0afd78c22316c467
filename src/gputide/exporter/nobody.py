"""Owners of GPUs where nobody is to be asked."""

from collections.abc import Iterable

from gputide.clock import Clock
from gputide.exporter.model import AllocateMode, Device, Ownership


class Nobody:
    """An OwnershipSource for a machine without Kubernetes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def ownership(self, devices: Iterable[Device], pids: Iterable[int]) -> Ownership:  # noqa: ARG002 the port's
        """Return that no container holds anything."""
        at_seconds = self._clock.now_seconds()
        return Ownership(at_seconds=at_seconds, mode=AllocateMode.NONE, allocations=())
