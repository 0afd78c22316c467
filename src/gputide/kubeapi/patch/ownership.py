"""Who wrote which field: metadata.managedFields, kept up on every write."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.patch.fields import Path, changes, from_fields_v1, to_fields_v1
from gputide.kubeapi.patch.shape import shape_of, system_metadata_removed

MAX_UPDATERS = 10
"""Entries of ordinary writers that an object keeps; the oldest beyond it are thrown together."""

ANCIENT = "ancient-changes"
APPLY, UPDATE = "Apply", "Update"
UNOWNED = frozenset(
    {
        "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
        "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields",
    }
)  # fmt: skip
"""Metadata that the server keeps and nobody owns."""


CUSTOM_STRUCTS = frozenset({("f:metadata",)})
BUILT_IN_STRUCTS = CUSTOM_STRUCTS | {
    ("f:spec",),
    ("f:status",),
    ("f:spec", "f:strategy"),
    ("f:spec", "f:updateStrategy"),
    ("f:spec", "f:template"),
    ("f:spec", "f:template", "f:metadata"),
    ("f:spec", "f:template", "f:spec"),
    ("f:spec", "f:template", "f:spec", "f:containers"),
    ("f:spec", "f:containers"),
    ("f:spec", "f:scaleTargetRef"),
}
"""Objects that are always there, so that nobody adds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of managedFields."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str = ""
    paths: frozenset[Path] = frozenset()

    def is_same_writer(self, other: "Entry") -> bool:
        """Whether both are rows of one writer; an applier may change the version it applies."""
        return (
            self.manager == other.manager
            and self.operation == other.operation
            and self.subresource == other.subresource
            and (self.operation == APPLY or self.api_version == other.api_version)
        )

    def described(self) -> str:
        """Return the writer as Kubernetes names it in a conflict."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return text if self.operation == APPLY else f"{text} using {self.api_version}"


def record_update(
    old: JsonObject | None,
    new: JsonObject,
    kind: Kind,
    *,
    manager: str,
    now: datetime,
    subresource: str = "",
) -> JsonObject:
    """Return `new` with managedFields that say what this ordinary write changed.

    Whatever it changed leaves every other writer. A body with `managedFields: [{}]` resets them.
    """
    rows = (new.get("metadata") or {}).get("managedFields")
    if rows == [{}]:
        return system_metadata_removed(new, frozenset({"managedFields"}))
    entries = decoded(new) if rows else decoded(old or {})
    shape = shape_of(kind)
    changed, removed = changes(owned_part(old or {}), owned_part(new), shape)
    changed = {path for path in changed if _is_owned(path, kind, subresource)}
    mine = Entry(
        manager=manager,
        operation=UPDATE,
        api_version=str(new.get("apiVersion", kind.api_version)),
        subresource=subresource,
    )
    present = next((one for one in entries if one.is_same_writer(mine)), mine)
    others = without([one for one in entries if one is not present], changed | removed)
    paths = (present.paths - removed) | changed
    if changed or paths != present.paths:
        present = replace(present, paths=frozenset(paths), time=rfc3339(now))
    return with_entries(new, _capped([*others, present]))


def owned_part(obj: JsonObject) -> JsonObject:
    """Return the part of an object that can have owners."""
    rest = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
    result = system_metadata_removed(rest, UNOWNED)
    if not result["metadata"]:
        del result["metadata"]
    return result


def without(entries: Iterable[Entry], paths: Iterable[Path]) -> list[Entry]:
    """Return the entries less those paths; one that owns nothing any more is gone."""
    gone = frozenset(paths)
    rest = (replace(one, paths=one.paths - gone) for one in entries)
    return [one for one in rest if one.paths]


def decoded(obj: JsonObject) -> list[Entry]:
    """Return the rows of an object's managedFields; what cannot be read is left out."""
    rows: Any = (obj.get("metadata") or {}).get("managedFields") or []
    entries = (_entry(row) for row in rows if isinstance(row, dict))
    return [one for one in entries if one.manager and one.operation in (APPLY, UPDATE)]


def with_entries(obj: JsonObject, entries: Iterable[Entry]) -> JsonObject:
    """Return the object with those rows; appliers first, then by time and name, as Kubernetes."""
    ordered = sorted(entries, key=lambda one: (one.operation, one.time, one.manager))
    rows = [_row(one) for one in ordered if one.paths]
    result = system_metadata_removed(obj, frozenset({"managedFields"}))
    if rows:
        result["metadata"]["managedFields"] = rows
    return result


def rfc3339(now: datetime) -> str:
    """Return an instant as Kubernetes writes it: UTC, whole seconds."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def owned(entries: Iterable[Entry]) -> frozenset[Path]:
    """Return all that those entries own."""
    return frozenset().union(*(one.paths for one in entries))


def _is_owned(path: Path, kind: Kind, subresource: str) -> bool:
    """Whether an ordinary writer comes to own the path: not of what every object has."""
    if kind.has_status and not subresource and path[:1] == ("f:status",):
        return False
    always = BUILT_IN_STRUCTS if kind.has_strategic_merge else CUSTOM_STRUCTS
    return path not in always


def _capped(entries: list[Entry]) -> list[Entry]:
    updaters = [one for one in entries if one.operation == UPDATE and not one.subresource]
    updaters.sort(key=lambda one: (one.manager != ANCIENT, one.time))
    surplus = updaters[: max(len(updaters) - MAX_UPDATERS, 0) + 1]
    if len(updaters) <= MAX_UPDATERS:
        return entries
    newest = surplus[-1]
    merged = replace(newest, manager=ANCIENT, paths=owned(surplus))
    return [one for one in entries if one not in surplus] + [merged]


def _entry(row: JsonObject) -> Entry:
    def text(name: str) -> str:
        value = row.get(name)
        return value if isinstance(value, str) else ""

    return Entry(
        manager=text("manager"),
        operation=text("operation"),
        api_version=text("apiVersion"),
        subresource=text("subresource"),
        time=text("time"),
        paths=from_fields_v1(row.get("fieldsV1")),
    )


def _row(entry: Entry) -> JsonObject:
    row: JsonObject = {
        "manager": entry.manager,
        "operation": entry.operation,
        "apiVersion": entry.api_version,
        "time": entry.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": to_fields_v1(entry.paths),
    }
    return row | ({"subresource": entry.subresource} if entry.subresource else {})
