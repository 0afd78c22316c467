"""From a request to a stored kind to the handler of its verb."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.types import ASGIApp

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers import read, remove, scale, watch, write
from gputide.kubeapi.handlers.context import Asked
from gputide.kubeapi.model import Scope

Handler = Callable[[Asked], Awaitable[ASGIApp]]

_OBJECT: Mapping[str, Handler] = {
    "get": read.get,
    "list": read.list_objects,
    "watch": watch.watch,
    "create": write.create,
    "update": write.update,
    "patch": write.patch,
    "delete": remove.delete,
    "deletecollection": remove.delete_collection,
}
_STATUS: Mapping[str, Handler] = {
    "get": read.get,
    "update": write.update,
    "patch": write.patch,
}
_SCALE: Mapping[str, Handler] = {
    "get": scale.get,
    "update": scale.update,
    "patch": scale.patch,
}


async def handle(asked: Asked) -> ASGIApp:
    """Answer a request; raise StatusError for what cannot be done here."""
    table = _handlers(asked)
    if table is None:
        raise missing()
    handler = table.get(asked.verb)
    is_scattered = asked.kind.scope is Scope.NAMESPACED and not asked.namespace
    if handler is None or (is_scattered and asked.verb not in ("list", "watch")):
        raise refused()
    return await handler(asked)


def missing() -> StatusError:
    """Return the 404 of a path that nothing is at."""
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def refused() -> StatusError:
    """Return the 405."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message)


def _handlers(asked: Asked) -> Mapping[str, Handler] | None:
    kind, part = asked.kind, asked.target.subresource
    is_placed = bool(asked.namespace) <= (kind.scope is Scope.NAMESPACED)
    if not is_placed:
        return None
    if not part:
        return _OBJECT
    if part == "status" and kind.has_status:
        return _STATUS
    return _SCALE if part == "scale" and kind.scale is not None else None
