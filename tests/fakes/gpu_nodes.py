"""Nodes with GPUs, built by hand: what a collection would have seen.

    from fakes.gpu_nodes import t4, a100, a100_mig, h100x8, shared, lost, no_gpu

    snapshot = shared()
    snapshot = node(device_status(gpu("Tesla T4", index=3)))   # any other

All of them are deterministic; times are around NOW. Identifiers are invented. What NVML cannot
tell on such hardware is in `unsupported`, as the real reader reports it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import (
    AllocateMode,
    Allocation,
    Container,
    Device,
    DeviceState,
    DeviceStatus,
    MigInstance,
    Ownership,
    ProcessReading,
    Reading,
    Snapshot,
    XidCount,
)

NOW = 1_790_000_000.0
MIB = 2**20
NOT_SUPPORTED = "this GPU or driver does not support it"
NO_GPM = "needs GPM, which NVML has on Hopper and newer"

_PROFILING = tuple(each for each in Field if each.value.startswith("profiling_"))
_NVLINK = tuple(each for each in Field if each.value.startswith("nvlink_"))
_REMAPPED = (
    Field.REMAPPED_CORRECTABLE_ROWS_TOTAL,
    Field.REMAPPED_UNCORRECTABLE_ROWS_TOTAL,
    Field.ROW_REMAP_FAILURE,
    Field.ROW_REMAP_PENDING,
)

_NO_ROWS = dict.fromkeys(_REMAPPED, 0.0)

IDLE: Mapping[Field, float] = {
    Field.SM_CLOCK_HERTZ: 300e6,
    Field.MEMORY_CLOCK_HERTZ: 405e6,
    Field.TEMPERATURE_CELSIUS: 31,
    Field.POWER_WATTS: 9.103,
    Field.ENERGY_JOULES_TOTAL: 128_996.013,
    Field.PCIE_REPLAYS_TOTAL: 0,
    Field.GPU_UTILIZATION_RATIO: 0,
    Field.MEMORY_COPY_UTILIZATION_RATIO: 0,
    Field.ENCODER_UTILIZATION_RATIO: 0,
    Field.DECODER_UTILIZATION_RATIO: 0,
    Field.XID_LAST: 0,
    Field.MEMORY_TOTAL_BYTES: 15_360 * MIB,
    Field.MEMORY_FREE_BYTES: 14_923.9 * MIB,
    Field.MEMORY_USED_BYTES: 2.1 * MIB,
    Field.MEMORY_RESERVED_BYTES: 434 * MIB,
    Field.VGPU_LICENSE_STATUS: 0,
    Field.CLOCK_EVENT_REASONS: 1,
    Field.COMPUTE_PROCESSES: 0,
}
A100_IDLE: Mapping[Field, float] = {
    **IDLE,
    Field.SM_CLOCK_HERTZ: 210e6,
    Field.MEMORY_CLOCK_HERTZ: 1215e6,
    Field.MEMORY_TEMPERATURE_CELSIUS: 28,
    Field.POWER_WATTS: 45.999,
    Field.MEMORY_TOTAL_BYTES: 40_960 * MIB,
    Field.MEMORY_FREE_BYTES: 40_384 * MIB,
    Field.MEMORY_RESERVED_BYTES: 576 * MIB,
    Field.MEMORY_USED_BYTES: 0,
    Field.NVLINK_SENT_BYTES_TOTAL: 0,
    Field.NVLINK_RECEIVED_BYTES_TOTAL: 0,
    **_NO_ROWS,
}
BUSY: Mapping[Field, float] = {
    Field.SM_CLOCK_HERTZ: 1980e6,
    Field.TEMPERATURE_CELSIUS: 62,
    Field.POWER_WATTS: 412.5,
    Field.GPU_UTILIZATION_RATIO: 0.87,
    Field.MEMORY_COPY_UTILIZATION_RATIO: 0.29,
    Field.CLOCK_EVENT_REASONS: 4,
    Field.COMPUTE_PROCESSES: 1,
}
H100_PROFILING: Mapping[Field, float] = {
    Field.PROFILING_GRAPHICS_ENGINE_ACTIVE_RATIO: 0.871234,
    Field.PROFILING_TENSOR_ACTIVE_RATIO: 0.4125,
    Field.PROFILING_DRAM_ACTIVE_RATIO: 0.30999999,
    Field.PROFILING_PCIE_SENT_BYTES_PER_SECOND: 79_221,
    Field.PROFILING_PCIE_RECEIVED_BYTES_PER_SECOND: 420_785,
}


def gpu(
    model_name: str,
    *,
    index: int = 0,
    memory_bytes: int = 15_360 * MIB,
    driver: str = "535.183.01",
    mig: tuple[MigInstance, ...] = (),
) -> Device:
    """Return a device; its UUID and bus id follow from the index."""
    return Device(
        index=index,
        uuid=f"GPU-00000000-1111-2222-3333-{index:012d}",
        pci_bus_id=f"00000000:{index + 6:02X}:00.0",
        minor_number=index,
        model_name=model_name,
        memory_bytes=memory_bytes,
        is_mig_enabled=bool(mig),
        mig_instances=mig,
        facts={Fact.DRIVER_VERSION: driver, Fact.NVML_VERSION: f"12.{driver}"},
    )


def device_status(
    device: Device,
    values: Mapping[Field, float] = IDLE,
    *,
    unsupported: Sequence[Field] = (),
    mig_values: Mapping[int, Mapping[Field, float]] | None = None,
    processes: tuple[ProcessReading, ...] = (),
) -> DeviceStatus:
    """Return a device that is up, read a second ago."""
    reasons = {each: NO_GPM if each in _PROFILING else NOT_SUPPORTED for each in unsupported}
    reading = Reading(
        at_seconds=NOW - 1,
        values={each: value for each, value in values.items() if each not in reasons},
        unsupported=reasons,
        mig_values=mig_values or {},
        processes=processes,
    )
    return DeviceStatus(
        device=device, state=DeviceState.UP, reading=reading, read_duration_seconds=0.0125
    )


def node(
    *devices: DeviceStatus,
    allocations: tuple[Allocation, ...] = (),
    mode: AllocateMode = AllocateMode.NONE,
    process_owners: Mapping[int, Container] | None = None,
    problems: tuple[str, ...] = (),
    problem: str = "",
) -> Snapshot:
    """Return a node with those devices, its owners asked two seconds ago."""
    return Snapshot(
        node_name="gpu-node-1",
        at_seconds=NOW,
        devices=devices,
        ownership=Ownership(
            at_seconds=NOW - 2,
            mode=mode,
            allocations=allocations,
            process_owners=process_owners or {},
            problems=problems,
        ),
        problem=problem,
    )


def container(pod: str, name: str = "main", **labels: str) -> Container:
    """Return a container in namespace `models`."""
    return Container(
        namespace="models", pod=pod, container=name, pod_uid=f"uid-{pod}", pod_labels=labels
    )


def t4() -> Snapshot:
    """One idle Tesla T4 without Kubernetes."""
    device = gpu("Tesla T4", driver="460.106.00")
    unsupported = (*_PROFILING, *_NVLINK, *_REMAPPED, Field.MEMORY_TEMPERATURE_CELSIUS)
    return node(device_status(device, unsupported=unsupported))


def a100() -> Snapshot:
    """One A100 without MIG, given whole to a pod that uses it."""
    device = gpu("NVIDIA A100-SXM4-40GB", memory_bytes=40_960 * MIB, driver="520.56.06")
    owner = container("trainer-0", app="trainer")
    process = ProcessReading(
        pid=4711,
        name="/usr/bin/python3",
        memory_bytes=4_384 * MIB,
        sm_ratio=0.87,
        memory_copy_ratio=0.29,
        encoder_ratio=0,
        decoder_ratio=0,
    )
    values = {**A100_IDLE, **BUSY, Field.SM_CLOCK_HERTZ: 1410e6}
    return node(
        device_status(device, values, unsupported=_PROFILING, processes=(process,)),
        allocations=(Allocation(owner=owner, device_uuid=device.uuid),),
        mode=AllocateMode.EXCLUSIVE,
        process_owners={4711: owner},
    )


def a100_mig(owner: Container | None = None) -> Snapshot:
    """One A100 with three 1g.5gb and one 2g.10gb; instance 8 is busy and has an owner."""
    instances = (*(_instance(each, "1g.5gb", 4_864) for each in (7, 8, 9)),)
    instances = (*instances, _instance(5, "2g.10gb", 9_856))
    device = gpu(
        "NVIDIA A100-SXM4-40GB", memory_bytes=40_960 * MIB, driver="520.56.06", mig=instances
    )
    whole_only = (
        Field.GPU_UTILIZATION_RATIO,
        Field.MEMORY_COPY_UTILIZATION_RATIO,
        Field.ENCODER_UTILIZATION_RATIO,
        Field.DECODER_UTILIZATION_RATIO,
    )
    used = {7: 6, 8: 4_384, 9: 6, 5: 13}
    mig_values = {
        each.gpu_instance_id: {
            Field.MEMORY_TOTAL_BYTES: float(each.memory_bytes),
            Field.MEMORY_USED_BYTES: used[each.gpu_instance_id] * MIB,
            Field.MEMORY_FREE_BYTES: each.memory_bytes - used[each.gpu_instance_id] * MIB,
            Field.MEMORY_RESERVED_BYTES: 0,
        }
        for each in instances
    }
    holder = owner or container("notebook-0")
    process = ProcessReading(pid=99, name="python", gpu_instance_id=8, memory_bytes=4_300 * MIB)
    return node(
        device_status(
            device,
            {**A100_IDLE, Field.SM_CLOCK_HERTZ: 1410e6, Field.POWER_WATTS: 106.463},
            unsupported=(*whole_only, *_PROFILING),
            mig_values=mig_values,
            processes=(process,),
        ),
        allocations=(Allocation(owner=holder, device_uuid=device.uuid, gpu_instance_id=8),),
        mode=AllocateMode.EXCLUSIVE,
        process_owners={99: holder},
    )


def h100x8() -> Snapshot:
    """Eight H100, six of them given whole to pods."""
    devices = [gpu("NVIDIA H100 80GB HBM3", index=i, memory_bytes=81_559 * MIB) for i in range(8)]
    busy = {**A100_IDLE, **BUSY, **H100_PROFILING, Field.MEMORY_CLOCK_HERTZ: 2619e6}
    idle = {**A100_IDLE, **dict.fromkeys(H100_PROFILING, 0.0), Field.SM_CLOCK_HERTZ: 345e6}
    return node(
        *(device_status(device, busy if device.index < 6 else idle) for device in devices),
        allocations=tuple(
            Allocation(owner=container(f"worker-{d.index}"), device_uuid=d.uuid)
            for d in devices[:6]
        ),
        mode=AllocateMode.EXCLUSIVE,
    )


def shared() -> Snapshot:
    """One A10 shared by memory among two pods, and used by a third that was not given it."""
    device = gpu("NVIDIA A10", memory_bytes=23_028 * MIB)
    chat, rank, stray = container("chat-0"), container("rank-0"), container("stray-0")
    processes = (
        ProcessReading(pid=11, name="chat", memory_bytes=6_000 * MIB, sm_ratio=0.4),
        ProcessReading(pid=12, name="rank", memory_bytes=9_000 * MIB, sm_ratio=0.21),
        ProcessReading(pid=13, name='st"ray\\', memory_bytes=500 * MIB, sm_ratio=0.05),
        ProcessReading(pid=14, name="Xorg", is_compute=False, memory_bytes=4 * MIB),
    )
    values = {**IDLE, **BUSY, **_NO_ROWS, Field.MEMORY_TOTAL_BYTES: 23_028 * MIB}
    unsupported = (*_PROFILING, *_NVLINK, Field.MEMORY_TEMPERATURE_CELSIUS)
    return node(
        device_status(device, values, unsupported=unsupported, processes=processes),
        allocations=(
            _part(chat, device, gibibytes=8, compute_ratio=0.3),
            _part(rank, device, gibibytes=12, compute_ratio=0.5),
        ),
        mode=AllocateMode.SHARE,
        process_owners={11: chat, 12: rank, 13: stray},
    )


def lost() -> Snapshot:
    """Three T4: one well, one fallen off the bus, one that hangs in the driver."""
    well, gone, hanging = (gpu("Tesla T4", index=index) for index in range(3))
    unsupported = (*_PROFILING, *_NVLINK, *_REMAPPED, Field.MEMORY_TEMPERATURE_CELSIUS)
    return node(
        device_status(well, unsupported=unsupported),
        DeviceStatus(
            device=gone,
            state=DeviceState.LOST,
            problem="GPU is lost",
            xids=(XidCount(xid=79, count=1, last_seen_seconds=NOW - 30),),
        ),
        DeviceStatus(
            device=hanging, state=DeviceState.HUNG, problem="no answer within 5 s since 07:12:31"
        ),
        allocations=(Allocation(owner=container("trainer-1"), device_uuid=gone.uuid),),
        mode=AllocateMode.EXCLUSIVE,
    )


def no_gpu() -> Snapshot:
    """A node without a driver, whose kubelet cannot be asked either."""
    return node(
        problem="libnvidia-ml.so.1 not found: is the NVIDIA driver installed?",
        problems=("/var/lib/kubelet/pod-resources/kubelet.sock: no such socket; mount it",),
    )


def without_owners(snapshot: Snapshot) -> Snapshot:
    """Return the same node with nobody on its GPUs."""
    nobody = replace(snapshot.ownership, allocations=(), process_owners={})
    return replace(snapshot, ownership=nobody)


def _instance(gpu_instance_id: int, profile: str, mebibytes: int) -> MigInstance:
    return MigInstance(
        gpu_instance_id=gpu_instance_id,
        uuid=f"MIG-00000000-0000-0000-0000-{gpu_instance_id:012d}",
        profile=profile,
        memory_bytes=mebibytes * MIB,
    )


def _part(owner: Container, device: Device, *, gibibytes: int, compute_ratio: float) -> Allocation:
    return Allocation(
        owner=owner,
        device_uuid=device.uuid,
        is_shared=True,
        memory_bytes=gibibytes * 2**30,
        compute_ratio=compute_ratio,
    )
