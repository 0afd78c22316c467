from types import SimpleNamespace
from typing import Any, cast

import pytest

from gputide.tunnel.gateway.discovery import target_groups
from gputide.tunnel.gateway.registry import Connection, Registry
from gputide.tunnel.gateway.status import render_status
from gputide.tunnel.link import Link
from gputide.tunnel.model import Identity, TunnelRefusedError
from gputide.tunnel.protocol import Code


def connection(name: str, *nodes: str, held: tuple[str, ...] = ("edge-*",)) -> Connection:
    identity = Identity(name=name, site="s1", nodes=held, serial=1, not_after_seconds=9e9)
    link: Any = SimpleNamespace(
        can_open=True,
        round_trip_seconds=0.08,
        bytes_received=10,
        bytes_sent=5,
        exchange_count=0,
    )
    return Connection(
        identity=identity,
        link=cast("Link", link),
        nodes=nodes,
        address="10.0.0.1",
        since_seconds=0,
    )


def refusal(registry: Registry, node: str, now: float) -> TunnelRefusedError:
    with pytest.raises(TunnelRefusedError) as caught:
        registry.find(node, now_seconds=now)
    return caught.value


def test_the_newest_link_serves_and_the_older_one_takes_over_when_it_ends() -> None:
    registry = Registry()
    old, new = connection("a", "edge-1"), connection("b", "edge-1")
    registry.add(old, now_seconds=0)
    registry.add(new, now_seconds=1)
    assert registry.find("edge-1", now_seconds=2) is new
    registry.remove(new, why="cut", now_seconds=3)
    assert registry.find("edge-1", now_seconds=4) is old
    assert registry.nodes["edge-1"].is_up


def test_a_name_that_the_certificate_does_not_hold_is_not_taken() -> None:
    registry = Registry()
    registry.add(connection("a", "edge-1", "cloud-1"), now_seconds=0)
    assert list(registry.nodes) == ["edge-1"]
    assert refusal(registry, "cloud-1", 0).code is Code.UNKNOWN_NODE


def test_a_node_that_is_gone_says_since_when_and_why() -> None:
    registry = Registry()
    one = connection("a", "edge-1")
    registry.add(one, now_seconds=0)
    registry.remove(one, why="nothing heard", now_seconds=10)
    error = refusal(registry, "edge-1", 53)
    assert error.code is Code.GONE
    assert str(error) == "edge-1 offline 43s (site s1, no link: nothing heard)"
    assert (registry.gone_bytes_received, registry.gone_bytes_sent) == (10, 5)


def test_a_link_that_drains_serves_nothing_new() -> None:
    registry = Registry()
    one = connection("a", "edge-1")
    registry.add(one, now_seconds=0)
    cast("Any", one.link).can_open = False
    assert refusal(registry, "edge-1", 0).code is Code.GONE


def test_discovery_keeps_nodes_that_are_gone() -> None:
    registry = Registry()
    one = connection("a", "edge-1", "edge-2")
    registry.add(one, now_seconds=0)
    registry.remove(one, why="cut", now_seconds=1)
    assert target_groups(registry, port=9400)[0] == {
        "targets": ["edge-1:9400"],
        "labels": {
            "node": "edge-1",
            "site": "s1",
            "__meta_gputide_agent": "a",
            "__meta_gputide_up": "false",
        },
    }


def test_the_status_page_shows_who_is_here_and_who_is_gone_and_runs_nothing() -> None:
    registry = Registry()
    registry.add(connection("a<script>", "edge-1"), now_seconds=0)
    gone = connection("b", "edge-2")
    registry.add(gone, now_seconds=0)
    registry.remove(gone, why="<img>", now_seconds=10)
    page = render_status(registry, name="gw", now_seconds=200)
    assert "1 agents, 1 nodes up, 1 gone" in page
    assert "80.0 ms" in page
    assert "gone 3m" in page
    assert "<script>" not in page
    assert "<img>" not in page
