"""What a gateway knows of itself, as families. Pure but for the time it is given."""

from collections import Counter

from gputide import __version__
from gputide.exposition import Family
from gputide.exposition.rows import Rows, Value, by, families, one
from gputide.tunnel import catalog
from gputide.tunnel.gateway.door import Door
from gputide.tunnel.gateway.registry import Registry
from gputide.tunnel.gateway.service import GatewayService


def gateway_families(
    registry: Registry,
    service: GatewayService,
    door: Door,
    counts: "Counts",
    *,
    now_seconds: float,
) -> tuple[Family, ...]:
    """Return the families of a gateway at a monotonic time."""
    refused = Counter(door.refused)
    for name, counter in counts.refused.items():
        refused.update({f"{name}_{reason}": number for reason, number in counter.items()})
    rows: Rows = {
        catalog.BUILD: [((("version", __version__),), 1.0)],
        catalog.AGENTS: one(len(registry)),
        catalog.NODES: by("state", _states(registry)),
        **_nodes(registry, now_seconds),
        **_links(registry),
        catalog.SCRAPES: by("outcome", service.scrapes),
        catalog.SCRAPE_SECONDS: one(service.seconds_total),
        catalog.PIPES: by("outcome", service.pipes),
        catalog.PAGE_BYTES: one(service.page_bytes),
        catalog.WIRE_BYTES: one(service.wire_bytes),
        catalog.JOINS: by("outcome", counts.joins),
        catalog.REFUSED: by("reason", refused),
        catalog.BACKFILLED: by("outcome", counts.backfilled),
    }
    return families(rows)


class Counts:
    """Counters that live elsewhere, by name."""

    def __init__(self) -> None:
        self.refused: dict[str, Counter[str]] = {}
        """Per listener: `agents`, `port_9400`, ..."""

        self.joins: Counter[str] = Counter()
        self.backfilled: Counter[str] = Counter()


def _states(registry: Registry) -> dict[str, float]:
    states = Counter("up" if seen.is_up else "gone" for seen in registry.nodes.values())
    return {"up": states["up"], "gone": states["gone"]}


def _nodes(registry: Registry, now_seconds: float) -> Rows:
    up: list[Value] = []
    seen_ago: list[Value] = []
    for node, seen in sorted(registry.nodes.items()):
        labels = (("node", node), ("site", seen.site))
        up.append((labels, float(seen.is_up)))
        ago = 0.0 if seen.is_up else max(now_seconds - seen.at_seconds, 0.0)
        seen_ago.append((labels, ago))
    return {catalog.NODE_UP: up, catalog.NODE_SEEN: seen_ago}


def _links(registry: Registry) -> Rows:
    round_trips: list[Value] = []
    ends: list[Value] = []
    received = sent = exchanges = 0
    for connection in registry:
        labels = (("agent", connection.name), ("site", connection.identity.site))
        link = connection.link
        if link.round_trip_seconds is not None:
            round_trips.append((labels, link.round_trip_seconds))
        ends.append((labels, connection.identity.not_after_seconds))
        received += link.bytes_received
        sent += link.bytes_sent
        exchanges += link.exchange_count
    received += registry.gone_bytes_received
    sent += registry.gone_bytes_sent
    return {
        catalog.ROUND_TRIP: round_trips,
        catalog.CERTIFICATE: ends,
        catalog.LINK_BYTES: by("direction", {"received": received, "sent": sent}),
        catalog.EXCHANGES: one(exchanges),
    }
