"""What a gateway knows of one node, for `gputide doctor`. Pure."""

import msgspec

from gputide.tunnel.gateway.registry import Registry
from gputide.tunnel.model import TunnelRefusedError


class NodeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One node, as JSON."""

    is_up: bool
    why: str = ""
    """Why no link serves it; empty while one does."""

    agent: str = ""
    site: str = ""
    round_trip_seconds: float | None = None
    """Through the tunnel to its agent and back; None: not measured yet."""

    certificate_ends_seconds: float | None = None
    """Unix time."""


def node_status(registry: Registry, node: str, *, now_seconds: float) -> NodeStatus:
    """Return the status of a node, also of one that was never heard of; monotonic time."""
    try:
        connection = registry.find(node, now_seconds=now_seconds)
    except TunnelRefusedError as error:
        seen = registry.nodes.get(node)
        agent, site = ("", "") if seen is None else (seen.agent, seen.site)
        return NodeStatus(is_up=False, why=str(error), agent=agent, site=site)
    return NodeStatus(
        is_up=True,
        agent=connection.name,
        site=connection.identity.site,
        round_trip_seconds=connection.link.round_trip_seconds,
        certificate_ends_seconds=connection.identity.not_after_seconds,
    )
