"""Shares of GPUs that a scheduler wrote into a pod's annotations. Pure.

Three generations of Alibaba Cloud's shared GPU scheduling, newest first, and HAMi's:

- `gpushare.alibabacloud.com/gpumemory`, `scheduler.framework.gpushare.allocation`: JSON, memory by
  container index and GPU index: `{"0":{"1":4}}`; `gpushare.alibabacloud.com/core-percentage` has
  the same shape; `gpushare.alibabacloud.com/device-resource` has the memory of each GPU.
- `ALIYUN_COM_GPU_MEM_IDX`, `_POD`, `_DEV`: one GPU for the pod, its memory, the GPU's memory.
- `hami.io/vgpu-devices-allocated`: `GPU-uuid,NVIDIA,<MiB>,<percent>:` for each GPU, `;` after each
  container.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeVar

import msgspec

from gputide.exporter.owners.settings import MemoryUnit
from gputide.exporter.ports import PodRecord

INDEX_V1 = "ALIYUN_COM_GPU_MEM_IDX"
POD_V1 = "ALIYUN_COM_GPU_MEM_POD"
DEVICE_V1 = "ALIYUN_COM_GPU_MEM_DEV"
ALLOCATION_V2 = "scheduler.framework.gpushare.allocation"
ALLOCATION_V3 = "gpushare.alibabacloud.com/gpumemory"
CORE_PERCENTAGE = "gpushare.alibabacloud.com/core-percentage"
DEVICE_RESOURCE = "gpushare.alibabacloud.com/device-resource"
HAMI = "hami.io/vgpu-devices-allocated"
ANNOTATIONS = frozenset(
    {
        *(INDEX_V1, POD_V1, DEVICE_V1, ALLOCATION_V2, ALLOCATION_V3),
        *(CORE_PERCENTAGE, DEVICE_RESOURCE, HAMI),
    }
)
MAX_UNITS = 2**40

_Units = Annotated[int, msgspec.Meta(ge=0, le=MAX_UNITS)]
_ByDevice = dict[int, _Units]
_ByContainer = dict[int, _ByDevice]
_Percent = dict[int, dict[int, Annotated[float, msgspec.Meta(ge=0, le=100)]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A container's share of one GPU, as a scheduler wrote it."""

    container: str
    device: int | str
    """Index or UUID."""

    units: int | None
    """Of memory; None where nobody says."""

    unit: MemoryUnit = MemoryUnit.AUTO
    """Of `units`; AUTO is the node's."""

    compute_ratio: float | None = 0
    """Share of the GPU's compute, 0 to 1; 0 = no limit, None where it cannot be read."""

    annotation: str
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What one pod's annotations say, and what is wrong with them."""

    grants: tuple[Grant, ...] = ()
    device_units: tuple[int, ...] = ()
    """Memory of whole GPUs in the node's unit, by which the unit is told."""

    problems: tuple[str, ...] = ()
    is_annotated: bool = False
    """Whether there is an annotation at all, readable or not."""


class _AnnotationError(Exception):
    """An annotation cannot be used."""

    def __init__(self, annotation: str, problem: str) -> None:
        super().__init__(problem)
        self.annotation = annotation


def grants_of(pod: PodRecord) -> Grants:
    """Return the shares that a pod's annotations name; problems name the pod and annotation."""
    for annotation, parse in _PARSERS:
        if pod.annotations.get(annotation, "").strip():
            try:
                return parse(pod, annotation)
            except _AnnotationError as error:
                problem = _problem(pod, error.annotation, str(error))
                return Grants(problems=(problem,), is_annotated=True)
    return Grants()


def _problem(pod: PodRecord, annotation: str, problem: str) -> str:
    return f"pod {pod.owner.namespace}/{pod.owner.pod}: annotation {annotation}: {problem}"


