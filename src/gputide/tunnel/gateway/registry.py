"""Which agents are here, which nodes they speak for, and who was seen last and when."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gputide.durations import span
from gputide.tunnel.link import Link
from gputide.tunnel.model import Identity, TunnelRefusedError
from gputide.tunnel.pages import PageShelf
from gputide.tunnel.protocol import Code

MAX_REMEMBERED_NODES = 50_000


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    """One agent's link, with what its certificate and its hello say."""

    identity: Identity
    link: Link
    nodes: tuple[str, ...]
    """What it announces, within what its certificate holds."""

    address: str
    since_seconds: float
    """Monotonic."""

    shelf: PageShelf = field(default_factory=PageShelf)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.identity.name


@dataclass(slots=True, kw_only=True)
class Seen:
    """A node as this gateway remembers it, also after it is gone."""

    site: str
    agent: str
    at_seconds: float
    """Monotonic time when its last link ended, or of now while one is up."""

    is_up: bool
    why: str = ""
    """How its last link ended."""


class Registry:
    """Links by node; the newest healthy one serves. Departed nodes are remembered, bounded."""

    def __init__(self) -> None:
        self._by_node: dict[str, list[Connection]] = {}
        self._connections: list[Connection] = []
        self._seen: dict[str, Seen] = {}
        self.gone_bytes_received = 0
        """Of links that are down, so that the counters never go back."""

        self.gone_bytes_sent = 0

    def __iter__(self) -> Iterator[Connection]:
        return iter(tuple(self._connections))

    def __len__(self) -> int:
        return len(self._connections)

    @property
    def nodes(self) -> dict[str, Seen]:
        """All nodes ever seen (bounded), up or gone, by name."""
        return dict(self._seen)

    def add(self, connection: Connection, *, now_seconds: float) -> None:
        """Take up an agent; its links to the same nodes that are older serve no new requests."""
        self._connections.append(connection)
        self.announce(connection, connection.nodes, now_seconds=now_seconds)

    def announce(
        self, connection: Connection, nodes: tuple[str, ...], *, now_seconds: float
    ) -> None:
        """Note which nodes an agent speaks for now, within its certificate."""
        self._drop_nodes(connection)
        connection.nodes = tuple(node for node in nodes if connection.identity.holds(node))
        for node in connection.nodes:
            self._by_node.setdefault(node, []).insert(0, connection)
            self._seen.pop(node, None)
            self._seen[node] = Seen(
                site=connection.identity.site,
                agent=connection.name,
                at_seconds=now_seconds,
                is_up=True,
            )
        while len(self._seen) > MAX_REMEMBERED_NODES:
            self._seen.pop(next(iter(self._seen)))

    def remove(self, connection: Connection, *, why: str, now_seconds: float) -> None:
        """Forget a link that is down; its nodes stay known as gone."""
        self._connections.remove(connection)
        self.gone_bytes_received += connection.link.bytes_received
        self.gone_bytes_sent += connection.link.bytes_sent
        for node in connection.nodes:
            seen = self._seen.get(node)
            if seen is not None and all(one is connection for one in self._by_node.get(node, [])):
                seen.is_up, seen.at_seconds, seen.why = False, now_seconds, why
        self._drop_nodes(connection)

    def find(self, node: str, *, now_seconds: float) -> Connection:
        """Return the link that serves a node, or raise TunnelRefusedError that says why none."""
        usable = [one for one in self._by_node.get(node, []) if one.link.can_open]
        if usable:
            return usable[0]
        seen = self._seen.get(node)
        if seen is None:
            raise TunnelRefusedError(Code.UNKNOWN_NODE, f"{node}: no agent ever spoke for it here")
        gone = max(now_seconds - seen.at_seconds, 0)
        why = f": {seen.why}" if seen.why else ""
        raise TunnelRefusedError(
            Code.GONE, f"{node} offline {span(gone)} (site {seen.site or '?'}, no link{why})"
        )

    def _drop_nodes(self, connection: Connection) -> None:
        for node in connection.nodes:
            left = [one for one in self._by_node.get(node, []) if one is not connection]
            if left:
                self._by_node[node] = left
            else:
                self._by_node.pop(node, None)
