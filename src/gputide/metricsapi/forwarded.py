"""Whether a request was sent on to us by another metrics server, as the ASGI side sees it."""

from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

HEADER = "X-Gputide-Forwarded"
_is_forwarded: ContextVar[bool] = ContextVar("is_forwarded", default=False)


def is_forwarded() -> bool:
    """Return whether the request under way came from a server that forwards."""
    return _is_forwarded.get()


class NotesForwarded:
    """Notes the header for whoever answers: a question is sent on once, so no loop can form."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        name = HEADER.lower().encode()
        if scope["type"] == "http":
            _is_forwarded.set(any(key == name for key, _ in scope["headers"]))
        await self._app(scope, receive, send)
