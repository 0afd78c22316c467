"""What an API server refuses, as types.

KubeError                   the server refused, or cannot be asked
├── NotFoundError           404: no such object, or no such resource
├── ConflictError           409: changed meanwhile, or exists already
├── GoneError               410: that version is forgotten; list anew
├── InvalidError            400, 422: the object is wrong; the message names the field
├── ForbiddenError          403: who we are may not do that
├── UnauthorizedError       401: the server does not know us
├── BusyError               429, 503, 504: ask again later
└── UnreachableError        no answer: connection, TLS, deadline
"""

import msgspec

from gputide.errors import QueryError


class KubeError(QueryError):
    """A request failed: `target` says what was asked, `code` is HTTP's (0: no answer)."""

    def __init__(self, target: str, problem: str, *, code: int = 0, reason: str = "") -> None:
        super().__init__(target, problem)
        self.args = (target, problem)
        self.code = code
        self.reason = reason
        self.is_retryable = isinstance(self, BusyError | UnreachableError)


class NotFoundError(KubeError):
    """404."""


class ConflictError(KubeError):
    """409."""


class GoneError(KubeError):
    """410."""


class InvalidError(KubeError):
    """400 or 422."""


class ForbiddenError(KubeError):
    """403."""


class UnauthorizedError(KubeError):
    """401."""


class BusyError(KubeError):
    """429, 503 or 504; `retry_after_seconds` is the server's wish."""

    retry_after_seconds: float | None = None


class UnreachableError(KubeError):
    """No answer."""


class _Status(msgspec.Struct, frozen=True):
    message: str = ""
    reason: str = ""
    code: int = 0


_TYPES: dict[int, type[KubeError]] = {
    400: InvalidError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: BusyError,
    503: BusyError,
    504: BusyError,
}
_HINTS = {
    401: "the server does not know us; the token may have expired",
    429: "too many requests",
    503: "not available now",
}


def error_of(
    target: str, code: int, body: bytes, *, retry_after_seconds: float | None = None
) -> KubeError:
    """Return the error of an answer; its Status object's words where it has one."""
    try:
        status = msgspec.json.decode(body, type=_Status)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        status = _Status()
    code = status.code or code
    words = status.message or _HINTS.get(code) or f"answered {code}"
    error = _TYPES.get(code, KubeError)(target, words, code=code, reason=status.reason)
    if isinstance(error, BusyError):
        error.retry_after_seconds = retry_after_seconds
    return error
