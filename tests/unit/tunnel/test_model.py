import pytest

from gputide.errors import SettingError
from gputide.tunnel.model import Identity, is_named_by, parse_node, parse_pattern, parse_port


@pytest.mark.parametrize("text", ["", "edge gpu", "-a", "a-", "a..b", "ä", "a" * 64, "*", "a/b"])
def test_what_is_no_node_name_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="is no node name"):
        parse_node(text)


def test_a_node_name_is_read_without_case_and_final_dot() -> None:
    assert parse_node("Edge-GPU-001.site.local.") == "edge-gpu-001.site.local"


@pytest.mark.parametrize("text", ["", "a b", "[ab]", "a/b", "a\n*"])
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="is no pattern"):
        parse_pattern(text)


@pytest.mark.parametrize(
    ("node", "patterns", "holds"),
    [
        ("edge-gpu-001", ("edge-gpu-*",), True),
        ("edge-gpu-001", ("edge-gpu-00?",), True),
        ("edge-gpu-001", ("edge-gpu-001",), True),
        ("edge-gpu-0011", ("edge-gpu-001",), False),
        ("xedge-gpu-001", ("edge-gpu-*",), False),
        ("edge-gpu-001", (), False),
    ],
)
def test_a_node_is_held_by_a_name_or_pattern(
    node: str, patterns: tuple[str, ...], *, holds: bool
) -> None:
    assert is_named_by(node, patterns) is holds
    identity = Identity(name="a", site="s", nodes=patterns, serial=1, not_after_seconds=0)
    assert identity.holds(node) is holds


@pytest.mark.parametrize("text", ["0", "65536", "http", "", "-1"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="is no port"):
        parse_port(text)
