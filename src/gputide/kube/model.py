"""What a Kubernetes API server keeps and tells, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar
from urllib.parse import quote

JsonObject = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One kind of object and where it is served."""

    version: str
    plural: str
    kind: str
    group: str = ""
    """"" for the core group."""

    is_namespaced: bool = True

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """`plural.group`, as kubectl writes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the URL path of a collection (no name), an object or a subresource."""
        parts = ["apis", self.group] if self.group else ["api"]
        parts.append(self.version)
        if namespace and self.is_namespaced:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/" + "/".join(quote(part, safe="") for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObjectList(Generic[T]):
    """Objects of a list, and the version it shows."""

    items: tuple[T, ...]
    resource_version: str


class EventType(StrEnum):
    """What a watch tells."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WatchEvent(Generic[T]):
    """One event of a watch; `object` is None for a bookmark."""

    type: EventType
    object: T | None
    resource_version: str


class PatchType(StrEnum):
    """Media types of patches."""

    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


def name_of(obj: Mapping[str, Any]) -> tuple[str, str]:
    """Return namespace ("" for cluster-scoped) and name of an object."""
    metadata = obj.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def version_of(obj: Mapping[str, Any]) -> str:
    """Return an object's resourceVersion."""
    return str((obj.get("metadata") or {}).get("resourceVersion") or "")


PODS = ResourceType(version="v1", plural="pods", kind="Pod")
CONFIG_MAPS = ResourceType(version="v1", plural="configmaps", kind="ConfigMap")
SECRETS = ResourceType(version="v1", plural="secrets", kind="Secret")
NODES = ResourceType(version="v1", plural="nodes", kind="Node", is_namespaced=False)
NAMESPACES = ResourceType(version="v1", plural="namespaces", kind="Namespace", is_namespaced=False)
SERVICES = ResourceType(version="v1", plural="services", kind="Service")
EVENTS = ResourceType(version="v1", plural="events", kind="Event")
DEPLOYMENTS = ResourceType(group="apps", version="v1", plural="deployments", kind="Deployment")
STATEFUL_SETS = ResourceType(group="apps", version="v1", plural="statefulsets", kind="StatefulSet")
REPLICA_SETS = ResourceType(group="apps", version="v1", plural="replicasets", kind="ReplicaSet")
LEASES = ResourceType(group="coordination.k8s.io", version="v1", plural="leases", kind="Lease")
AUTOSCALERS = ResourceType(
    group="autoscaling.alibabacloud.com",
    version="v1beta1",
    plural="advancedhorizontalpodautoscalers",
    kind="AdvancedHorizontalPodAutoscaler",
)
HORIZONTAL_POD_AUTOSCALERS = ResourceType(
    group="autoscaling",
    version="v2",
    plural="horizontalpodautoscalers",
    kind="HorizontalPodAutoscaler",
)
CUSTOM_RESOURCE_DEFINITIONS = ResourceType(
    group="apiextensions.k8s.io",
    version="v1",
    plural="customresourcedefinitions",
    kind="CustomResourceDefinition",
    is_namespaced=False,
)
TOKEN_REVIEWS = ResourceType(
    group="authentication.k8s.io",
    version="v1",
    plural="tokenreviews",
    kind="TokenReview",
    is_namespaced=False,
)
SUBJECT_ACCESS_REVIEWS = ResourceType(
    group="authorization.k8s.io",
    version="v1",
    plural="subjectaccessreviews",
    kind="SubjectAccessReview",
    is_namespaced=False,
)
