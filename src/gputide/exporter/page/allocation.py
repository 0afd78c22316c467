"""Who holds what, in numbers: owners of a device, memory given away, processes without a right.

Pure. `DCGM_CUSTOM_*` are printed from here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gputide.exporter.model import (
    Allocation,
    Container,
    Device,
    Ownership,
    ProcessReading,
)

DeviceKey = tuple[str, int | None]
"""UUID of the GPU, and the GPU instance where it is one."""

_ContainerKey = tuple[str, str, str]


class Mode(StrEnum):
    """`AllocateMode` of a container or a process."""

    NONE = "none"
    EXCLUSIVE = "exclusive"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one container holds of one GPU or instance, all its allocations together."""

    owner: Container
    key: DeviceKey
    mode: Mode
    memory_bytes: int | None
    """None where nobody says."""

    compute_ratio: float | None
    """0 is no limit; None where nobody says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocations:
    """Allocations of the node, looked up by device."""

    shares: Mapping[DeviceKey, tuple[Share, ...]]
    process_owners: Mapping[int, Container]
    is_complete: bool
    """Whether every source of owners answered, so that no allocation can be missing."""

    def sole_owner(self, key: DeviceKey) -> Container | None:
        """Return the one container that holds the device; None where none does, or several."""
        shares = self.shares.get(key, ())
        return shares[0].owner if len(shares) == 1 else None

    def claim(self, key: DeviceKey, process: ProcessReading) -> "Claim":
        """Return by which right a process uses the device.

        A container's process on a device that it was not given is illegal (a container with
        NVIDIA_VISIBLE_DEVICES=all, say). What we cannot see is not illegal: a process of unknown
        owner, or a node whose owners could not all be asked.
        """
        owner = self.process_owners.get(process.pid)
        if owner is None:
            return Claim(None, Mode.NONE, is_illegal=False)
        for share in (*self.shares.get(key, ()), *self.shares.get((key[0], None), ())):
            if _is_same(owner, share.owner):
                return Claim(share.owner, share.mode, is_illegal=False)
        return Claim(owner, Mode.NONE, is_illegal=self.is_complete)


@dataclass(frozen=True, slots=True)
class Claim:
    """A process' container, how it got the device, and whether it got it at all."""

    owner: Container | None
    mode: Mode
    is_illegal: bool


def allocations_of(ownership: Ownership, devices: Iterable[Device]) -> Allocations:
    """Return the node's allocations by device; a container's several ones are summed."""
    capacity = {key: size for device in devices for key, size in _capacities(device)}
    groups: dict[DeviceKey, dict[_ContainerKey, list[Allocation]]] = {}
    for allocation in ownership.allocations:
        key = (allocation.device_uuid, allocation.gpu_instance_id)
        owner = allocation.owner
        by_owner = groups.setdefault(key, {})
        by_owner.setdefault((owner.namespace, owner.pod, owner.container), []).append(allocation)
    return Allocations(
        shares={
            key: tuple(_share(key, each, capacity.get(key)) for each in by_owner.values())
            for key, by_owner in groups.items()
        },
        process_owners=ownership.process_owners,
        is_complete=not ownership.problems,
    )


def allocated_ratio(device: Device, allocations: Allocations) -> float | None:
    """Return the share of the card's memory that is allocated, 0 to 1 (above it: oversold).

    None where the share of some container is not known (time-slicing says no memory), and where
    nobody is known to hold it but not every source of owners could be asked.
    """
    keys = [key for key, _ in _capacities(device)]
    shares = [share for key in keys for share in allocations.shares.get(key, ())]
    sizes = [share.memory_bytes for share in shares if share.memory_bytes is not None]
    is_unknown = len(sizes) < len(shares) or not (shares or allocations.is_complete)
    if device.memory_bytes <= 0 or is_unknown:
        return None
    ratio = sum(sizes) / device.memory_bytes
    return min(ratio, 1.0) if any(share.mode is Mode.EXCLUSIVE for share in shares) else ratio


def _capacities(device: Device) -> Iterable[tuple[DeviceKey, int]]:
    yield (device.uuid, None), device.memory_bytes
    for instance in device.mig_instances:
        yield (device.uuid, instance.gpu_instance_id), instance.memory_bytes


def _share(key: DeviceKey, allocations: list[Allocation], capacity: int | None) -> Share:
    is_shared = any(each.is_shared for each in allocations)
    sizes = [each.memory_bytes for each in allocations if each.memory_bytes is not None]
    memory = sum(sizes) if len(sizes) == len(allocations) else None
    if not is_shared and capacity is not None:
        memory = capacity  # all of it, whatever the driver keeps for itself
    computes = [each.compute_ratio for each in allocations if each.compute_ratio is not None]
    return Share(
        owner=allocations[0].owner,
        key=key,
        mode=Mode.SHARE if is_shared else Mode.EXCLUSIVE,
        memory_bytes=memory,
        compute_ratio=sum(computes) if computes else None if is_shared else 0.0,
    )


def _is_same(process_owner: Container, holder: Container) -> bool:
    """Compare containers; a cgroup may tell the pod alone."""
    is_pod = (process_owner.namespace, process_owner.pod) == (holder.namespace, holder.pod)
    return is_pod and process_owner.container in {"", holder.container}
