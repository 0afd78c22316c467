"""Node names to addresses: a hosts file for CoreDNS or dnsmasq, written whole on change."""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path

from gputide.errors import SettingError
from gputide.tunnel.identity.files import PUBLIC_MODE, write_whole


def render_hosts(entries: Mapping[str, Iterable[str]]) -> str:
    r"""Return hosts-file lines `ADDRESS TAB NAME`, sorted by name: name -> addresses.

    >>> render_hosts({"edge-gpu-001": ["10.0.0.7"]})
    '10.0.0.7\tedge-gpu-001\n'
    """
    lines = [
        f"{address}\t{name}\n"
        for name in sorted(entries)
        for address in sorted(set(entries[name]), key=_order)
    ]
    return "".join(lines)


def _order(address: str) -> tuple[int, int]:
    found = ip_address(address)
    return found.version, int(found)


def check_addresses(addresses: Iterable[str], *, setting: str) -> tuple[str, ...]:
    """Return IP addresses, or raise SettingError."""
    checked = []
    for text in addresses:
        try:
            checked.append(str(ip_address(text.strip())))
        except ValueError as error:
            raise SettingError(setting, f"{text!r} is no IP address") from error
    return tuple(checked)


class HostsFile:
    """One file; replaced by a rename, so that whoever watches it sees a new modification time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: str | None = None
        self.writes_total = 0

    def write(self, entries: Mapping[str, Iterable[str]]) -> bool:
        """Write the entries where they changed; return whether they did. Raises InputError."""
        text = render_hosts(entries)
        if text == self._written:
            return False
        write_whole(self._path, text.encode(), mode=PUBLIC_MODE)
        self._written = text
        self.writes_total += 1
        return True
