"""The body of a request: bounded, JSON or YAML, with the fields that it holds twice."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

import yaml
from starlette.requests import Request

from gputide.kubeapi import protobuf
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import JsonObject

BODY_TYPES = ("application/json", "application/yaml", protobuf.MEDIA_TYPE)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def media_type(request: Request) -> str:
    """Return the type of the body, in lower case, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body; raise 413 beyond the bound, as soon as it is seen."""
    stated = request.headers.get("content-length", "0")
    if stated.isdigit() and int(stated) > max_bytes:
        raise _too_large(max_bytes)
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            raise _too_large(max_bytes)
        chunks.append(chunk)
    return b"".join(chunks)


def unsupported(found: str, accepted: Iterable[str]) -> StatusError:
    """Return the 415."""
    listed = ", ".join(accepted)
    message = (
        f"the body of the request was in an unknown format ({found or 'none'}) - accepted media "
        f"types include: {listed}"
    )
    return StatusError(415, "UnsupportedMediaType", message)


def parsed(body: bytes, duplicates: list[str] | None = None) -> Any:  # noqa: ANN401 any JSON value
    """Return the JSON value of a body; names of fields that are there twice go to `duplicates`."""

    def pairs(items: list[tuple[str, Any]]) -> JsonObject:
        result = dict(items)
        if len(result) != len(items) and duplicates is not None:
            counts = Counter(name for name, _ in items)
            duplicates.extend(name for name, count in counts.items() if count > 1)
        return result

    try:
        return json.loads(body, object_pairs_hook=pairs, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body is no JSON: {_words(error)}") from error


def parsed_yaml(body: bytes, duplicates: list[str] | None = None) -> Any:  # noqa: ANN401 any JSON value
    """Return the value of a YAML body, of which JSON is a part; aliases are refused."""
    if body.lstrip()[:1] in (b"{", b"["):
        return parsed(body, duplicates)
    try:
        for event in yaml.parse(body, Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent):  # a short text may stand for a huge object
                raise bad_request("the body is YAML with aliases, which this server does not take")
        value = yaml.load(body, Loader=_LOADER)  # noqa: S506 a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise bad_request(f"the body is no YAML: {_words(error)}") from error
    return _as_json(value)


async def read_object(
    request: Request, max_bytes: int, duplicates: list[str] | None = None
) -> JsonObject:
    """Return the object in a body, by its media type: JSON, YAML, or protobuf where it is known."""
    found = media_type(request) or BODY_TYPES[0]
    if found not in BODY_TYPES:
        raise unsupported(found, BODY_TYPES)
    content = await read_body(request, max_bytes)
    if found == protobuf.MEDIA_TYPE:
        return protobuf.decoded(content)
    read = parsed if found == BODY_TYPES[0] else parsed_yaml
    return as_object(read(content, duplicates))


def as_object(value: Any) -> JsonObject:  # noqa: ANN401 any JSON value
    """Return the value where it is an object; raise 400."""
    if not isinstance(value, dict):
        raise bad_request("the body must be an object")
    return value


def _as_json(value: Any) -> Any:  # noqa: ANN401 any YAML value
    if isinstance(value, dict):
        return {str(key): _as_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _words(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:300]


def _too_large(max_bytes: int) -> StatusError:
    message = f"Request entity too large: limit is {max_bytes}"
    return StatusError(413, "RequestEntityTooLarge", message)
