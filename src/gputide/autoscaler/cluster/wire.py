"""What is kept of the cluster's objects: as little as decisions need. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gputide.autoscaler.model import Pod
from gputide.errors import SettingError
from gputide.scaling import Autoscaler, TargetRef, read_autoscaler
from gputide.scaling.quantity import parse_quantity

JsonObject = Mapping[str, Any]

WATCHED_GROUP = "apps"
WATCHED_KINDS = frozenset({"Deployment", "StatefulSet", "ReplicaSet"})


@dataclass(frozen=True, slots=True)
class Declared:
    """An AdvancedHorizontalPodAutoscaler: what it asks for, or why it cannot be read."""

    namespace: str
    name: str
    uid: str
    generation: int
    created: str
    autoscaler: Autoscaler | None
    problem: str
    status: JsonObject
    """As the server has it."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment, StatefulSet or ReplicaSet."""

    uid: str
    replicas: int
    selector: Mapping[str, str]
    requests: Mapping[str, float]
    """What one of its pods asks for."""

    owner_uid: str = ""


@dataclass(frozen=True, slots=True)
class SeenPod:
    """A pod that counts."""

    pod: Pod
    owner_uid: str
    """Of the controller that made it; "" for none."""


def declared_from(obj: JsonObject, *, default_time_zone: str) -> Declared:
    """Return what an autoscaler object says; a bad one is kept, with its problem."""
    metadata = obj.get("metadata") or {}
    autoscaler, problem = None, ""
    try:
        autoscaler = read_autoscaler(_plain(obj), default_time_zone=default_time_zone)
    except SettingError as error:
        problem = str(error)
    return Declared(
        namespace=str(metadata.get("namespace") or "default"),
        name=str(metadata.get("name") or ""),
        uid=str(metadata.get("uid") or ""),
        generation=int(metadata.get("generation") or 0),
        created=str(metadata.get("creationTimestamp") or ""),
        autoscaler=autoscaler,
        problem=problem,
        status=obj.get("status") or {},
    )


def _plain(obj: JsonObject) -> dict[str, Any]:
    """Return the object without its status, which is ours and no part of what is asked for."""
    return {name: value for name, value in obj.items() if name != "status"}


def workload_from(obj: JsonObject) -> Workload | None:
    """Return a workload; None for one whose spec cannot be read."""
    metadata, spec = obj.get("metadata") or {}, obj.get("spec") or {}
    selector = (spec.get("selector") or {}).get("matchLabels") or {}
    template = (spec.get("template") or {}).get("spec") or {}
    replicas = spec.get("replicas")
    return Workload(
        uid=str(metadata.get("uid") or ""),
        replicas=1 if replicas is None else int(replicas),  # Kubernetes' default
        selector=dict(selector),
        requests=requests_of(template),
        owner_uid=owner_of(metadata),
    )


def requests_of(pod_spec: JsonObject) -> dict[str, float]:
    """Return what a pod of this spec asks for, in base units; limits stand in for requests."""
    total: dict[str, float] = {}
    for container in pod_spec.get("containers") or ():
        resources = container.get("resources") or {}
        asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
        for name, quantity in asked.items():
            try:
                total[name] = total.get(name, 0.0) + parse_quantity(quantity, setting=name)
            except SettingError:
                continue  # the API server lets none through; an unknown request is no request
    return total


def pod_from(obj: JsonObject) -> SeenPod | None:
    """Return a pod that counts; None for one that ends or has ended."""
    metadata, status = obj.get("metadata") or {}, obj.get("status") or {}
    if metadata.get("deletionTimestamp") or status.get("phase") in ("Succeeded", "Failed"):
        return None
    is_ready = any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )
    pod = Pod(name=str(metadata.get("name") or ""), is_ready=is_ready)
    return SeenPod(pod=pod, owner_uid=owner_of(metadata))


def owner_of(metadata: JsonObject) -> str:
    """Return the uid of the controller that owns an object; "" for none."""
    for one in metadata.get("ownerReferences") or ():
        if one.get("controller"):
            return str(one.get("uid") or "")
    return ""


@dataclass(frozen=True, slots=True)
class OtherScaler:
    """A HorizontalPodAutoscaler and what it scales."""

    name: str
    target_group: str
    target_kind: str
    target_name: str


def scaler_from(obj: JsonObject) -> OtherScaler | None:
    """Return what an HPA scales."""
    ref = (obj.get("spec") or {}).get("scaleTargetRef") or {}
    name = str((obj.get("metadata") or {}).get("name") or "")
    return OtherScaler(
        name,
        group_of(str(ref.get("apiVersion") or "apps/v1")),
        str(ref.get("kind") or ""),
        str(ref.get("name") or ""),
    )


def group_of(api_version: str) -> str:
    """Return the group of an apiVersion; "" for the core group.

    >>> group_of("apps/v1"), group_of("v1")
    ('apps', '')
    """
    return api_version.rpartition("/")[0]


def is_watched(ref: TargetRef) -> bool:
    """Whether a target is of a kind that there is a copy of.

    The group counts: others have kinds of the same name, such as apps.kruise.io's StatefulSet.
    """
    return group_of(ref.api_version) == WATCHED_GROUP and ref.kind in WATCHED_KINDS
