"""What a device plugin calls a GPU, and which GPU that is. Pure.

Forms: `GPU-uuid` · `MIG-uuid` · `MIG-GPU-uuid/7/0` (drivers before 470) · `…::N`, a replica of
time-slicing or MPS · `GPU-uuid-N`, one of HAMi's · on GKE `nvidia0`, `nvidia0/gi3`,
`nvidia0/vgpu1`, `nvidia0/gi3/vgpu1`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gputide.exporter.model import Device

_MINOR = re.compile(r"nvidia(\d{1,9})(?:/gi(\d{1,9}))?(/vgpu\d{1,9})?", re.ASCII)
_OLD_MIG = re.compile(r"MIG-(GPU-[^/]+)/(\d{1,9})/\d{1,9}", re.ASCII)
_REPLICA = re.compile(r"(.+)-\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Place:
    """A GPU or one of its MIG instances; its memory, and whether others may hold it, too."""

    device: Device
    gpu_instance_id: int | None = None
    is_shared: bool = False

    @property
    def memory_bytes(self) -> int | None:
        """Memory of the GPU or of the instance; None where the driver does not show the latter."""
        if self.gpu_instance_id is None:
            return self.device.memory_bytes
        sizes = {each.gpu_instance_id: each.memory_bytes for each in self.device.mig_instances}
        return sizes.get(self.gpu_instance_id)


class DeviceIndex:
    """The node's GPUs by each name that they go by."""

    def __init__(self, devices: Iterable[Device]) -> None:
        self.devices = tuple(devices)
        self._by_minor = {device.minor_number: device for device in self.devices}
        self._by_index = {device.index: device for device in self.devices}
        self._by_uuid = {device.uuid: Place(device) for device in self.devices}
        for device in self.devices:
            for instance in device.mig_instances:
                self._by_uuid[instance.uuid] = Place(device, instance.gpu_instance_id)

    def by_index(self, index: int) -> Device | None:
        """Return the GPU of that index, as the driver and schedulers count."""
        return self._by_index.get(index)

    def by_uuid(self, uuid: str) -> Device | None:
        """Return the GPU of that UUID."""
        place = self._by_uuid.get(uuid)
        return None if place is None or place.gpu_instance_id is not None else place.device

    def locate(self, device_id: str) -> Place | None:
        """Return what a device id names, None where it is no GPU of this node."""
        name, separator, _ = device_id.partition("::")
        is_shared = bool(separator)
        place = self._by_uuid.get(name) or self._old_mig(name)
        if place is None:
            return self._by_minor_name(name, is_shared=is_shared) or self._replica(name)
        return Place(place.device, place.gpu_instance_id, is_shared)

    def _old_mig(self, name: str) -> Place | None:
        found = _OLD_MIG.fullmatch(name)
        device = self.by_uuid(found[1]) if found else None
        return Place(device, int(found[2])) if found and device else None

    def _by_minor_name(self, name: str, *, is_shared: bool) -> Place | None:
        found = _MINOR.fullmatch(name)
        device = self._by_minor.get(int(found[1])) if found else None
        if found is None or device is None:
            return None
        instance = None if found[2] is None else int(found[2])
        return Place(device, instance, is_shared or found[3] is not None)

    def _replica(self, name: str) -> Place | None:
        found = _REPLICA.fullmatch(name)
        device = self.by_uuid(found[1]) if found else None
        return Place(device, None, is_shared=True) if device else None
