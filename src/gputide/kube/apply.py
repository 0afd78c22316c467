"""Server-side apply of documents, one after the other."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from gputide.clock import Clock
from gputide.errors import InputError, QueryError
from gputide.kube.client import KubeClient
from gputide.kube.documents import Document
from gputide.kube.errors import ConflictError, InvalidError, KubeError, NotFoundError
from gputide.kube.model import (
    CUSTOM_RESOURCE_DEFINITIONS,
    JsonObject,
    PatchType,
    ResourceType,
)

ESTABLISH_SECONDS, LOOK_SECONDS = 30.0, 0.2
VOLATILE = ("managedFields", "resourceVersion", "generation")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions:
    """How to apply."""

    namespace: str
    """Of documents that name none."""

    is_namespace_asked: bool = False
    """Whether a person named it: then documents of another one are a mistake."""

    is_dry_run: bool = False
    is_forced: bool = False
    """Whether to take fields over from other managers."""

    field_manager: str = "gputide"


async def apply(
    client: KubeClient, documents: Sequence[Document], options: ApplyOptions, clock: Clock
) -> AsyncIterator[str]:
    """Yield `kind.group/name created` (or configured, or unchanged) an object; stop at an error."""
    for document in documents:
        if options.is_namespace_asked and document.namespace not in ("", options.namespace):
            problem = f"is of namespace {document.namespace}, not {options.namespace}"
            raise InputError(document.place, problem)
    for document in documents:
        try:
            yield await _apply(client, document, options, clock)
        except KubeError as error:
            hint = " (--force-conflicts takes them over)" if _is_owned(error) else ""
            raise QueryError(document.place, f"{error.problem}{hint}") from error


def _is_owned(error: KubeError) -> bool:
    return isinstance(error, ConflictError) and "conflict" in error.problem


async def _apply(
    client: KubeClient, document: Document, options: ApplyOptions, clock: Clock
) -> str:
    kind = await _kind_of(client, document)
    namespace = (document.namespace or options.namespace) if kind.is_namespaced else ""
    try:
        before = await client.get(kind, namespace, document.name)
    except NotFoundError:
        before = None
    obj = dict(document.obj)
    if namespace:
        obj["metadata"] = {**obj["metadata"], "namespace": namespace}
    after = await client.patch(
        kind,
        namespace,
        document.name,
        obj,
        patch_type=PatchType.APPLY,
        is_dry_run=options.is_dry_run,
        is_forced=options.is_forced,
        field_manager=options.field_manager,
    )
    if kind == CUSTOM_RESOURCE_DEFINITIONS and not options.is_dry_run:
        await _established(client, document, clock)
    group = f".{kind.group}" if kind.group else ""
    dry = " (server dry run)" if options.is_dry_run else ""
    return f"{kind.kind.lower()}{group}/{document.name} {_outcome(before, after)}{dry}"


async def _kind_of(client: KubeClient, document: Document) -> ResourceType:
    try:
        return await client.resource_for(document.api_version, document.kind)
    except NotFoundError as error:
        problem = f"the server knows no {document.kind} of {document.api_version}"
        raise InvalidError(document.place, problem) from error


def _outcome(before: JsonObject | None, after: JsonObject) -> str:
    if before is None:
        return "created"
    return "unchanged" if _lasting(before) == _lasting(after) else "configured"


def _lasting(obj: JsonObject) -> dict[str, Any]:
    metadata = obj.get("metadata") or {}
    kept = {name: value for name, value in metadata.items() if name not in VOLATILE}
    return {**obj, "metadata": kept}


async def _established(client: KubeClient, document: Document, clock: Clock) -> None:
    """Wait until a definition's kind is served, for a later document may be of it."""
    deadline = clock.monotonic_seconds() + ESTABLISH_SECONDS
    while clock.monotonic_seconds() < deadline:
        found = await client.get(CUSTOM_RESOURCE_DEFINITIONS, "", document.name)
        conditions = (found.get("status") or {}).get("conditions") or ()
        states = {one.get("type"): one.get("status") for one in conditions}
        if states.get("Established") == "True":
            return
        await clock.sleep(LOOK_SECONDS)
    raise KubeError(document.place, f"is not served after {ESTABLISH_SECONDS:.0f} s")
