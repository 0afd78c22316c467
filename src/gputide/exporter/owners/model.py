"""What the sources tell, before it is put together."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gputide.exporter.model import Container


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod of this node, as the Kubernetes API has it; a `PodRecord`."""

    owner: Container
    annotations: Mapping[str, str] = field(default_factory=dict)
    container_names: tuple[str, ...] = ()
    container_ids: Mapping[str, str] = field(default_factory=dict)
    gpu_memory_units: Mapping[str, int] = field(default_factory=dict)
    is_over: bool = False
    is_deleting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDevices:
    """Devices of one resource that the kubelet gave to a container."""

    namespace: str
    pod: str
    container: str
    resource_name: str
    device_ids: tuple[str, ...]
    """Empty where the ids name no card (`aliyun.com/gpu-mem` has one for each unit of memory)."""

    count: int
    """How many ids there are."""


@dataclass(frozen=True, slots=True)
class Cgroup:
    """Where a process belongs, from its control group; empty is what the path does not tell."""

    pod_uid: str
    container_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenProcesses:
    """Control groups of processes by pid, and why some could not be seen."""

    cgroups: Mapping[int, Cgroup]
    problem: str = ""
