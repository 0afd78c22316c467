"""The aggregated form of discovery, apidiscovery.k8s.io/v2 and v2beta1: all in one document."""

from collections.abc import Mapping, Sequence
from typing import Any

from gputide.kubeapi.discovery.rows import resource_rows
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.registry import GroupVersion

SUBRESOURCE = "subresources"


def aggregated(groups: Mapping[str, Sequence[GroupVersion]], version: str) -> JsonObject:
    """Return an APIGroupDiscoveryList; `version` is v2 or v2beta1."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group, "creationTimestamp": None},
                "versions": [_version(one) for one in versions],
            }
            for group, versions in groups.items()
        ],
    }


def _version(group: GroupVersion) -> JsonObject:
    is_known = group.proxied is None or group.proxied.resource_list() is not None
    return {
        "version": group.version,
        "resources": resources(group.group, group.version, resource_rows(group)),
        "freshness": "Current" if is_known else "Stale",
    }


def resources(group: str, version: str, rows: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the v2 form of an APIResourceList's rows.

    `parent/part` becomes a subresource; a parent that is not listed is made up. A part whose scope
    is not its parent's is left out: it would spoil the whole document for a client.
    """
    found: dict[str, JsonObject] = {}
    parts = []
    for row in rows:
        if "/" in row["name"]:
            parts.append(row)
        else:
            found[row["name"]] = _resource(group, version, row)
    for row in parts:
        parent, _, name = row["name"].partition("/")
        holder = found.setdefault(parent, _made_up(group, version, parent, row))
        if holder["scope"] == _scope(row):
            holder.setdefault(SUBRESOURCE, []).append(
                {
                    "subresource": name,
                    "responseKind": _kind(group, version, row),
                    "verbs": list(row["verbs"]),
                }
            )
    return list(found.values())


def _resource(group: str, version: str, row: JsonObject) -> JsonObject:
    resource: JsonObject = {
        "resource": row["name"],
        "responseKind": _kind(group, version, row),
        "scope": _scope(row),
        "singularResource": row.get("singularName", ""),
        "verbs": list(row["verbs"]),
    }
    for name in ("shortNames", "categories"):
        if row.get(name):
            resource[name] = list(row[name])
    return resource


def _made_up(group: str, version: str, name: str, part: JsonObject) -> JsonObject:
    return {
        "resource": name,
        "responseKind": _kind(group, version, part),  # null makes old clients crash
        "scope": _scope(part),
        "singularResource": "",
        "verbs": [],
    }


def _kind(group: str, version: str, row: Mapping[str, Any]) -> JsonObject:
    has_own = bool(row.get("version"))
    return {
        "group": row.get("group", "") if has_own else group,
        "version": row["version"] if has_own else version,
        "kind": row["kind"],
    }


def _scope(row: Mapping[str, Any]) -> str:
    return "Namespaced" if row["namespaced"] else "Cluster"
