"""What an agent knows of itself, as families."""

from gputide import __version__
from gputide.exposition import Family
from gputide.exposition.rows import Rows, Value, by, families, one
from gputide.tunnel import catalog
from gputide.tunnel.agent.run import Agent


def agent_families(agent: Agent) -> tuple[Family, ...]:
    """Return the families of an agent."""
    up: list[Value] = []
    trips: list[Value] = []
    attempts: list[Value] = []
    for name, entry in sorted(agent.dialer.links.items()):
        labels = (("gateway", name),)
        link = entry.link
        up.append((labels, float(link is not None and link.can_open)))
        attempts.append((labels, float(entry.attempts)))
        if link is not None and link.round_trip_seconds is not None:
            trips.append((labels, link.round_trip_seconds))
    rows: Rows = {
        catalog.AGENT_BUILD: [((("version", __version__),), 1.0)],
        catalog.AGENT_LINK_UP: up,
        catalog.AGENT_ROUND_TRIP: trips,
        catalog.AGENT_ATTEMPTS: attempts,
        catalog.AGENT_CERTIFICATE: one(agent.files.identity().not_after_seconds),
        **_spool(agent),
        catalog.AGENT_PAGES: by("outcome", agent.fetcher.outcomes),
    }
    return families(rows)


def _spool(agent: Agent) -> Rows:
    if agent.spool is None:
        return {}
    return {
        catalog.SPOOL_BYTES: one(agent.spool.size_bytes),
        catalog.SPOOL_PAGES: one(agent.spool.page_count),
        catalog.SPOOL_LOST: one(agent.spool.lost.pages),
    }
