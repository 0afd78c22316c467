from typing import Any

from gputide.tunnel.gateway.nodes import ClusterNode, name_entries, node_from
from gputide.tunnel.gateway.registry import Seen

GATEWAYS = ("10.9.0.1", "10.9.0.2")


def seen(*, is_up: bool = True) -> Seen:
    return Seen(site="s", agent="a", at_seconds=0, is_up=is_up)


def node(name: str, *, labels: dict[str, str] | None = None, **annotations: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": labels or {}, "annotations": annotations},
        "status": {
            "addresses": [
                {"type": "ExternalIP", "address": "203.0.113.1"},
                {"type": "InternalIP", "address": "10.0.0.1"},
            ]
        },
    }


def test_a_node_has_its_internal_address() -> None:
    assert node_from(node("n")) == ClusterNode(name="n", addresses=("10.0.0.1",), is_direct=False)
    assert node_from({}) is None


def test_a_private_line_is_direct_unless_it_is_said_otherwise() -> None:
    private = {"alibabacloud.com/interconnection-mode": "private"}
    found = node_from(node("n", labels=private))
    assert found is not None
    assert found.is_direct
    tunnelled = node_from(node("n", labels=private, **{"gputide.io/tunnel": "through"}))
    assert tunnelled is not None
    assert not tunnelled.is_direct


def test_edge_nodes_are_at_the_gateways_and_others_at_their_own_address() -> None:
    cluster = [
        ClusterNode(name="cloud-1", addresses=("10.0.0.1",), is_direct=False),
        ClusterNode(name="edge-1", addresses=("192.168.0.1",), is_direct=False),
        ClusterNode(name="line-1", addresses=("10.0.0.3",), is_direct=True),
        ClusterNode(name="bare", addresses=(), is_direct=False),
    ]
    found = {"edge-1": seen(), "line-1": seen(), "not-in-cluster": seen(is_up=False)}
    assert name_entries(cluster, found, GATEWAYS) == {
        "cloud-1": ("10.0.0.1",),
        "edge-1": GATEWAYS,
        "line-1": ("10.0.0.3",),
        "not-in-cluster": GATEWAYS,
    }
    assert "edge-1" not in name_entries(cluster, found, ())
