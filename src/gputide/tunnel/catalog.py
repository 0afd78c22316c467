"""Names of the tunnel's own metrics, as data: name, kind, help."""

from gputide.exposition import Kind
from gputide.exposition.rows import MetricRow

_G, _A = "gputide_gateway_", "gputide_agent_"

BUILD = MetricRow(f"{_G}build_info", Kind.GAUGE, "Version of this gateway.")
AGENTS = MetricRow(f"{_G}agents", Kind.GAUGE, "Agents whose links are up.")
NODES = MetricRow(f"{_G}nodes", Kind.GAUGE, "Nodes by state: up, or gone but remembered.")
NODE_UP = MetricRow(f"{_G}node_up", Kind.GAUGE, "Whether a link to the node's agent is up.")
NODE_SEEN = MetricRow(
    f"{_G}node_last_seen_seconds", Kind.GAUGE, "Seconds since a link to the node's agent was up."
)
ROUND_TRIP = MetricRow(
    f"{_G}link_round_trip_seconds", Kind.GAUGE, "Newest round trip through the tunnel, by agent."
)
LINK_BYTES = MetricRow(
    f"{_G}link_bytes_total", Kind.COUNTER, "Bytes on the links, frames included, by direction."
)
EXCHANGES = MetricRow(f"{_G}exchanges", Kind.GAUGE, "Scrapes, pipes and calls under way.")
CERTIFICATE = MetricRow(
    f"{_G}agent_certificate_expiry_timestamp_seconds",
    Kind.GAUGE,
    "Unix time when an agent's certificate ends.",
)
SCRAPES = MetricRow(f"{_G}scrapes_total", Kind.COUNTER, "Scrapes by outcome.")
SCRAPE_SECONDS = MetricRow(
    f"{_G}scrape_seconds_total", Kind.COUNTER, "Time that served scrapes took, all together."
)
PIPES = MetricRow(f"{_G}pipes_total", Kind.COUNTER, "Raw connections by outcome.")
PAGE_BYTES = MetricRow(f"{_G}page_bytes_total", Kind.COUNTER, "Bytes of pages, unpacked.")
WIRE_BYTES = MetricRow(
    f"{_G}page_wire_bytes_total", Kind.COUNTER, "Bytes of the same pages as they travelled."
)
JOINS = MetricRow(f"{_G}joins_total", Kind.COUNTER, "Joins and renewals by outcome.")
REFUSED = MetricRow(
    f"{_G}refused_total", Kind.COUNTER, "Connections, agents and clients turned away, by reason."
)
BACKFILLED = MetricRow(
    f"{_G}backfilled_samples_total", Kind.COUNTER, "Samples of offline times by outcome."
)

AGENT_BUILD = MetricRow(f"{_A}build_info", Kind.GAUGE, "Version of this agent.")
AGENT_LINK_UP = MetricRow(f"{_A}link_up", Kind.GAUGE, "Whether the link to a gateway is up.")
AGENT_ROUND_TRIP = MetricRow(
    f"{_A}link_round_trip_seconds", Kind.GAUGE, "Newest round trip through the tunnel, by gateway."
)
AGENT_ATTEMPTS = MetricRow(f"{_A}dials_total", Kind.COUNTER, "Times that a gateway was dialled.")
AGENT_CERTIFICATE = MetricRow(
    f"{_A}certificate_expiry_timestamp_seconds", Kind.GAUGE, "Unix time when its certificate ends."
)
AGENT_PAGES = MetricRow(f"{_A}pages_total", Kind.COUNTER, "Pages fetched for gateways, by outcome.")
SPOOL_BYTES = MetricRow(f"{_A}spool_bytes", Kind.GAUGE, "Bytes of pages kept while cut off.")
SPOOL_PAGES = MetricRow(f"{_A}spool_pages", Kind.GAUGE, "Pages kept while cut off.")
SPOOL_LOST = MetricRow(
    f"{_A}spool_lost_pages_total", Kind.COUNTER, "Pages that the spool's bound pushed out."
)
