from types import SimpleNamespace
from typing import Any, cast

from gputide.tunnel.gateway.node_status import node_status
from gputide.tunnel.gateway.registry import Connection, Registry
from gputide.tunnel.link import Link
from gputide.tunnel.model import Identity


def registry() -> tuple[Registry, Connection]:
    link: Any = SimpleNamespace(
        can_open=True, round_trip_seconds=0.08, bytes_received=0, bytes_sent=0
    )
    made = Registry()
    connection = Connection(
        identity=Identity(
            name="agent-1", site="s1", nodes=("edge-*",), serial=1, not_after_seconds=9e9
        ),
        link=cast("Link", link),
        nodes=("edge-1",),
        address="10.0.0.1",
        since_seconds=0,
    )
    made.add(connection, now_seconds=0)
    return made, connection


def test_a_node_that_is_served_names_its_agent_and_how_far_it_is() -> None:
    found = node_status(registry()[0], "edge-1", now_seconds=5)
    assert (found.is_up, found.why) == (True, "")
    assert (found.agent, found.site, found.round_trip_seconds) == ("agent-1", "s1", 0.08)
    assert found.certificate_ends_seconds == 9e9


def test_a_node_that_has_gone_says_since_when_and_whose_it_was() -> None:
    made, connection = registry()
    made.remove(connection, why="the connection was cut", now_seconds=10)
    found = node_status(made, "edge-1", now_seconds=310)
    assert not found.is_up
    assert found.why == "edge-1 offline 5m (site s1, no link: the connection was cut)"
    assert (found.agent, found.site) == ("agent-1", "s1")


def test_a_node_that_was_never_heard_of_is_no_error() -> None:
    found = node_status(Registry(), "edge-9", now_seconds=0)
    assert (found.is_up, found.agent, found.site) == (False, "", "")
    assert "no agent ever spoke for it here" in found.why
