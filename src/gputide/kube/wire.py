"""Answers of an API server, decoded once."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from gputide.kube.errors import KubeError, error_of
from gputide.kube.model import EventType, JsonObject, ResourceType, WatchEvent, version_of

MAX_LINE_BYTES = 8 * 1024 * 1024
_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)


class _ListMetadata(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class _List(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _ListMetadata = _ListMetadata()
    items: list[JsonObject] | None = None


class _Resource(msgspec.Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool = False


class _Resources(msgspec.Struct, frozen=True):
    resources: list[_Resource] = []


class _Event(msgspec.Struct, frozen=True):
    type: str
    object: JsonObject


class ListPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a list."""

    items: list[JsonObject]
    resource_version: str
    continue_token: str


def decode_object(body: bytes, target: str) -> JsonObject:
    """Return an object, or raise KubeError."""
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except _UNREADABLE as error:
        raise KubeError(target, f"answers with no object: {error}") from error


def decode_list(body: bytes, kind: ResourceType) -> ListPage:
    """Return a page; its items get the kind that lists leave out."""
    try:
        found = msgspec.json.decode(body, type=_List)
    except _UNREADABLE as error:
        raise KubeError(f"list {kind.qualified}", f"answers with no list: {error}") from error
    items = found.items or []
    for item in items:
        _check_metadata(item, f"list {kind.qualified}")
        item.setdefault("apiVersion", kind.api_version)
        item.setdefault("kind", kind.kind)
    return ListPage(
        items=items,
        resource_version=found.metadata.resource_version,
        continue_token=found.metadata.continue_,
    )


def decode_resource(body: bytes, api_version: str, kind: str) -> ResourceType | None:
    """Return where a kind is served, by its group's list of resources; None: nowhere."""
    try:
        found = msgspec.json.decode(body, type=_Resources)
    except _UNREADABLE as error:
        raise KubeError(f"resources of {api_version}", f"are no list: {error}") from error
    for one in found.resources:
        if one.kind == kind and "/" not in one.name:
            group, _, version = api_version.rpartition("/")
            return ResourceType(
                group=group,
                version=version,
                plural=one.name,
                kind=kind,
                is_namespaced=one.namespaced,
            )
    return None


async def read_events(
    chunks: AsyncIterator[bytes], target: str
) -> AsyncIterator[WatchEvent[JsonObject]]:
    """Yield the events of a watch; an ERROR event is raised as what it says."""
    async for line in _lines(chunks, target):
        try:
            event = msgspec.json.decode(line, type=_Event)
        except _UNREADABLE as error:
            raise KubeError(target, f"sends no watch events: {error}") from error
        if event.type == "ERROR":
            code = event.object.get("code")
            raise error_of(target, code if type(code) is int else 500, line_of(event.object))
        try:
            kind = EventType(event.type)
        except ValueError as error:
            raise KubeError(target, f"sends an unknown event {event.type!r}") from error
        _check_metadata(event.object, target)
        yield WatchEvent(type=kind, object=event.object, resource_version=version_of(event.object))


def _check_metadata(obj: JsonObject, target: str) -> None:
    if not isinstance(obj.get("metadata") or {}, dict):
        raise KubeError(target, "answers with an object whose metadata is no object")


def line_of(obj: JsonObject) -> bytes:
    """Return an object as JSON."""
    return msgspec.json.encode(obj)


async def _lines(chunks: AsyncIterator[bytes], target: str) -> AsyncIterator[bytes]:
    buffer = b""
    async for chunk in chunks:
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(buffer) > MAX_LINE_BYTES:
            raise KubeError(target, f"sends an event of more than {MAX_LINE_BYTES} bytes")
