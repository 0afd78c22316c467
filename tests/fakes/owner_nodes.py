"""GPUs, pods and a kubelet's words by hand, for tests of who holds what.

gpu(0), gpu(1, "GPU-b", memory_gib=80), mig_gpu(0, "GPU-a", {7: "MIG-7"})
pod_record("chat", annotations={...}), held("chat", "nvidia.com/gpu", "GPU-a")
"""

from collections.abc import Mapping

from gputide.exporter.model import Container, Device, MigInstance
from gputide.exporter.owners.model import HeldDevices, Pod

GIB = 1 << 30


def gpu(
    index: int, uuid: str = "", *, memory_gib: int = 16, minor_number: int | None = None
) -> Device:
    """Return a whole GPU."""
    return Device(
        index=index,
        uuid=uuid or f"GPU-{index}",
        pci_bus_id=f"00000000:00:{index + 6:02X}.0",
        minor_number=index if minor_number is None else minor_number,
        model_name="Tesla T4",
        memory_bytes=memory_gib * GIB,
    )


def mig_gpu(index: int, uuid: str, instances: Mapping[int, str]) -> Device:
    """Return a GPU in MIG mode with instances of 5 GiB, by GPU instance id."""
    return Device(
        index=index,
        uuid=uuid,
        pci_bus_id=f"00000000:00:{index + 6:02X}.0",
        minor_number=index,
        model_name="A100",
        memory_bytes=40 * GIB,
        is_mig_enabled=True,
        mig_instances=tuple(
            MigInstance(gpu_instance_id=each, uuid=name, profile="1g.5gb", memory_bytes=5 * GIB)
            for each, name in instances.items()
        ),
    )


def pod_record(
    name: str,
    *,
    annotations: Mapping[str, str] | None = None,
    containers: tuple[str, ...] = ("main",),
    container_ids: Mapping[str, str] | None = None,
    units: Mapping[str, int] | None = None,
    is_over: bool = False,
    is_deleting: bool = False,
) -> Pod:
    """Return a pod in namespace demo."""
    return Pod(
        owner=Container(namespace="demo", pod=name, container="", pod_uid=f"uid-{name}"),
        annotations=annotations or {},
        container_names=containers,
        container_ids=container_ids or {},
        gpu_memory_units=units or {},
        is_over=is_over,
        is_deleting=is_deleting,
    )


def held(pod: str, resource_name: str, *ids: str, count: int = 0) -> HeldDevices:
    """Return what the kubelet gave to the pod's container main."""
    return HeldDevices(
        namespace="demo",
        pod=pod,
        container="main",
        resource_name=resource_name,
        device_ids=ids,
        count=count or len(ids),
    )
