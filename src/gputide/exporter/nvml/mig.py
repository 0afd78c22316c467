"""The GPU instances of a GPU in MIG mode."""

from collections.abc import Iterator
from math import ceil

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.model import MigInstance
from gputide.exporter.nvml.driver import Handle

MIB = 2**20
GIB = 2**30
_MEMORY_SLICES = 8


def is_enabled(handle: Handle) -> bool:
    """Return whether MIG mode is on now; a GPU without MIG has it off."""
    try:
        return bool(pynvml.nvmlDeviceGetMigMode(handle)[0])
    except (pynvml.NVMLError_NotSupported, pynvml.NVMLError_FunctionNotFound):
        return False


def instances(handle: Handle, total_bytes: int) -> tuple[MigInstance, ...]:
    """Return the GPU instances of a GPU, by id; raise NVMLError.

    Compute instances that share a GPU instance share its memory and series: they are one here.
    """
    found: dict[int, MigInstance] = {}
    for own in _handles(handle):
        gpu_instance_id = int(pynvml.nvmlDeviceGetGpuInstanceId(own))
        attributes = pynvml.nvmlDeviceGetAttributes(own)
        memory_bytes = int(attributes.memorySizeMB) * MIB
        slices = int(attributes.gpuInstanceSliceCount)
        instance = MigInstance(
            gpu_instance_id=gpu_instance_id,
            uuid=str(pynvml.nvmlDeviceGetUUID(own)),
            profile=_told_profile(own) or profile_name(slices, memory_bytes, total_bytes),
            memory_bytes=memory_bytes,
        )
        found.setdefault(gpu_instance_id, instance)
    return tuple(found[each] for each in sorted(found))


def profile_name(slices: int, memory_bytes: int, total_bytes: int) -> str:
    """Return the profile of an instance with that many slices and that memory.

    Its memory is named by the eighths of the GPU's that it takes.

    >>> profile_name(1, 4_864 * MIB, 40_960 * MIB)
    '1g.5gb'
    >>> profile_name(2, 20_096 * MIB, 81_559 * MIB)
    '2g.20gb'
    """
    if total_bytes <= 0:
        return f"{slices}g.{round(memory_bytes / GIB)}gb"
    eighths = ceil(memory_bytes / total_bytes * _MEMORY_SLICES)
    gigabytes = round(eighths / _MEMORY_SLICES * ceil(total_bytes / GIB))
    return f"{slices}g.{gigabytes}gb"


def _told_profile(handle: Handle) -> str:
    """Return the profile from the instance's own name; empty before driver 470 or so."""
    try:
        name = str(pynvml.nvmlDeviceGetName(handle))
    except pynvml.NVMLError:
        return ""
    _, _, profile = name.partition(" MIG ")
    compute, dot, rest = profile.partition(".")
    return rest if dot and compute.endswith("c") else profile  # 1c.3g.20gb is in 3g.20gb


def _handles(handle: Handle) -> Iterator[Handle]:
    for index in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            yield pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except pynvml.NVMLError_NotFound:
            continue
