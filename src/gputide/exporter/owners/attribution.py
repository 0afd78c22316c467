"""Puts the sources' answers together: who holds what, and whose each process is. Pure.

What a scheduler wrote into a pod's annotations goes before the kubelet's list, which for a shared
GPU knows only that the pod has some.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gputide.exporter.model import AllocateMode, Allocation, Container, Device, Ownership
from gputide.exporter.owners.device_ids import DeviceIndex, Place
from gputide.exporter.owners.model import Cgroup, HeldDevices
from gputide.exporter.owners.settings import MemoryUnit, OwnerSettings
from gputide.exporter.owners.sharing import ANNOTATIONS, Grant, Grants, grants_of
from gputide.exporter.owners.wire import MEMORY_RESOURCE
from gputide.exporter.ports import PodRecord

PodKey = tuple[str, str]
GIB, MIB = 1 << 30, 1 << 20
MAX_PROBLEMS = 20
STATIC_POD_UID = "kubernetes.io/config.hash"
"""Annotation of a static pod: the uid that its control groups have, unlike its uid in the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What could be asked; None is a source that is not asked, or has no answer."""

    held: tuple[HeldDevices, ...] | None = None
    pods: Mapping[PodKey, PodRecord] | None = None
    cgroups: Mapping[int, Cgroup]
    problems: tuple[str, ...] = ()
    """Of sources without which allocations may be missing."""

    api_problem: str = ""
    process_problem: str = ""


def attribute(
    evidence: Evidence,
    devices: tuple[Device, ...],
    settings: OwnerSettings,
    *,
    at_seconds: float,
) -> Ownership:
    """Return the owners of those devices and of the processes in `evidence.cgroups`."""
    unknown = ""
    if evidence.held and evidence.pods is not None and not evidence.pods:
        unknown = (
            f"the Kubernetes API knows no pod on node {settings.node_name!r}, but the kubelet"
            " does: give the node's name in Kubernetes"
        )
    book = _Book(evidence, DeviceIndex(devices), settings)
    allocations = tuple(book.allocations())
    api = evidence.api_problem
    lacking, details = ("", api) if _is_complete_without_api(evidence) else (api, "")
    problems = [*filter(None, (*evidence.problems, lacking, unknown)), *book.problems]
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"and {len(problems) - MAX_PROBLEMS} more of the kind"]
    return Ownership(
        at_seconds=at_seconds,
        mode=_mode(allocations),
        allocations=allocations,
        process_owners=_process_owners(evidence, allocations),
        problems=tuple(problems),
        detail_problems=tuple(filter(None, (details, evidence.process_problem))),
    )


def _is_complete_without_api(evidence: Evidence) -> bool:
    """Return whether the kubelet alone tells every allocation: where no annotation has to."""
    pods = (evidence.pods or {}).values()
    is_annotated = any(not ANNOTATIONS.isdisjoint(pod.annotations) for pod in pods)
    if evidence.held is None or is_annotated:
        return False
    return all(held.resource_name != MEMORY_RESOURCE for held in evidence.held)


def _mode(allocations: Iterable[Allocation]) -> AllocateMode:
    sharing = {allocation.is_shared for allocation in allocations}
    if not sharing:
        return AllocateMode.NONE
    return AllocateMode.SHARE if True in sharing else AllocateMode.EXCLUSIVE


class _Book:
    """Allocations as they are found, and the problems on the way."""

    def __init__(self, evidence: Evidence, index: DeviceIndex, settings: OwnerSettings) -> None:
        self._held = evidence.held or ()
        self._pods = evidence.pods or {}
        self._has_pods = evidence.pods is not None
        self._index = index
        self._resource_names = frozenset(settings.resource_names)
        self._grants = {
            key: grants_of(pod)
            for key, pod in self._pods.items()
            if not (pod.is_over or pod.is_deleting)
        }
        self._unit_bytes = _unit_bytes(settings.memory_unit, self._units(), index.devices)
        self.problems: list[str] = []

    def allocations(self) -> Iterator[Allocation]:
        """Yield every allocation; a container's share of one device once."""
        for key, grants in self._grants.items():
            self.problems += grants.problems
            yield from self._granted(self._pods[key], grants)
        yield from self._units_without_annotation()
        for held in self._held:
            yield from self._given(held)

    def _granted(self, pod: PodRecord, grants: Grants) -> Iterator[Allocation]:
        for grant in grants.grants:
            owner = replace(pod.owner, container=grant.container)
            device = self._device_of(grant)
            if device is not None:
                yield self._share(owner, device, grant)
            elif self._index.devices:  # without any, the driver is at fault and not the pod
                name = grant.device if isinstance(grant.device, str) else f"GPU {grant.device}"
                self.problems.append(
                    f"pod {owner.namespace}/{owner.pod}: annotation {grant.annotation}:"
                    f" names {name}, which this node has not"
                )

    def _device_of(self, grant: Grant) -> Device | None:
        if isinstance(grant.device, int):
            return self._index.by_index(grant.device)
        return self._index.by_uuid(grant.device)

    def _share(self, owner: Container, device: Device, grant: Grant) -> Allocation:
        unit = MIB if grant.unit is MemoryUnit.MIB else self._unit_bytes
        return Allocation(
            owner=owner,
            device_uuid=device.uuid,
            is_shared=True,
            memory_bytes=None if grant.units is None else grant.units * unit,
            compute_ratio=grant.compute_ratio,
        )

    def _units_without_annotation(self) -> Iterator[Allocation]:
        """Yield the shares of memory that no annotation places: on a node's only card it is that.

        The API tells each container's limit; where it cannot be asked, the kubelet the count.
        """
        for owner, units in self._unplaced():
            if len(self._index.devices) == 1:
                grant = Grant(container=owner.container, device=0, units=units, annotation="")
                yield self._share(owner, self._index.devices[0], grant)
            elif self._index.devices:
                missing = "no annotation says" if self._has_pods else "without the API none knows"
                self.problems.append(
                    f"pod {owner.namespace}/{owner.pod} has {MEMORY_RESOURCE}, {missing} of"
                    " which GPU"
                )

    def _unplaced(self) -> Iterator[tuple[Container, int]]:
        seen: set[tuple[PodKey, str]] = set()
        for key, grants in self._grants.items():
            pod = self._pods[key]
            for name, units in () if grants.is_annotated else pod.gpu_memory_units.items():
                seen.add((key, name))
                yield replace(pod.owner, container=name), units
        for held in self._held:
            key = (held.namespace, held.pod)
            is_known = key in self._pods or (key, held.container) in seen
            if held.resource_name == MEMORY_RESOURCE and not is_known:
                yield self._owner(held), held.count

    def _given(self, held: HeldDevices) -> Iterator[Allocation]:
        """Yield what the kubelet gave away, unless annotations have told it better."""
        key = (held.namespace, held.pod)
        pod, grants = self._pods.get(key), self._grants.get(key)
        if (grants is not None and grants.is_annotated) or (pod is not None and _is_given_up(pod)):
            return
        owner = self._owner(held)
        # Replicas of one device given to one container are one share of it.
        places = {(p.device.uuid, p.gpu_instance_id): p for p in self._places(held, owner)}
        for place in places.values():
            is_shared = place.is_shared or held.resource_name.endswith(".shared")
            yield Allocation(
                owner=owner,
                device_uuid=place.device.uuid,
                gpu_instance_id=place.gpu_instance_id,
                is_shared=is_shared,
                memory_bytes=None if is_shared else place.memory_bytes,
                compute_ratio=None if is_shared else 0,
            )

    def _places(self, held: HeldDevices, owner: Container) -> Iterator[Place]:
        for device_id in held.device_ids:
            place = self._index.locate(device_id)
            if place is not None:
                yield place  # whatever the resource is called: the id names a GPU of ours
            elif self._is_gpu_resource(held.resource_name) and self._index.devices:
                self.problems.append(
                    f"pod {owner.namespace}/{owner.pod} holds {held.resource_name}"
                    f" {device_id[:80]}, which the driver does not show"
                )

    def _is_gpu_resource(self, name: str) -> bool:
        if name in self._resource_names or name.startswith("nvidia.com/mig-"):
            return True
        return name in {"nvidia.com/gpu", "nvidia.com/gpu.shared"}

    def _owner(self, held: HeldDevices) -> Container:
        pod = self._pods.get((held.namespace, held.pod))
        if pod is not None:
            return replace(pod.owner, container=held.container)
        return Container(namespace=held.namespace, pod=held.pod, container=held.container)

    def _units(self) -> list[int]:
        """Return every known quantity of memory in the node's unit."""
        units = [
            grant.units
            for grants in self._grants.values()
            for grant in grants.grants
            if grant.unit is MemoryUnit.AUTO and grant.units is not None
        ]
        units += [size for grants in self._grants.values() for size in grants.device_units]
        units += [size for pod in self._pods.values() for size in pod.gpu_memory_units.values()]
        units += [held.count for held in self._held if held.resource_name == MEMORY_RESOURCE]
        return units


