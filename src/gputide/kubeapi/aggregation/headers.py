"""Headers on the way through: what stays on this side, and who the user is."""

from collections.abc import Iterable
from urllib.parse import quote

from gputide.kubeapi.model import User

Headers = list[tuple[bytes, bytes]]

_HOP = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
        b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_OURS = frozenset({b"host", b"authorization", b"content-length", b"cookie"})
_IDENTITY = b"x-remote-"


def forwarded(headers: Iterable[tuple[bytes, bytes]], user: User) -> Headers:
    """Return a request's headers for the server behind: without credentials, with the user.

    Nothing that a client says in X-Remote-* gets through.
    """
    given = list(headers)
    named = _named_in_connection(given)
    kept = [
        (name, value)
        for name, value in given
        if name not in _HOP | _OURS | named and not name.startswith(_IDENTITY)
    ]
    return kept + identity(user)


def identity(user: User) -> Headers:
    """Return the headers that say who asks."""
    found = [(b"x-remote-user", _text(user.name))]
    if user.uid:
        found.append((b"x-remote-uid", _text(user.uid)))
    found += [(b"x-remote-group", _text(group)) for group in user.groups]
    for key, values in user.extra.items():
        name = b"x-remote-extra-" + quote(key.lower(), safe="").encode()
        found += [(name, _text(value)) for value in values]
    return found


def returned(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return a response's headers for the client."""
    given = [(name.lower(), value) for name, value in headers]
    named = _named_in_connection(given)
    return [(name, value) for name, value in given if name not in _HOP | named]


def _named_in_connection(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    return frozenset(
        part.strip().lower()
        for name, value in headers
        if name == b"connection"
        for part in value.split(b",")
    )


def _text(value: str) -> bytes:
    """Return the value as a header may carry it; a line break would make a header of its own."""
    return "".join(one for one in value if one not in "\r\n\0").encode()
