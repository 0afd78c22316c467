"""Kubernetes' own kinds as data: which names in a series' labels are resources, and of which group.

prometheus-adapter asks its cluster's discovery for that. A label such as `instance` or `UUID` is
none, and `deployment` is one of the group `apps`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gputide.metricsapi.ports import Resource


@dataclass(frozen=True, slots=True)
class KnownKind:
    """A kind as discovery would list it."""

    singular: str
    resource: Resource
    is_namespaced: bool = True


_NAMESPACED: Mapping[str, str] = {
    "": "pod/pods service/services endpoints/endpoints configmap/configmaps secret/secrets "
    "serviceaccount/serviceaccounts persistentvolumeclaim/persistentvolumeclaims "
    "replicationcontroller/replicationcontrollers resourcequota/resourcequotas",
    "apps": "deployment/deployments statefulset/statefulsets daemonset/daemonsets "
    "replicaset/replicasets",
    "batch": "job/jobs cronjob/cronjobs",
    "networking.k8s.io": "ingress/ingresses networkpolicy/networkpolicies",
    "autoscaling": "horizontalpodautoscaler/horizontalpodautoscalers",
    "autoscaling.alibabacloud.com": (
        "advancedhorizontalpodautoscaler/advancedhorizontalpodautoscalers"
    ),
    "policy": "poddisruptionbudget/poddisruptionbudgets",
}
_CLUSTER_SCOPED: Mapping[str, str] = {
    "": "node/nodes namespace/namespaces persistentvolume/persistentvolumes",
    "storage.k8s.io": "storageclass/storageclasses",
}


def _kinds(groups: Mapping[str, str], *, is_namespaced: bool) -> Iterator[KnownKind]:
    for group, names in groups.items():
        for one in names.split():
            singular, plural = one.split("/")
            yield KnownKind(singular, Resource(plural=plural, group=group), is_namespaced)


KINDS: tuple[KnownKind, ...] = (
    *_kinds(_NAMESPACED, is_namespaced=True),
    *_kinds(_CLUSTER_SCOPED, is_namespaced=False),
)
_BY_NAME: Mapping[str, KnownKind] = {
    name: kind for kind in KINDS for name in (kind.singular, kind.resource.plural)
}
_BY_RESOURCE: Mapping[Resource, KnownKind] = {kind.resource: kind for kind in KINDS}


def known_kind(name: str, group: str = "") -> KnownKind | None:
    """Return the kind of a name, singular or plural; None where Kubernetes itself has none.

    Without a group the name says it; a group may be written as in a label, with _ for . and -.

    >>> known_kind("deployment").resource.qualified, known_kind("job", "batch").resource.plural
    ('deployments.apps', 'jobs')
    >>> known_kind("instance"), known_kind("pod", "apps")
    (None, None)
    """
    kind = _BY_NAME.get(name.lower())
    if kind is None or (group and _as_in_labels(group) != _as_in_labels(kind.resource.group)):
        return None
    return kind


def is_namespaced(resource: Resource) -> bool:
    """Return whether its objects live in namespaces; what is not known here is taken to."""
    kind = _BY_RESOURCE.get(resource)
    return kind is None or kind.is_namespaced


def _as_in_labels(group: str) -> str:
    return group.replace(".", "_").replace("-", "_")
