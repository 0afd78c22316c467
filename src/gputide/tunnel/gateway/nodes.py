"""Kubernetes' nodes: which are reached through the tunnel, and at which addresses. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gputide.tunnel.gateway.registry import Seen

MODE_ANNOTATION = "gputide.io/tunnel"
DIRECT = "direct"
INTERCONNECTION_LABEL = "alibabacloud.com/interconnection-mode"
PRIVATE_LINE = "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A node of the cluster, as far as its name and address matter."""

    name: str
    addresses: tuple[str, ...]
    """Its InternalIP addresses, else its external ones."""

    is_direct: bool
    """Reached at its own address although an agent speaks for it (a private line)."""


def node_from(obj: Mapping[str, Any]) -> ClusterNode | None:
    """Return what a Node object says; None for one without a name."""
    metadata = obj.get("metadata") or {}
    name = metadata.get("name")
    if not name:
        return None
    found: dict[str, list[str]] = {}
    for one in (obj.get("status") or {}).get("addresses") or ():
        found.setdefault(str(one.get("type")), []).append(str(one.get("address")))
    mode = (metadata.get("annotations") or {}).get(MODE_ANNOTATION)
    link = (metadata.get("labels") or {}).get(INTERCONNECTION_LABEL)
    return ClusterNode(
        name=str(name),
        addresses=tuple(found.get("InternalIP") or found.get("ExternalIP") or ()),
        is_direct=mode == DIRECT or (mode is None and link == PRIVATE_LINE),
    )


def name_entries(
    cluster: Iterable[ClusterNode], seen: Mapping[str, Seen], gateway_addresses: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Return name -> addresses: nodes that agents speak for at the gateways, others at their own.

    A node that was here and is gone stays at the gateways, whose refusal says why it is gone; at
    its own address a scrape would only time out.
    """
    entries: dict[str, tuple[str, ...]] = {}
    direct: set[str] = set()
    for node in cluster:
        if node.is_direct or node.name not in seen:
            direct.add(node.name)
            if node.addresses:
                entries[node.name] = node.addresses
    for name in seen:
        if name not in direct and gateway_addresses:
            entries[name] = gateway_addresses
    return entries