def _from_json(pod: PodRecord, annotation: str) -> Grants:
    memory = _json(pod, annotation, _ByContainer)
    problems: list[str] = []
    compute: _Percent | None = {}
    totals: _ByDevice = {}
    try:
        if CORE_PERCENTAGE in pod.annotations:
            compute = None
            compute = _json(pod, CORE_PERCENTAGE, _Percent)
        if DEVICE_RESOURCE in pod.annotations:
            totals = _json(pod, DEVICE_RESOURCE, _ByDevice)
    except _AnnotationError as error:  # the memory is known all the same
        problems.append(_problem(pod, error.annotation, str(error)))
    grants = tuple(
        Grant(
            container=_container(pod, annotation, index),
            device=device,
            units=units,
            compute_ratio=_ratio(compute, index, device),
            annotation=annotation,
        )
        for index, by_device in memory.items()
        for device, units in by_device.items()
    )
    return Grants(
        grants=grants,
        device_units=tuple(totals.values()),
        problems=tuple(problems),
        is_annotated=True,
    )


def _ratio(compute: _Percent | None, index: int, device: int) -> float | None:
    if compute is None:
        return None
    return compute.get(index, {}).get(device, 0) / 100


def _from_index(pod: PodRecord, annotation: str) -> Grants:
    """Read the first generation: it knows the pod as a whole, so containers go by their limits."""
    device = _whole(pod, annotation)
    total = _whole(pod, POD_V1) if pod.annotations.get(POD_V1) else None
    card = _whole(pod, DEVICE_V1) if pod.annotations.get(DEVICE_V1) else None
    limits: Mapping[str, int | None] = dict(pod.gpu_memory_units)
    if len(limits) <= 1:
        names = tuple(limits) or pod.container_names or ("",)
        known = total if total is not None else next(iter(limits.values()), None)
        # Without limits nobody says which container of several has how much.
        limits = dict.fromkeys(names, known if len(names) == 1 else None)
    return Grants(
        grants=tuple(
            Grant(container=name, device=device, units=units, annotation=annotation)
            for name, units in limits.items()
        ),
        device_units=() if card is None else (card,),
        is_annotated=True,
    )


def _from_hami(pod: PodRecord, annotation: str) -> Grants:
    grants = tuple(
        _hami_grant(pod, annotation, index, device.strip())
        for index, container in enumerate(pod.annotations[annotation].split(";"))
        for device in container.split(":")
        if device.strip()
    )
    return Grants(grants=grants, is_annotated=True)


def _hami_grant(pod: PodRecord, annotation: str, index: int, device: str) -> Grant:
    parts = device.split(",")
    if len(parts) < 4 or not all(_is_number(part) for part in parts[2:4]):
        raise _AnnotationError(
            annotation, f"{device[:80]!r} is not a UUID, a type, MiB and percent by commas"
        )
    return Grant(
        container=_container(pod, annotation, index),
        device=parts[0],
        units=int(parts[2]),
        unit=MemoryUnit.MIB,
        compute_ratio=min(int(parts[3]), 100) / 100,
        annotation=annotation,
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def _container(pod: PodRecord, annotation: str, index: int) -> str:
    if not 0 <= index < len(pod.container_names):
        count = len(pod.container_names)
        raise _AnnotationError(annotation, f"names container {index} of {count}")
    return pod.container_names[index]


def _whole(pod: PodRecord, annotation: str) -> int:
    text = pod.annotations[annotation].strip()
    if not _is_number(text):
        raise _AnnotationError(annotation, f"{text[:80]!r} is not a whole number")
    return int(text)


_Shape = TypeVar("_Shape")


def _json(pod: PodRecord, annotation: str, shape: type[_Shape]) -> _Shape:
    try:
        return msgspec.json.decode(pod.annotations[annotation], type=shape, strict=False)
    except msgspec.ValidationError as error:
        raise _AnnotationError(annotation, f"not the expected shape: {error}") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _AnnotationError(annotation, f"is not JSON: {error}") from error


_PARSERS: tuple[tuple[str, Callable[[PodRecord, str], Grants]], ...] = (
    (ALLOCATION_V3, _from_json),
    (ALLOCATION_V2, _from_json),
    (INDEX_V1, _from_index),
    (HAMI, _from_hami),
)
