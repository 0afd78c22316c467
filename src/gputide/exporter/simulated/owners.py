"""Who holds the simulated GPUs: what the kubelet and the scheduler would tell."""

from collections.abc import Iterable

from gputide.clock import Clock
from gputide.exporter.model import AllocateMode, Allocation, Device, Ownership
from gputide.exporter.simulated.profiles import SimulatedNode
from gputide.exporter.simulated.tenants import Tenant, tenants_of


class SimulatedOwners:
    """An OwnershipSource: the pods of a simulated node."""

    def __init__(self, node: SimulatedNode, clock: Clock) -> None:
        self._tenants = tenants_of(node)
        self._clock = clock

    async def ownership(self, devices: Iterable[Device], pids: Iterable[int]) -> Ownership:
        """Return the owners of those devices and processes."""
        held = [
            (device, tenant)
            for device in devices
            if device.index < len(self._tenants)
            for tenant in self._tenants[device.index]
        ]
        owners = {tenant.pid: tenant.owner for tenant in _all(self._tenants)}
        mode = AllocateMode.NONE
        if held:
            is_shared = any(tenant.is_shared for _, tenant in held)
            mode = AllocateMode.SHARE if is_shared else AllocateMode.EXCLUSIVE
        return Ownership(
            at_seconds=self._clock.now_seconds(),
            mode=mode,
            allocations=tuple(_allocation(device, tenant) for device, tenant in held),
            process_owners={pid: owners[pid] for pid in pids if pid in owners},
        )


def _all(tenants: Iterable[Iterable[Tenant]]) -> list[Tenant]:
    return [tenant for each in tenants for tenant in each]


def _allocation(device: Device, tenant: Tenant) -> Allocation:
    return Allocation(
        owner=tenant.owner,
        device_uuid=device.uuid,
        gpu_instance_id=tenant.gpu_instance_id,
        is_shared=tenant.is_shared,
        memory_bytes=tenant.allocated_memory_bytes,
        compute_ratio=tenant.compute_ratio if tenant.is_shared else 0,
    )
