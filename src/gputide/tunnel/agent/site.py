"""What an agent may be asked for: the nodes of its site, their addresses, ports and paths."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import yaml

from gputide.errors import InputError, SettingError
from gputide.tunnel.model import TunnelRefusedError, parse_node, parse_port
from gputide.tunnel.protocol import Code

MAX_NODES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """One line of the allow-list: a port, for pages under these paths, or for any bytes."""

    port: int
    paths: tuple[str, ...] = ()
    """Patterns of paths that may be fetched; empty: any path, and pipes too."""

    nodes: tuple[str, ...] = ("*",)

    @property
    def is_pipe(self) -> bool:
        """Whether raw connections are allowed."""
        return not self.paths

    def holds(self, node: str, port: int) -> bool:
        """Whether it speaks of that port of that node."""
        return port == self.port and any(fnmatchcase(node, pattern) for pattern in self.nodes)


DEFAULT_ALLOWANCES = tuple(Allowance(port=port, paths=("/metrics",)) for port in (9400, 9445, 9100))


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Deny by default: whatever no line allows is refused, and never connected to."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    """Name -> address within the site."""

    allowances: tuple[Allowance, ...] = DEFAULT_ALLOWANCES

    def __post_init__(self) -> None:
        if not 0 < len(self.nodes) <= MAX_NODES:
            raise SettingError("node", f"an agent speaks for 1 to {MAX_NODES} nodes")

    def page_address(self, node: str, port: int, path: str) -> str:
        """Return the address of a page's node, or raise TunnelRefusedError."""
        address = self._address(node)
        lines = [one for one in self.allowances if one.holds(node, port)]
        if not lines:
            raise _not_allowed(f"port {port} of {node} is not on the allow-list of the site")
        if ".." in path.split("/") or not path.startswith("/"):
            raise _not_allowed(f"{path!r} is no plain path")
        if not any(
            one.is_pipe or any(fnmatchcase(path, pattern) for pattern in one.paths) for one in lines
        ):
            raise _not_allowed(f"{path} on port {port} of {node} is not on the allow-list")
        return address

    def pipe_address(self, node: str, port: int) -> str:
        """Return the address of a node for raw bytes, or raise TunnelRefusedError."""
        address = self._address(node)
        if not any(one.is_pipe and one.holds(node, port) for one in self.allowances):
            raise _not_allowed(f"raw connections to port {port} of {node} are not allowed here")
        return address

    def _address(self, node: str) -> str:
        address = self.nodes.get(node)
        if address is None:
            raise TunnelRefusedError(Code.UNKNOWN_NODE, f"{node} is not of this site")
        return address


def _not_allowed(text: str) -> TunnelRefusedError:
    return TunnelRefusedError(Code.NOT_ALLOWED, text)


def parse_site_node(text: str) -> tuple[str, str]:
    """Return name and address of `NAME=ADDRESS` (or NAME alone: reached by its name)."""
    name, separator, address = text.partition("=")
    if separator and not address.strip():
        raise SettingError("node", f"{text!r} names no address: NAME=ADDRESS")
    return parse_node(name), address.strip() or parse_node(name)


def parse_allowance(text: str) -> Allowance:
    """Return a line of the allow-list: `9400:/metrics`, `10250` (any bytes), `9100:/a,/b`."""
    port, separator, paths = text.partition(":")
    patterns = tuple(one.strip() for one in paths.split(",") if one.strip())
    if (separator and not patterns) or any(not one.startswith("/") for one in patterns):
        raise SettingError("allow", f"{text!r} is no PORT or PORT:/PATH")
    return Allowance(port=parse_port(port, setting="allow"), paths=patterns)


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `allow` in a site file."""

    ports: tuple[int, ...]
    paths: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ("*",)


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A site file."""

    nodes: dict[str, str]
    allow: list[_Line] = []


def read_site(path: Path) -> Site:
    """Return the site that a YAML file describes; raise InputError that names file and field."""
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        found = msgspec.convert(content, _File)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise InputError(str(path), " ".join(str(error).split())) from error
    try:
        allowances = tuple(
            Allowance(port=parse_port(port), paths=line.paths, nodes=line.nodes)
            for line in found.allow
            for port in line.ports
        )
        nodes = {parse_node(name): address for name, address in found.nodes.items()}
        return Site(nodes=nodes, allowances=allowances or DEFAULT_ALLOWANCES)
    except SettingError as error:
        raise InputError(str(path), str(error)) from error
