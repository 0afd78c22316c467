"""A request and its response, as this server needs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The head of a request; bodies are thrown away."""

    method: str
    path: str
    """Without the query."""

    headers: Mapping[str, str]
    """By name in lower case; several of one name are joined by commas."""

    certificate: Mapping[str, object] | None = None
    """The client's, verified, as `ssl` decodes it; None where it showed none."""

    @property
    def accept(self) -> str:
        """The formats that the client takes."""
        return self.headers.get("accept", "")

    @property
    def accept_encoding(self) -> str:
        """The compressions that the client takes."""
        return self.headers.get("accept-encoding", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes back; the length is added when it is sent."""

    status: HTTPStatus
    body: bytes
    content_type: str = PLAIN
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(status: HTTPStatus, text: str, **headers: str) -> Response:
    """Return a line that says why not; `_` in header names stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, body=f"{text}\n".encode(), headers=named)
