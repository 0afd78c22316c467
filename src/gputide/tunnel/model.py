"""Names and addresses that both ends of the tunnel speak of."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gputide.errors import GputideError, SettingError
from gputide.tunnel.protocol import Code

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_PATTERN = re.compile(r"[-a-z0-9.*?]{1,253}")
MAX_NAME = 253


def parse_node(text: str, *, setting: str = "node") -> str:
    """Return a node name as Kubernetes writes it (lower-case DNS labels), or raise SettingError.

    >>> parse_node("Edge-GPU-001")
    'edge-gpu-001'
    """
    name = text.strip().rstrip(".").lower()
    if not name or len(name) > MAX_NAME or not all(map(_LABEL.fullmatch, name.split("."))):
        raise SettingError(
            setting, f"{text!r} is no node name: lower-case letters, digits, - and ."
        )
    return name


def parse_pattern(text: str, *, setting: str = "nodes") -> str:
    """Return a node name or a pattern of them (`edge-gpu-*`), or raise SettingError."""
    pattern = text.strip().lower()
    if not _PATTERN.fullmatch(pattern):
        raise SettingError(setting, f"{text!r} is no pattern of node names, such as edge-gpu-*")
    return pattern


def is_named_by(node: str, patterns: tuple[str, ...]) -> bool:
    """Whether any of the names or patterns holds the node; `*` and `?` as in a shell."""
    return any(fnmatchcase(node, pattern) for pattern in patterns)


def parse_port(text: str | int, *, setting: str = "port") -> int:
    """Return a TCP port, or raise SettingError."""
    try:
        port = int(text)
    except ValueError:
        port = 0
    if not 1 <= port <= 65_535:
        raise SettingError(setting, f"{text!r} is no port: 1 to 65535")
    return port


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a verified client certificate says of an agent."""

    name: str
    """Common name, for people."""

    site: str
    nodes: tuple[str, ...]
    """Names and patterns that it may speak for; nothing else counts."""

    serial: int
    not_before_seconds: float = 0
    not_after_seconds: float
    """Unix time."""

    def holds(self, node: str) -> bool:
        """Whether it may speak for the node."""
        return is_named_by(node, self.nodes)


class TunnelRefusedError(GputideError):
    """The other side, or this one, refused: `code` for metrics, `text` for a person."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return self.text or self.code.value.replace("_", " ")


class CarrierClosedError(GputideError):
    """The connection under a session ended; the text says how."""
