"""Server-side apply: the fields that a writer states become his, and what he drops goes away."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from gputide.kubeapi.errors import StatusError, bad_request, conflict
from gputide.kubeapi.model import JsonObject, Kind, Problem
from gputide.kubeapi.patch.fields import Path, changes, described, in_order, leaves, prefixes
from gputide.kubeapi.patch.ownership import (
    APPLY,
    UNOWNED,
    Entry,
    decoded,
    owned,
    owned_part,
    rfc3339,
    with_entries,
    without,
)
from gputide.kubeapi.patch.shape import Shape, ordered, shape_of, system_metadata_removed

GONE = object()


def apply(  # noqa: PLR0913 all that a PATCH request says
    current: JsonObject | None,
    patch: JsonObject,
    kind: Kind,
    *,
    manager: str,
    is_forced: bool,
    now: datetime,
    subresource: str = "",
) -> JsonObject:
    """Return the object after `manager` applied what he wants of it.

    Raise StatusError: 409 that names each field that somebody else holds with another value,
    unless `is_forced`; 400 or 422 for a patch that is none. An apply that changes nothing returns
    an object equal to `current`.
    """
    wanted = _checked(current, patch, manager)
    shape = shape_of(kind)
    present = current or {}
    entries = decoded(present)
    mine = Entry(
        manager=manager, operation=APPLY, api_version=kind.api_version, subresource=subresource
    )
    before = next((one for one in entries if one.is_same_writer(mine)), mine)
    others = [one for one in entries if one is not before]
    after = replace(mine, paths=frozenset(leaves(owned_part(wanted), shape)), time=before.time)

    merged = _overlaid(present, wanted, shape)
    changed, gone = changes(owned_part(present), owned_part(merged), shape)
    if not is_forced:
        _refuse_conflicts(others, changed & after.paths)
    others = without(others, changed | gone)
    kept = after.paths | owned(others)
    result = _pruned(merged, shape, (), before.paths - kept, prefixes(kept))
    others = without(others, changes(owned_part(merged), owned_part(result), shape)[1])
    if after.paths != before.paths or changed:
        after = replace(after, time=rfc3339(now))
    return with_entries(result, [*others, after])


def _checked(current: JsonObject | None, patch: JsonObject, manager: str) -> JsonObject:
    metadata = patch.get("metadata") or {}
    if not manager:
        problem = Problem(
            field="fieldManager", message="Required value: is required for apply patch"
        )
        raise StatusError(
            422,
            "Invalid",
            f'PatchOptions.meta.k8s.io "" is invalid: fieldManager: {problem.message}',
            problems=[problem],
        )
    if metadata.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    held = (current or {}).get("metadata") or {}
    for name in ("uid", "resourceVersion"):
        if metadata.get(name) and metadata[name] != held.get(name):
            raise conflict(
                str(patch.get("kind", "")).lower(),
                str(metadata.get("name", "")),
                f"{name} is {held.get(name, 'none')}, the applied object says {metadata[name]}",
            )
    stated = system_metadata_removed(patch, UNOWNED - {"name", "namespace"})
    result: JsonObject = _without_nulls(stated)
    return result


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 any JSON value
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return value


def _overlaid(present: Any, wanted: Any, shape: Shape) -> Any:  # noqa: ANN401 any JSON value
    if isinstance(present, dict) and isinstance(wanted, dict) and not shape.is_atomic:
        merged = {
            name: _overlaid(present[name], value, shape.child(name)) if name in present else value
            for name, value in wanted.items()
        }
        return present | merged
    held, stated = shape.keyed(present), shape.keyed(wanted)
    if held is None or stated is None:
        return wanted
    order = ordered(list(held), list(stated))
    return [
        _overlaid(held[key], stated[key], shape.item())
        if key in held and key in stated
        else (held if key in held else stated)[key]
        for key in order
    ]


def _refuse_conflicts(others: Sequence[Entry], changed: set[Path]) -> None:
    """Raise the 409; `changed` are the paths that would get another value."""
    held = [(one, in_order(one.paths & changed)) for one in others if one.paths & changed]
    if not held:
        return
    problems = [
        Problem(
            field=described(path),
            message=f"conflict with {one.described()}",
            reason="FieldManagerConflict",
        )
        for one, paths in held
        for path in paths
    ]
    lines = [
        "\n".join([f"conflicts with {one.described()}:", *(f"- {described(p)}" for p in paths)])
        for one, paths in held
    ]
    many = f"{len(problems)} conflicts: " + "\n".join(lines)
    one = f"1 conflict: {problems[0].message}: {problems[0].field}"
    message = f"Apply failed with {one if len(problems) == 1 else many}"
    raise StatusError(409, "Conflict", message, problems=problems)


def _pruned(value: Any, shape: Shape, path: Path, drop: frozenset[Path], kept: set[Path]) -> Any:  # noqa: ANN401 any JSON value
    """Return the value less the paths in `drop`; a container that this empties goes as well."""
    if path in drop and path not in kept:
        return GONE
    if isinstance(value, dict) and not shape.is_atomic:
        inner: Any = {
            name: _pruned(one, shape.child(name), (*path, f"f:{name}"), drop, kept)
            for name, one in value.items()
        }
        rest: Any = {name: one for name, one in inner.items() if one is not GONE}
    elif isinstance(value, list) and (keyed := shape.keyed(value)):
        inner = [_pruned(one, shape.item(), (*path, key), drop, kept) for key, one in keyed.items()]
        rest = [one for one in inner if one is not GONE]
    else:
        return value
    is_emptied = not rest and value and path not in kept and path
    return GONE if is_emptied else rest
