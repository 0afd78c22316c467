"""Who uses the simulated GPUs: the processes and the pods come from the same list. Pure."""

from dataclasses import dataclass
from functools import cache

from gputide.exporter.model import Container
from gputide.exporter.simulated.load import Lane
from gputide.exporter.simulated.profiles import Layout, SimulatedGpu, SimulatedNode

FIRST_PID = 20_000
_SHARES = ((0.5, 50), (0.3, 30), (0.15, 20))
"""Of a shared GPU's memory (0 to 1) and compute (percent), by tenant."""

_APPS = ("chat", "search", "vision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A pod with one process on a simulated GPU."""

    lane: Lane
    owner: Container
    pid: int
    process_name: str = "/usr/bin/python3"
    gpu_instance_id: int | None = None
    is_shared: bool = False
    allocated_memory_bytes: int
    used_memory_ratio: float
    """Of what is allocated, when it is fully busy."""

    compute_ratio: float
    """Share of the card's compute that it may take, 0 to 1."""


@cache
def tenants_of(node: SimulatedNode) -> tuple[tuple[Tenant, ...], ...]:
    """Return the tenants of each GPU of a node, by index."""
    return tuple(_tenants(index, gpu) for index, gpu in enumerate(node.gpus))


def _tenants(index: int, gpu: SimulatedGpu) -> tuple[Tenant, ...]:
    profile = gpu.profile
    if gpu.layout is Layout.IDLE:
        return ()
    if profile.mig:
        return tuple(
            _tenant(
                Lane(index, number),
                "notebook",
                gpu_instance_id=slot.gpu_instance_id,
                allocated_memory_bytes=slot.memory_bytes,
                compute_ratio=slot.compute_ratio,
            )
            for number, slot in enumerate(profile.mig)
        )
    usable = profile.memory_bytes - profile.reserved_bytes
    if gpu.layout is Layout.SHARED:
        return tuple(
            _tenant(
                Lane(index, number),
                _APPS[number],
                is_shared=True,
                allocated_memory_bytes=int(usable * memory),
                compute_ratio=percent / 100,
            )
            for number, (memory, percent) in enumerate(_SHARES)
        )
    return (_tenant(Lane(index), "llm", allocated_memory_bytes=usable, compute_ratio=1),)


def _tenant(
    lane: Lane,
    app: str,
    *,
    allocated_memory_bytes: int,
    compute_ratio: float,
    gpu_instance_id: int | None = None,
    is_shared: bool = False,
) -> Tenant:
    number = lane.device_index * 100 + lane.tenant
    pod = f"{app}-{lane.device_index}" + (f"-{lane.tenant}" if gpu_instance_id is not None else "")
    return Tenant(
        lane=lane,
        owner=Container(
            namespace="demo",
            pod=pod,
            container="main",
            pod_uid=f"00000000-0000-4000-8000-{number:012d}",
            pod_labels={"app": app},
        ),
        pid=FIRST_PID + number,
        gpu_instance_id=gpu_instance_id,
        is_shared=is_shared,
        allocated_memory_bytes=allocated_memory_bytes,
        used_memory_ratio=0.85,
        compute_ratio=compute_ratio,
    )
