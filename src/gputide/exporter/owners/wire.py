"""The kubelet's pod-resources answer (v1 of its API), translated. Pure.

Of ListPodResourcesResponse we read: pod_resources = 1 {name 1, namespace 2, containers 3 {name 1,
devices 2 {resource_name 1, device_ids 2}}}. Fields that we do not know are passed over.
"""

from gputide.exporter.owners import protobuf
from gputide.exporter.owners.model import HeldDevices
from gputide.exporter.owners.protobuf import MalformedMessageError, Value

LIST_METHOD = "/v1.PodResourcesLister/List"
MEMORY_RESOURCE = "aliyun.com/gpu-mem"
"""Its ids are units of memory, thousands of them, and name no card: they are counted only."""

MAX_CONTAINERS = 100_000
MAX_DEVICE_IDS = 100_000


def held_devices(answer: bytes) -> tuple[HeldDevices, ...]:
    """Return what every container holds; raise MalformedMessageError."""
    held: list[HeldDevices] = []
    ids = 0
    for number, value in protobuf.fields(answer):
        if number == 1:
            found = _pod(value)
            held += found
            ids += sum(len(each.device_ids) for each in found)
            if len(held) > MAX_CONTAINERS or ids > MAX_DEVICE_IDS:
                raise MalformedMessageError(
                    f"more than {MAX_CONTAINERS} containers or {MAX_DEVICE_IDS} devices"
                )
    return tuple(held)


def _pod(message: Value) -> list[HeldDevices]:
    name = namespace = ""
    containers: list[Value] = []
    for number, value in protobuf.fields(protobuf.message(message)):
        match number:
            case 1:
                name = protobuf.text(value)
            case 2:
                namespace = protobuf.text(value)
            case 3:
                containers.append(value)
            case _:
                pass
    return [
        HeldDevices(
            namespace=namespace,
            pod=name,
            container=container,
            resource_name=resource,
            device_ids=device_ids,
            count=count,
        )
        for value in containers
        for container, resource, device_ids, count in _container(value)
    ]


def _container(message: Value) -> list[tuple[str, str, tuple[str, ...], int]]:
    name = ""
    devices: list[tuple[str, tuple[str, ...], int]] = []
    for number, value in protobuf.fields(protobuf.message(message)):
        if number == 1:
            name = protobuf.text(value)
        elif number == 2:
            devices.append(_devices(value))
    return [(name, *each) for each in devices]


def _devices(message: Value) -> tuple[str, tuple[str, ...], int]:
    resource = ""
    ids: list[Value] = []
    for number, value in protobuf.fields(protobuf.message(message)):
        if number == 1:
            resource = protobuf.text(value)
        elif number == 2:
            ids.append(value)
    if resource == MEMORY_RESOURCE:
        return resource, (), len(ids)
    return resource, tuple(protobuf.text(each) for each in ids), len(ids)
