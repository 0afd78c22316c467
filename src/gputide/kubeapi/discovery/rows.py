"""The rows of an APIResourceList, which both forms of discovery are made of."""

from collections.abc import Iterator

from gputide.kubeapi.model import ComputedResource, JsonObject, Kind, Scope
from gputide.kubeapi.registry import GroupVersion, Virtual

VERBS = (
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
)  # fmt: skip
PART_VERBS = ("get", "patch", "update")


def resource_rows(group: GroupVersion) -> list[JsonObject]:
    """Return the rows of a group version; [] where another server's are not known."""
    rows = [row for kind in group.kinds.values() for row in _kind_rows(kind)]
    rows += [_virtual_row(one) for one in group.virtual.values()]
    if group.computed is not None:
        rows += [_computed_row(one) for one in group.computed.resources()]
    if group.proxied is not None:
        rows += list((group.proxied.resource_list() or {}).get("resources") or [])
    return rows


def _kind_rows(kind: Kind) -> Iterator[JsonObject]:
    row: JsonObject = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.scope is Scope.NAMESPACED,
        "kind": kind.kind,
        "verbs": list(VERBS),
    }
    if kind.short_names:
        row["shortNames"] = list(kind.short_names)
    if kind.categories:
        row["categories"] = list(kind.categories)
    yield row
    part = {"singularName": "", "namespaced": row["namespaced"], "verbs": list(PART_VERBS)}
    if kind.has_status:
        yield {"name": f"{kind.plural}/status", "kind": kind.kind} | part
    if kind.scale is not None:
        scale = {"name": f"{kind.plural}/scale", "kind": "Scale"}
        yield scale | {"group": "autoscaling", "version": "v1"} | part


def _virtual_row(one: Virtual) -> JsonObject:
    row: JsonObject = {
        "name": one.name,
        "singularName": "" if "/" in one.name else one.kind.lower(),
        "namespaced": one.is_namespaced,
        "kind": one.kind,
        "verbs": list(one.verbs),
    }
    if one.response_version:
        row |= {"group": one.response_group, "version": one.response_version}
    return row


def _computed_row(one: ComputedResource) -> JsonObject:
    row: JsonObject = {
        "name": one.name,
        "singularName": one.singular,
        "namespaced": one.is_namespaced,
        "kind": one.kind,
        "verbs": list(one.verbs),
    }
    return row | ({"shortNames": list(one.short_names)} if one.short_names else {})
