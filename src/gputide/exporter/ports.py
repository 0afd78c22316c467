"""What the exporter's shell needs from outside."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from gputide.errors import GputideError
from gputide.exporter.model import Container, Device, Ownership, Reading


class DriverError(GputideError):
    """The driver as a whole cannot be used: absent, mismatched, not permitted."""


class DeviceError(GputideError):
    """One GPU answers with an error; the others are not concerned."""


class DeviceLostError(DeviceError):
    """The GPU is off the bus."""


class DeviceReader(Protocol):
    """The node's GPUs. Calls block and may hang, so each device has a thread for `read`."""

    def devices(self) -> tuple[Device, ...]:
        """Enumerate; raise DriverError where there is no driver. No GPU is an empty tuple."""

    def read(self, device: Device) -> Reading:
        """Read everything of one GPU; raise DeviceLostError or DeviceError."""

    def next_xid(self, *, timeout_seconds: float) -> tuple[str, int] | None:
        """Wait for an XID event; return (uuid, code), or None at the time-out."""

    def close(self) -> None:
        """Let go of the driver."""


class OwnershipSource(Protocol):
    """Who holds which GPU. A missing source raises nothing; `Ownership.problems` names it."""

    async def ownership(self, devices: Iterable[Device], pids: Iterable[int]) -> Ownership:
        """Return the present owners of those devices and processes."""


class PodDirectory(Protocol):
    """Annotations and labels of this node's pods, by (namespace, name)."""

    async def pods(self) -> Mapping[tuple[str, str], "PodRecord"]:
        """Return the pods on this node now; raise GputideError where they cannot be had."""


class PodRecord(Protocol):
    """What the exporter needs of a pod."""

    @property
    def owner(self) -> Container:
        """Namespace, name, uid and labels; `container` empty."""

    @property
    def annotations(self) -> Mapping[str, str]:
        """Annotations as they are."""

    @property
    def container_names(self) -> tuple[str, ...]:
        """In the order of the pod's spec; sharing annotations count by it."""

    @property
    def container_ids(self) -> Mapping[str, str]:
        """Container names by the runtime's id, without its `containerd://`."""

    @property
    def gpu_memory_units(self) -> Mapping[str, int]:
        """Limit of `aliyun.com/gpu-mem` by container; containers without it are left out."""

    @property
    def is_over(self) -> bool:
        """Whether it has succeeded or failed, and so runs nothing."""

    @property
    def is_deleting(self) -> bool:
        """Whether it has been told to end; it may still run."""
