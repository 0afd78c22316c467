"""What a client of an entrance wants: which node, port and page; read strictly."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

from gputide.errors import GputideError, SettingError
from gputide.tunnel.model import parse_node, parse_port

DEADLINE_HEADER = b"x-prometheus-scrape-timeout-seconds"
DEFAULT_SECONDS = 10.0
MAX_SECONDS = 120.0
HOP_HEADERS = frozenset({b"host", b"connection", b"proxy-connection", b"keep-alive", b"te"})


class BadAskError(GputideError):
    """A request cannot be served; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request."""

    node: str
    port: int
    path: str = "/"
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = DEFAULT_SECONDS
    is_connect: bool = False
    is_head: bool = False


def read_ask(request: h11.Request, *, port: int | None) -> Ask:
    """Return what a request wants, or raise BadAskError.

    `port` is the exporters' port that the entrance stands for; None for a proxy, whose requests
    name it. A request whose target and Host disagree is refused: nobody honest sends one.
    """
    method = request.method.decode("ascii", "replace")
    target = request.target.decode("ascii", "replace")
    if method == "CONNECT":
        if port is not None:
            raise BadAskError(405, "CONNECT goes to the proxy port")
        node, found = _authority(target)
        return Ask(node=node, port=_need_port(found, target), is_connect=True)
    if method not in ("GET", "HEAD"):
        raise BadAskError(405, f"{method} is not served here: scrapes are GET")
    host = _host(request)
    if target.startswith("/"):
        authority, path = host, target
        if port is None:
            raise BadAskError(400, "a proxy wants the absolute form: GET http://NODE:PORT/path")
    else:
        authority, path = _absolute(target)
        if host and host.lower() != authority.lower():
            raise BadAskError(400, f"the request names {authority} and its Host {host}")
    node, named = _authority(authority)
    found = port if port is not None else (named or 80)
    if port is not None and named is not None and named != port:
        raise BadAskError(421, f"this entrance is for port {port}, the request names {named}")
    path, _, query = path.partition("?")
    return Ask(
        node=node,
        port=found,
        path=path,
        query=query,
        headers=_headers(request),
        seconds=_seconds(request),
        is_head=method == "HEAD",
    )


def _host(request: h11.Request) -> str:
    """Return the Host of a request whose length two servers cannot read in two ways."""
    found = dict(request.headers)  # h11 has refused a second Host
    if b"content-length" in found and b"transfer-encoding" in found:
        raise BadAskError(400, "Content-Length and Transfer-Encoding contradict each other")
    return found.get(b"host", b"").decode("latin-1")


def _absolute(target: str) -> tuple[str, str]:
    try:
        parts = urlsplit(target)
    except ValueError as error:
        raise BadAskError(400, f"{target[:100]!r} is no address") from error
    if parts.scheme != "http" or not parts.netloc or "@" in parts.netloc:
        raise BadAskError(400, f"{target[:100]!r} is no http:// address of a node")
    return parts.netloc, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _authority(text: str) -> tuple[str, int | None]:
    host, separator, port = text.rpartition(":")
    if not separator:
        host, port = text, ""
    try:
        return parse_node(host), parse_port(port) if port else None
    except SettingError as error:
        raise BadAskError(400, f"Host {text[:100]!r} names no node: {error.problem}") from error


def _need_port(port: int | None, target: str) -> int:
    if port is None:
        raise BadAskError(400, f"{target[:100]!r} names no port")
    return port


def _headers(request: h11.Request) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.decode("ascii", "replace"), value.decode("latin-1"))
        for name, value in request.headers
        if name not in HOP_HEADERS and name != DEADLINE_HEADER
    )


def _seconds(request: h11.Request) -> float:
    for name, value in request.headers:
        if name == DEADLINE_HEADER:
            try:
                seconds = float(value)
            except ValueError:
                break
            if 0 < seconds <= MAX_SECONDS:
                return seconds
    return DEFAULT_SECONDS