def _is_given_up(pod: PodRecord) -> bool:
    """Return whether the pod has no share any more: a shared one goes with the first word of it."""
    return pod.is_over or (pod.is_deleting and not ANNOTATIONS.isdisjoint(pod.annotations))


def _unit_bytes(unit: MemoryUnit, quantities: list[int], devices: tuple[Device, ...]) -> int:
    """Return the bytes of one unit; told by the quantities, as the whole node has one unit.

    No pod can have been given more GiB than a GPU has, nor would anyone ask for so few MiB.
    """
    if unit is not MemoryUnit.AUTO:
        return GIB if unit is MemoryUnit.GIB else MIB
    largest_gib = max((device.memory_bytes for device in devices), default=0) / GIB
    # Twice: a scheduler may oversell memory.
    return MIB if largest_gib and max(quantities, default=0) > 2 * largest_gib else GIB


def _process_owners(
    evidence: Evidence, allocations: Iterable[Allocation]
) -> Mapping[int, Container]:
    """Return the container of each process, as far as its control group and the pods tell.

    A pod that ends gave its share back while its processes may still run: without an allocation
    they would look like thieves, so their owner is left open.
    """
    holders = {(each.owner.namespace, each.owner.pod) for each in allocations}
    by_uid: dict[str, Container] = {}
    by_container: dict[str, Container] = {}
    for key, pod in (evidence.pods or {}).items():
        if (pod.is_over or pod.is_deleting) and key not in holders:
            continue
        for uid in filter(None, (pod.owner.pod_uid, pod.annotations.get(STATIC_POD_UID))):
            by_uid[uid] = pod.owner
        for container_id, name in pod.container_ids.items():
            by_container[container_id] = replace(pod.owner, container=name)
    owners: dict[int, Container] = {}
    for pid, cgroup in evidence.cgroups.items():
        owner = by_container.get(cgroup.container_id) or by_uid.get(cgroup.pod_uid)
        if owner is not None:
            owners[pid] = owner
    return owners
