"""What we read of a pod as the Kubernetes API writes it, and its translation. Pure.

Fields that are not named here are passed over.
"""

import re
from collections.abc import Mapping

import msgspec

from gputide.exporter.model import Container
from gputide.exporter.owners.attribution import STATIC_POD_UID
from gputide.exporter.owners.model import Pod
from gputide.exporter.owners.settings import OwnerSettings
from gputide.exporter.owners.sharing import ANNOTATIONS
from gputide.exporter.owners.wire import MEMORY_RESOURCE

_OVER = frozenset({"Succeeded", "Failed"})
_KEPT_ANNOTATIONS = ANNOTATIONS | {STATIC_POD_UID}
_QUANTITY = re.compile(r"(\d{1,15})(k|M|G|Ki|Mi|Gi)?", re.ASCII)
_SCALES = {"k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, None: 1}


class Metadata(msgspec.Struct, frozen=True, rename="camel"):
    """`metadata` of a pod."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class Resources(msgspec.Struct, frozen=True, rename="camel"):
    """`resources` of a container."""

    limits: dict[str, str | int | float] | None = None


class ContainerSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A container as it is asked for."""

    name: str
    resources: Resources | None = None


class ContainerStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A container as it runs."""

    name: str
    container_id: str | None = msgspec.field(name="containerID", default=None)


class Spec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a pod."""

    containers: list[ContainerSpec] | None = None


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """`status` of a pod."""

    phase: str = ""
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    ephemeral_container_statuses: list[ContainerStatus] | None = None


def pod_from(metadata: Metadata, spec: Spec, status: Status, settings: OwnerSettings) -> Pod:
    """Return the pod, with no more of its labels and annotations than is asked for."""
    annotations = metadata.annotations or {}
    containers = spec.containers or []
    units = {each.name: _units(each) for each in containers}
    return Pod(
        owner=Container(
            namespace=metadata.namespace,
            pod=metadata.name,
            container="",
            pod_uid=metadata.uid,
            pod_labels=_labels(metadata.labels or {}, settings),
        ),
        annotations={
            name: value for name, value in annotations.items() if name in _KEPT_ANNOTATIONS
        },
        container_names=tuple(each.name for each in containers),
        container_ids=_container_ids(status),
        gpu_memory_units={name: count for name, count in units.items() if count},
        is_over=status.phase in _OVER,
        is_deleting=metadata.deletion_timestamp is not None,
    )


def _labels(labels: Mapping[str, str], settings: OwnerSettings) -> Mapping[str, str]:
    if not settings.has_pod_labels:
        return {}
    patterns = settings.pod_label_patterns
    return {
        name: value
        for name, value in labels.items()
        if not patterns or any(pattern.search(name) for pattern in patterns)
    }


def _container_ids(status: Status) -> Mapping[str, str]:
    statuses = (
        *(status.container_statuses or ()),
        *(status.init_container_statuses or ()),
        *(status.ephemeral_container_statuses or ()),
    )
    return {
        each.container_id.rpartition("//")[2]: each.name for each in statuses if each.container_id
    }


def _units(container: ContainerSpec) -> int:
    """Return the limit of shared memory; quantities of 1000 units come as `1k`."""
    limits = container.resources.limits if container.resources else None
    found = _QUANTITY.fullmatch(str((limits or {}).get(MEMORY_RESOURCE, "")))
    return int(found[1]) * _SCALES[found[2]] if found else 0
