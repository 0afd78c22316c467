"""Errors as Kubernetes answers them: a Status object with reason and code."""

from collections.abc import Mapping, Sequence

from gputide.errors import GputideError
from gputide.kubeapi.model import JsonObject, Problem


class StatusError(GputideError):
    """Refuse a request: `code` (HTTP), `reason` (Kubernetes'), `message` for a person."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        problems: Sequence[Problem] = (),
        retry_after_seconds: int | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        """`about`: name, group and kind of the object, which clients print."""
        super().__init__(code, reason, message)
        self.code = code
        self.reason = reason
        self.message = message
        self.problems = tuple(problems)
        self.retry_after_seconds = retry_after_seconds
        self.about = dict(about or {})

    def __str__(self) -> str:
        return self.message

    def to_object(self) -> JsonObject:
        """Return the Status object that goes over the wire."""
        details: JsonObject = {name: one for name, one in self.about.items() if one}
        if self.problems:
            details["causes"] = [
                {"reason": one.reason, "message": one.message, "field": one.field}
                for one in self.problems
            ]
        if self.retry_after_seconds is not None:
            details["retryAfterSeconds"] = self.retry_after_seconds
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        return status | ({"details": details} if details else {})


def not_found(resource: str, name: str) -> StatusError:
    """Return the 404 of an object, worded as Kubernetes does (kubectl prints it)."""
    message = f'{resource} "{name}" not found'
    return StatusError(404, "NotFound", message, about=_about(resource, name))


def already_exists(resource: str, name: str) -> StatusError:
    """Return the 409 of a create."""
    message = f'{resource} "{name}" already exists'
    return StatusError(409, "AlreadyExists", message, about=_about(resource, name))


def conflict(resource: str, name: str, why: str) -> StatusError:
    """Return the 409 of an update."""
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return StatusError(409, "Conflict", message, about=_about(resource, name))


def invalid(kind: str, name: str, problems: Sequence[Problem]) -> StatusError:
    """Return the 422 that names every wrong field."""
    listed = ", ".join(f"{one.field}: {one.message}" for one in problems)
    text = listed if len(problems) == 1 else f"[{listed}]"
    message = f'{kind} "{name}" is invalid: {text}'
    about = {"name": name, "kind": kind}
    return StatusError(422, "Invalid", message, problems=problems, about=about)


def bad_request(message: str) -> StatusError:
    """Return the 400 of a request that cannot be read."""
    return StatusError(400, "BadRequest", message)


def forbidden(message: str) -> StatusError:
    """Return the 403."""
    return StatusError(403, "Forbidden", message)


def expired(message: str) -> StatusError:
    """Return the 410: the resource version is too old; list again."""
    return StatusError(410, "Expired", message)


def _about(resource: str, name: str) -> JsonObject:
    plural, _, group = resource.partition(".")
    return {"name": name, "group": group, "kind": plural}
