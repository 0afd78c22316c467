from pathlib import Path

import pytest

from gputide.errors import InputError, SettingError
from gputide.tunnel.agent.site import (
    Allowance,
    Site,
    parse_allowance,
    parse_site_node,
    read_site,
)
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code

SITE = Site(
    nodes={"edge-gpu-001": "10.0.0.1", "edge-cpu-001": "10.0.0.2"},
    allowances=(
        Allowance(port=9400, paths=("/metrics", "/probe/*")),
        Allowance(port=10_250, nodes=("edge-gpu-*",)),
    ),
)


def refusal(node: str, port: int, path: str | None = None) -> Code:
    def asked() -> str:
        if path is None:
            return SITE.pipe_address(node, port)
        return SITE.page_address(node, port, path)

    with pytest.raises(TunnelRefusedError) as caught:
        asked()
    return caught.value.code


def test_what_a_line_allows_is_found() -> None:
    assert SITE.page_address("edge-gpu-001", 9400, "/metrics") == "10.0.0.1"
    assert SITE.page_address("edge-cpu-001", 9400, "/probe/x") == "10.0.0.2"
    assert SITE.pipe_address("edge-gpu-001", 10_250) == "10.0.0.1"
    assert SITE.page_address("edge-gpu-001", 10_250, "/anything") == "10.0.0.1"


@pytest.mark.parametrize(
    ("node", "port", "path"),
    [
        ("edge-gpu-001", 22, "/metrics"),
        ("edge-gpu-001", 9400, "/metrics/"),
        ("edge-gpu-001", 9400, "/debug/pprof"),
        ("edge-gpu-001", 9400, "/probe/../debug"),
        ("edge-gpu-001", 9400, "metrics"),
        ("edge-cpu-001", 10_250, "/metrics"),
        ("edge-gpu-001", 9400, None),
        ("edge-cpu-001", 10_250, None),
        ("edge-gpu-001", 22, None),
    ],
)
def test_whatever_no_line_allows_is_refused(node: str, port: int, path: str | None) -> None:
    assert refusal(node, port, path) is Code.NOT_ALLOWED


def test_a_node_of_another_site_is_unknown() -> None:
    assert refusal("edge-gpu-002", 9400, "/metrics") is Code.UNKNOWN_NODE


def test_lines_and_nodes_are_read_from_options() -> None:
    assert parse_allowance("9400:/metrics,/a") == Allowance(port=9400, paths=("/metrics", "/a"))
    assert parse_allowance("10250").is_pipe
    assert parse_site_node("Edge-1=10.0.0.1") == ("edge-1", "10.0.0.1")
    assert parse_site_node("edge-1") == ("edge-1", "edge-1")
    for text in ("9400:", "9400:metrics", "x:/metrics"):
        with pytest.raises(SettingError, match="allow: "):
            parse_allowance(text)
    with pytest.raises(SettingError, match="names no address"):
        parse_site_node("edge-1=")
    with pytest.raises(SettingError, match="speaks for 1 to 2000 nodes"):
        Site(nodes={})


def test_a_site_file_is_read_and_a_wrong_one_named(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(
        "nodes: {edge-gpu-001: 10.0.0.1}\nallow:\n- {ports: [9400, 9100], paths: [/metrics]}\n"
        "- {ports: [10250]}\n"
    )
    site = read_site(path)
    assert [one.port for one in site.allowances] == [9400, 9100, 10_250]
    path.write_text("nodes: {edge-gpu-001: 10.0.0.1}\n")
    assert len(read_site(path).allowances) == 3
    for text, problem in (
        ("nodes: [a]", "Expected `object`, got `array` - at `$.nodes`"),
        ("nodes: {a: b}\nports: 3", "unknown field `ports`"),
        ("nodes: {a b: c}", "is no node name"),
        (": :", "while parsing"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=r"site\.yaml: ") as caught:
            read_site(path)
        assert problem in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        read_site(tmp_path / "none.yaml")
