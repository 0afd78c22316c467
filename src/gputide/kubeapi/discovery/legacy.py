"""The older form of discovery: a document a group, and one a group version."""

from collections.abc import Mapping, Sequence

from gputide.kubeapi.discovery.rows import resource_rows
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.registry import GroupVersion


def core_versions(versions: Sequence[GroupVersion], address: str) -> JsonObject:
    """Return the document of /api; `address` is where the client came in, host:port."""
    return {
        "kind": "APIVersions",
        "versions": [one.version for one in versions],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(groups: Mapping[str, Sequence[GroupVersion]]) -> JsonObject:
    """Return the document of /apis."""
    listed = [_group(name, versions) for name, versions in groups.items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}


def one_group(name: str, versions: Sequence[GroupVersion]) -> JsonObject:
    """Return the document of /apis/{group}."""
    return {"kind": "APIGroup", "apiVersion": "v1"} | _group(name, versions)


def resource_list(group: GroupVersion) -> JsonObject:
    """Return the document of /apis/{group}/{version}, or of /api/v1."""
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group.api_version,
        "resources": resource_rows(group),
    }


def _group(name: str, versions: Sequence[GroupVersion]) -> JsonObject:
    listed = [{"groupVersion": one.api_version, "version": one.version} for one in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}
