"""Answers as HTTP: JSON objects, and Status objects for whatever went wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.negotiate import JSON_TYPE

MAX_WARNINGS = 16
MAX_WARNING_CHARACTERS = 256


def json_answer(
    obj: Any,  # noqa: ANN401 any JSON value
    *,
    code: int = 200,
    warnings: Sequence[str] = (),
    content_type: str = JSON_TYPE,
) -> Response:
    """Return an answer with a JSON body; warnings go into headers, as kubectl expects."""
    response = Response(msgspec.json.encode(obj), status_code=code, media_type=content_type)
    for one in list(warnings)[:MAX_WARNINGS]:
        text = one[:MAX_WARNING_CHARACTERS].replace("\\", "\\\\").replace('"', '\\"')
        response.headers.append("warning", f'299 - "{_printable(text)}"')
    return response


def status_answer(error: StatusError) -> Response:
    """Return a refusal."""
    response = json_answer(error.to_object(), code=error.code)
    if error.retry_after_seconds is not None:
        response.headers["retry-after"] = str(error.retry_after_seconds)
    if error.code == 401:
        response.headers["www-authenticate"] = 'Bearer realm="kubernetes"'
    return response


def success(details: Mapping[str, str]) -> JsonObject:
    """Return the Status of something that was done; `details`: name, group, kind, uid."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return status | {"details": dict(details)}


def _printable(text: str) -> str:
    return text.encode("ascii", "replace").decode() if text.isprintable() else repr(text)[1:-1]
