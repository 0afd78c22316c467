"""create, update and patch, of an object or of its status."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from gputide.clock import utc_from_unix
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.handlers.body import (
    as_object,
    media_type,
    parsed,
    parsed_yaml,
    read_body,
    read_object,
    unsupported,
)
from gputide.kubeapi.handlers.context import Asked
from gputide.kubeapi.handlers.options import WriteOptions, write_options
from gputide.kubeapi.handlers.prepare import Preparation, metadata_of
from gputide.kubeapi.handlers.read import shown
from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.patch import apply, json_patch, merge, strategic

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PATCH_TYPES = (JSON_PATCH, MERGE, STRATEGIC, APPLY)
MAX_ATTEMPTS = 5

Make = Callable[[JsonObject], JsonObject]


async def create(asked: Asked) -> Response:
    """Store a new object."""
    duplicates: list[str] = []
    body = await body_of(asked, duplicates)
    preparation = prepared(asked, duplicates)
    _require_head(body)
    new = preparation.created(body)
    obj = await asked.storage.create(asked.kind, new, is_dry_run=preparation.options.is_dry_run)
    return json_answer(shown(asked).one(obj), code=201, warnings=preparation.warnings)


async def update(asked: Asked) -> Response:
    """Replace an object; a resourceVersion in it must be the present one."""
    duplicates: list[str] = []
    body = await body_of(asked, duplicates)
    preparation = prepared(asked, duplicates)
    _require_head(body)
    return await _updated(asked, preparation, preparation.change(lambda _: body))


async def patch(asked: Asked) -> Response:
    """Change an object as a patch says."""
    found = media_type(asked.request)
    if found not in PATCH_TYPES:
        raise unsupported(found, PATCH_TYPES)
    duplicates: list[str] = []
    content = await read_body(asked.request, asked.context.limits.max_body_bytes)
    if found == APPLY:
        return await _apply(asked, as_object(parsed_yaml(content, duplicates)), duplicates)
    make = patching(found, parsed(content, duplicates), asked.kind)
    preparation = prepared(asked, duplicates)
    return await _updated(asked, preparation, preparation.change(make))


def patching(found: str, content: Any, kind: Kind) -> Make:  # noqa: ANN401 any JSON value
    """Return what a patch makes of an object; `found` is its media type."""
    if found == JSON_PATCH:
        if not isinstance(content, list):
            raise bad_request("a JSON patch must be a list of operations")
        return lambda obj: json_patch(obj, content)
    fields = as_object(content)
    if found == STRATEGIC:
        return lambda obj: strategic(obj, fields, kind)
    return lambda obj: merge(obj, fields)


def prepared(asked: Asked, duplicates: list[str]) -> Preparation:
    """Return the way of this write."""
    return Preparation(
        kind=asked.kind,
        options=options_of(asked),
        namespace=asked.namespace,
        name=asked.target.name,
        subresource=asked.target.subresource,
        duplicates=duplicates,
    )


def options_of(asked: Asked) -> WriteOptions:
    """Return what the query says about the write."""
    query: Mapping[str, str] = asked.request.query_params
    return write_options(
        query,
        user_agent=asked.request.headers.get("user-agent", ""),
        now=utc_from_unix(asked.context.clock.now_seconds()),
    )


async def body_of(asked: Asked, duplicates: list[str]) -> JsonObject:
    """Return the object in the body of a create or update."""
    return await read_object(asked.request, asked.context.limits.max_body_bytes, duplicates)


async def _updated(asked: Asked, preparation: Preparation, change: Make) -> Response:
    obj = await asked.storage.update(
        asked.kind,
        asked.namespace,
        asked.target.name,
        change,
        is_dry_run=preparation.options.is_dry_run,
    )
    return json_answer(shown(asked).one(obj), warnings=preparation.warnings)


async def _apply(asked: Asked, body: JsonObject, duplicates: list[str]) -> Response:
    """Apply to the object, or create it where it does not exist yet."""
    _require_head(body)
    preparation = prepared(asked, duplicates)
    options = preparation.options

    def applied(old: JsonObject | None) -> JsonObject:
        return apply(
            old,
            body,
            asked.kind,
            manager=options.manager if options.is_manager_stated else "",
            is_forced=options.is_forced,
            now=options.now,
            subresource=asked.target.subresource,
        )

    change = preparation.change(applied, is_recorded=True)
    for _ in range(MAX_ATTEMPTS):
        try:
            return await _updated(asked, preparation, change)
        except StatusError as error:
            if error.code != 404 or asked.target.subresource:
                raise
        try:
            new = preparation.created(applied(None), is_recorded=True)
            obj = await asked.storage.create(asked.kind, new, is_dry_run=options.is_dry_run)
        except StatusError as error:
            if error.reason != "AlreadyExists":  # somebody was faster: apply to his
                raise
        else:
            return json_answer(shown(asked).one(obj), code=201, warnings=preparation.warnings)
    raise StatusError(409, "Conflict", f"{asked.resource} comes and goes; try again")


def _require_head(body: JsonObject) -> None:
    metadata_of(body)
    for name, word in (("kind", "Kind"), ("apiVersion", "apiVersion")):
        if not body.get(name):
            raise bad_request(f"Object '{word}' is missing in the body")
