from pathlib import Path

import pytest

from gputide.errors import SettingError
from gputide.tunnel.gateway.names import HostsFile, check_addresses, render_hosts


def test_lines_are_sorted_and_each_address_is_once() -> None:
    entries = {"b": ["10.0.0.2", "10.0.0.10", "10.0.0.2"], "a": ["fd00::1", "10.0.0.1"]}
    assert render_hosts(entries) == ("10.0.0.1\ta\nfd00::1\ta\n10.0.0.2\tb\n10.0.0.10\tb\n")


def test_the_file_is_written_on_change_alone_and_by_a_rename(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    hosts = HostsFile(path)
    assert hosts.write({"a": ["10.0.0.1"]})
    before = path.stat().st_ino
    assert not hosts.write({"a": ["10.0.0.1"]})
    assert path.stat().st_ino == before
    assert hosts.write({"a": ["10.0.0.2"]})
    assert path.stat().st_ino != before
    assert hosts.writes_total == 2


def test_an_address_is_checked() -> None:
    assert check_addresses([" 10.0.0.1 "], setting="x") == ("10.0.0.1",)
    with pytest.raises(SettingError, match="x: 'gw' is no IP address"):
        check_addresses(["gw"], setting="x")
