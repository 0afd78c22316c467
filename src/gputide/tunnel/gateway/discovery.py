"""Targets for Prometheus' http_sd: every node ever seen, so that a gone one is down, not absent."""

from collections.abc import Mapping
from typing import Any

from gputide.tunnel.gateway.registry import Registry, Seen


def target_groups(registry: Registry, *, port: int) -> list[dict[str, Any]]:
    """Return http_sd's JSON: one group a node, with its site and agent as labels."""
    return [
        {"targets": [f"{node}:{port}"], "labels": labels_of(node, seen)}
        for node, seen in sorted(registry.nodes.items())
    ]


def labels_of(node: str, seen: Seen) -> Mapping[str, str]:
    """Return a target's labels; those with __meta_ are for relabelling alone."""
    return {
        "node": node,
        "site": seen.site,
        "__meta_gputide_agent": seen.agent,
        "__meta_gputide_up": "true" if seen.is_up else "false",
    }
