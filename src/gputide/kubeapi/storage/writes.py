"""Create, update and delete, each as one step of the database's thread."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gputide.kubeapi.errors import (
    StatusError,
    already_exists,
    bad_request,
    conflict,
    not_found,
)
from gputide.kubeapi.model import JsonObject, Kind, Problem, Scope
from gputide.kubeapi.patch.fields import differs
from gputide.kubeapi.storage import records
from gputide.kubeapi.storage.model import Bounds, Place
from gputide.kubeapi.storage.rows import Rows, encoded, parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The rules of writing."""

    bounds: Bounds
    requires_namespaces: bool
    stamp: Callable[[], records.Stamp]
    now_seconds: Callable[[], float]

    def create(self, rows: Rows, kind: Kind, obj: JsonObject, *, is_dry_run: bool) -> JsonObject:
        """Store a new object."""
        new = records.created(obj, self.stamp())
        metadata = new["metadata"]
        is_namespaced = kind.scope is Scope.NAMESPACED
        namespace = str(metadata.get("namespace") or "") if is_namespaced else ""
        if is_namespaced and not namespace:
            raise bad_request("namespace is required")
        place = Place(kind.group, kind.plural, namespace, str(metadata["name"]))
        if is_namespaced and self.requires_namespaces:
            _check_namespace(rows, kind, place)
        if rows.find(place) is not None:
            raise already_exists(records.resource_of(kind), place.name)
        self._check_size(new)
        if not is_dry_run:
            rows.write(place, new, None, self.now_seconds())
        return new

    def update(
        self,
        rows: Rows,
        kind: Kind,
        place: Place,
        change: Callable[[JsonObject], JsonObject],
        *,
        is_dry_run: bool,
    ) -> JsonObject:
        """Store what `change` makes of the present object."""
        previous = rows.find(place)
        before = present(kind, place, previous)
        after = records.updated(kind, before, change(present(kind, place, previous)))
        if not differs(before, after):
            return after
        self._check_size(after)
        if is_dry_run:
            return after
        is_marked = "deletionTimestamp" in after["metadata"]
        if is_marked and not records.is_waiting(kind, after):
            rows.remove(place, after, self.now_seconds())
        else:
            rows.write(place, after, previous, self.now_seconds())
        return after

    def delete(self, rows: Rows, kind: Kind, place: Place, terms: "DeleteTerms") -> JsonObject:
        """Delete the object, or mark it while it has finalizers."""
        previous = rows.find(place)
        obj = present(kind, place, previous)
        terms.check(kind, obj)
        dependents = rows.owned_by(obj["metadata"]["uid"]) if terms.propagation else []
        added = (records.FOREGROUND,) if dependents and terms.propagation == "Foreground" else ()
        time = self.stamp().time
        result = records.marked(kind, obj, time=time, finalizers=added)
        if terms.is_dry_run:
            return result
        now = self.now_seconds()
        if terms.propagation == "Orphan":
            for one in dependents:
                self._disown(rows, one.place, obj["metadata"]["uid"])
        if not records.is_waiting(kind, result):
            obj["metadata"].pop("finalizers", None)
            rows.remove(place, obj, now)
            return obj
        if result != obj:
            rows.write(place, result, previous, now)
        return result

    def _disown(self, rows: Rows, place: Place, uid: str) -> None:
        previous = rows.find(place)
        if previous is not None:
            obj = parsed(previous)
            metadata = obj["metadata"]
            kept = [one for one in metadata["ownerReferences"] if one.get("uid") != uid]
            metadata["ownerReferences"] = kept
            rows.write(place, obj, previous, self.now_seconds())

    def _check_size(self, obj: JsonObject) -> None:
        size = len(encoded(obj))
        if size > self.bounds.max_object_bytes:
            raise records.too_large(size, self.bounds.max_object_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTerms:
    """How a delete is asked for."""

    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""
    is_dry_run: bool = False

    def check(self, kind: Kind, obj: JsonObject) -> None:
        """Raise 409 where a precondition does not hold, 400 for an unknown propagation."""
        if self.propagation not in ("", "Background", "Foreground", "Orphan"):
            raise bad_request(f"unknown propagationPolicy {self.propagation!r}")
        wanted = {"uid": ("UID", self.uid)}
        wanted["resourceVersion"] = ("ResourceVersion", self.resource_version)
        for name, (word, value) in wanted.items():
            held = obj["metadata"][name]
            if value and value != held:
                why = (
                    f"Precondition failed: {word} in precondition: {value}, "
                    f"{word} in object meta: {held}"
                )
                raise conflict(records.resource_of(kind), obj["metadata"]["name"], why)


def present(kind: Kind, place: Place, obj: bytes | None) -> JsonObject:
    """Return a copy of the object in the version asked for; raise 404 where there is none."""
    if obj is None:
        raise not_found(records.resource_of(kind), place.name)
    return in_version(kind, parsed(obj))


def in_version(kind: Kind, obj: JsonObject) -> JsonObject:
    """Return the object with the apiVersion of the kind; no other field differs by version."""
    obj["apiVersion"] = kind.api_version
    return obj


def _check_namespace(rows: Rows, kind: Kind, place: Place) -> None:
    found = rows.find(Place("", "namespaces", "", place.namespace))
    if found is None:
        raise not_found("namespaces", place.namespace)
    metadata: dict[str, Any] = parsed(found)["metadata"]
    if "deletionTimestamp" in metadata:
        message = (
            f'{records.resource_of(kind)} "{place.name}" is forbidden: unable to create new '
            f"content in namespace {place.namespace} because it is being terminated"
        )
        cause = Problem(
            field="metadata.namespace",
            message=f"namespace {place.namespace} is being terminated",
            reason="NamespaceTerminating",
        )
        raise StatusError(403, "Forbidden", message, problems=[cause])
