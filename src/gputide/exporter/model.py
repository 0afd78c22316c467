"""The node as one collection saw it: devices, readings, processes, owners."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from gputide.exporter.fields import Fact, Field


@dataclass(frozen=True, slots=True, kw_only=True)
class MigInstance:
    """A GPU instance of a GPU in MIG mode."""

    gpu_instance_id: int
    uuid: str
    profile: str
    """As the instance itself names it: 1g.5gb, 2g.10gb, 1g.12gb."""

    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU that the driver enumerates; what never changes while it runs."""

    index: int
    uuid: str
    pci_bus_id: str
    """Domain with eight digits, as DCGM prints it: 00000000:00:06.0."""

    minor_number: int
    """N of /dev/nvidiaN."""

    model_name: str
    memory_bytes: int
    is_mig_enabled: bool = False
    mig_instances: tuple[MigInstance, ...] = ()
    facts: Mapping[Fact, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessReading:
    """A process on a GPU; None is what the driver does not tell."""

    pid: int
    name: str
    is_compute: bool = True
    gpu_instance_id: int | None = None
    memory_bytes: int | None = None
    sm_ratio: float | None = None
    memory_copy_ratio: float | None = None
    encoder_ratio: float | None = None
    decoder_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one GPU told at one moment."""

    at_seconds: float
    """Unix time at which the reading began."""

    values: Mapping[Field, float]
    unsupported: Mapping[Field, str]
    """Fields that this hardware, driver or permission does not give, each with the reason."""

    mig_values: Mapping[int, Mapping[Field, float]] = field(default_factory=dict)
    """By GPU instance id: what is the instance's own, never a copy of the card's."""

    processes: tuple[ProcessReading, ...] = ()


class DeviceState(StrEnum):
    """How a GPU is doing; only `UP` ones have a fresh reading."""

    UP = "up"
    LOST = "lost"
    """Off the bus, or no longer enumerated though it was before."""

    HUNG = "hung"
    """A driver call has not come back within its deadline."""

    FAILED = "failed"
    """The driver answers with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class XidCount:
    """XID events of one code on one GPU since the exporter started."""

    xid: int
    count: int
    last_seen_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """A device with its state and its newest reading."""

    device: Device
    state: DeviceState
    problem: str = ""
    """Why it is not up, in the driver's words; empty where it is."""

    reading: Reading | None = None
    """None where there is none fresh enough to serve."""

    read_duration_seconds: float | None = None
    xids: tuple[XidCount, ...] = ()


class AllocateMode(IntEnum):
    """How the node hands out its GPUs (DCGM_CUSTOM_ALLOCATE_MODE)."""

    NONE = 0
    EXCLUSIVE = 1
    SHARE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Who uses a GPU, in Kubernetes' words."""

    namespace: str
    pod: str
    container: str
    pod_uid: str = ""
    pod_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A container's share of one GPU (or of one MIG instance)."""

    owner: Container
    device_uuid: str
    gpu_instance_id: int | None = None
    is_shared: bool = False
    """Whether other containers may hold the same device (time-slicing, gpu-mem, MPS)."""

    memory_bytes: int | None = None
    """Memory allocated to it; the whole device's where it is exclusive; None where nobody says."""

    compute_ratio: float | None = None
    """Share of the compute given, 0 to 1; 0 = no limit (exclusive, or memory-only sharing)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """Who holds what on this node, as of `at_seconds`."""

    at_seconds: float
    mode: AllocateMode
    allocations: tuple[Allocation, ...]
    process_owners: Mapping[int, Container] = field(default_factory=dict)
    """By pid, from the process' cgroup."""

    problems: tuple[str, ...] = ()
    """What could not be asked, and what would mend it (no socket, no permission, no API).

    While there is one, allocations may be missing.
    """

    detail_problems: tuple[str, ...] = ()
    """Why labels and uids of pods or owners of processes are not known.

    No allocation is missing for it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The node at one moment: everything that a page is rendered from."""

    node_name: str
    at_seconds: float
    devices: tuple[DeviceStatus, ...]
    ownership: Ownership
    problem: str = ""
    """Why there is no device at all (no driver, no GPU), in words; empty otherwise."""
