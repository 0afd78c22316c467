"""delete and deletecollection."""

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from gputide.kubeapi import protobuf
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.handlers.answer import json_answer, success
from gputide.kubeapi.handlers.body import as_object, media_type, parsed_yaml, read_body
from gputide.kubeapi.handlers.context import Asked
from gputide.kubeapi.handlers.options import is_dry_run
from gputide.kubeapi.handlers.read import listed
from gputide.kubeapi.model import JsonObject, Page
from gputide.kubeapi.selectors import select

COLLECTION_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """How a delete is asked for, by its body and query."""

    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""
    is_dry_run: bool = False


async def delete(asked: Asked) -> Response:
    """Delete one object; where something holds it, answer with the object as it waits."""
    options = await _options(asked)
    namespace = asked.namespace
    obj = await _deleted(asked, namespace, asked.target.name, options)
    if "deletionTimestamp" in obj["metadata"] and not options.is_dry_run:
        return json_answer(obj)
    details = {
        "name": asked.target.name,
        "group": asked.kind.group,
        "kind": asked.kind.plural,
        "uid": str(obj["metadata"].get("uid", "")),
    }
    return json_answer(success(details))


async def delete_collection(asked: Asked) -> Response:
    """Delete all objects that are selected; what others delete meanwhile counts as deleted."""
    options = await _options(asked)
    selection = asked.selection
    select(selection)
    gone: list[JsonObject] = []
    token = ""
    while True:
        page = await asked.storage.list(
            asked.kind, selection, limit=COLLECTION_PAGE, continue_token=token
        )
        for obj in page.items:
            metadata = obj["metadata"]
            try:
                gone.append(
                    await _deleted(asked, metadata.get("namespace", ""), metadata["name"], options)
                )
            except StatusError as error:
                if error.code != 404:
                    raise
        token = page.continue_token
        if not token:
            break
    result = Page(items=tuple(gone), resource_version=page.resource_version)
    return json_answer(listed(asked, result))


async def _deleted(asked: Asked, namespace: str, name: str, options: DeleteOptions) -> JsonObject:
    return await asked.storage.delete(
        asked.kind,
        namespace,
        name,
        uid=options.uid,
        resource_version=options.resource_version,
        propagation=options.propagation,
        is_dry_run=options.is_dry_run,
    )


async def _options(asked: Asked) -> DeleteOptions:
    content = await read_body(asked.request, asked.context.limits.max_body_bytes)
    if content and media_type(asked.request) == protobuf.MEDIA_TYPE:
        body = protobuf.decoded(content)
    else:
        body = as_object(parsed_yaml(content)) if content.strip() else {}
    stated = body.get("preconditions") or {}
    if not isinstance(stated, dict):
        raise bad_request("preconditions must be an object")
    dry_run = body.get("dryRun") or []
    if not isinstance(dry_run, list):
        raise bad_request("dryRun must be a list")
    return DeleteOptions(
        uid=_text(stated, "uid"),
        resource_version=_text(stated, "resourceVersion"),
        propagation=_propagation(asked, body),
        is_dry_run=is_dry_run(asked.parameter("dryRun"), *map(str, dry_run)),
    )


def _propagation(asked: Asked, body: JsonObject) -> str:
    stated = asked.parameter("propagationPolicy") or body.get("propagationPolicy") or ""
    orphans = asked.parameter("orphanDependents") or body.get("orphanDependents")
    if not stated and orphans is not None and orphans != "":
        return "Orphan" if orphans in (True, "true", "1") else "Background"
    return str(stated)


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        raise bad_request(f"preconditions.{name} must be a string")
    return value or None
