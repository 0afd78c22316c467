"""From what a client sent to what is stored: pruned, defaulted, checked, with its writers noted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gputide.kubeapi.errors import StatusError, bad_request, invalid
from gputide.kubeapi.handlers.options import WriteOptions, strict_error
from gputide.kubeapi.metadata import metadata_problems, unknown_metadata, without_unknown
from gputide.kubeapi.model import UNREADABLE, JsonObject, Kind, Problem, Scope
from gputide.kubeapi.patch import record_update
from gputide.kubeapi.structural import defaulted
from gputide.kubeapi.validation import problems, pruned

_NO_CONTENT = ("metadata", "apiVersion", "kind")


@dataclass(slots=True, kw_only=True)
class Preparation:
    """The way of one write; pure, so that a storage may run it in its own thread."""

    kind: Kind
    options: WriteOptions
    namespace: str = ""
    name: str = ""
    """As the URL says it; "" on create."""

    subresource: str = ""
    duplicates: list[str] = field(default_factory=list)
    """Fields that the body holds twice."""

    warnings: list[str] = field(default_factory=list)
    """What the client should be told, of the last object that went this way."""

    def created(self, body: JsonObject, *, is_recorded: bool = False) -> JsonObject:
        """Return a new object; `is_recorded`: an apply has noted its writer already."""
        obj = self._placed(body)
        if self.kind.has_status:
            obj.pop("status", None)
        obj = self._checked(self._completed(obj), None)
        return obj if is_recorded else self._recorded(None, obj)

    def updated(
        self, old: JsonObject, body: JsonObject, *, is_recorded: bool = False
    ) -> JsonObject:
        """Return what a write makes of an object."""
        stated = self._placed(body)
        new = stated
        if self.subresource == "status":
            new = old | {"status": stated.get("status"), "metadata": _meta_of(old, stated)}
        elif self.kind.has_status:
            new = stated | {"status": old.get("status")}
        if new.get("status") is None:
            new.pop("status", None)
        new = self._checked(self._completed(new), old)
        return new if is_recorded else self._recorded(old, new)

    def change(
        self, make: Callable[[JsonObject], JsonObject], *, is_recorded: bool = False
    ) -> Callable[[JsonObject], JsonObject]:
        """Return the step that a storage runs; `make` says what the client wants of the object."""
        return lambda old: self.updated(old, make(old), is_recorded=is_recorded)

    def _placed(self, body: JsonObject) -> JsonObject:
        """Return a copy that lies where the URL says; raise 400 where it says otherwise."""
        kind = self.kind
        for name, wanted in (("apiVersion", kind.api_version), ("kind", kind.kind)):
            if body.get(name, wanted) != wanted:
                raise bad_request(
                    f"the {name} in the data ({body[name]}) does not match the expected "
                    f"{name} ({wanted})"
                )
        metadata = dict(metadata_of(body))
        if kind.scope is Scope.NAMESPACED:
            _same("namespace", metadata, self.namespace)
        elif metadata.get("namespace"):
            raise bad_request(f"namespace is not allowed on {kind.plural}, which have none")
        if self.name:
            _same("name", metadata, self.name)
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        return body | head | {"metadata": metadata}

    def _completed(self, obj: JsonObject) -> JsonObject:
        """Return the object without what nobody knows, and with its defaults."""
        unknown: list[str] = []
        known = without_unknown(obj)
        head = {name: known[name] for name in _NO_CONTENT}
        if self.options.validation != "Ignore":
            unknown += unknown_metadata(obj)
        rest = {name: one for name, one in known.items() if name not in _NO_CONTENT}
        kept = head | pruned(rest, self.kind.schema, unknown)
        self._tell(unknown)
        filled: JsonObject = defaulted(kept, self.kind.schema)
        if self.kind.default is None:
            return filled
        try:
            return self.kind.default(filled)
        except UNREADABLE as error:
            raise self._misshapen(filled, error) from error

    def _tell(self, unknown: Iterable[str]) -> None:
        if self.options.validation == "Ignore":
            return
        found = [f'unknown field "{one}"' for one in unknown]
        found += [f'duplicate field "{one}"' for one in self.duplicates]
        if found and self.options.validation == "Strict":
            raise strict_error(self.kind.kind, self.kind.version, found)
        self.warnings[:] = found

    def _checked(self, obj: JsonObject, old: JsonObject | None) -> JsonObject:
        found = list(metadata_problems(obj, self.kind))
        if old is None or _content(old) != _content(obj):  # a finalizer may go from a bad object
            found += self._content_problems(obj, old)
        if found:
            raise invalid(self.kind.kind, str(obj["metadata"].get("name") or ""), found)
        return obj

    def _content_problems(self, obj: JsonObject, old: JsonObject | None) -> list[Problem]:
        found = problems(_content(obj), self.kind.schema | {"required": _required(self.kind)})
        if not found and self.kind.validate is not None:
            try:
                found = list(self.kind.validate(obj, old))
            except UNREADABLE as error:
                raise self._misshapen(obj, error) from error
        if self.subresource == "status":  # its writer cannot mend the rest
            found = [one for one in found if one.field.startswith("status")]
        return found

    def _misshapen(self, obj: JsonObject, error: Exception) -> StatusError:
        """Return the 422 of an object whose open parts have an odd shape; say the schema's, too."""
        kind, name = self.kind, str(obj["metadata"].get("name") or "")
        found = problems(_content(obj), kind.schema | {"required": _required(kind)})
        odd = Problem(
            field="<nil>", message=f"Invalid value: is not shaped as a {kind.kind}: {error}"
        )
        return invalid(kind.kind, name, found or [odd])

    def _recorded(self, old: JsonObject | None, new: JsonObject) -> JsonObject:
        options = self.options
        return record_update(
            old,
            new,
            self.kind,
            manager=options.manager,
            now=options.now,
            subresource=self.subresource,
        )


def metadata_of(body: JsonObject) -> JsonObject:
    """Return the metadata that a body states; raise 400 where it is no object."""
    stated = body.get("metadata")
    if stated is not None and not isinstance(stated, dict):
        raise bad_request("metadata must be an object")
    rows = (stated or {}).get("managedFields") or []
    if not isinstance(rows, list) or not all(isinstance(one, dict) for one in rows):
        raise bad_request("metadata.managedFields must be a list of objects")
    return stated or {}


def _same(name: str, metadata: dict[str, Any], wanted: str) -> None:
    stated = metadata.setdefault(name, wanted) or wanted
    if stated != wanted:
        word = "namespace of the object" if name == "namespace" else "name of the object"
        raise bad_request(f"the {word} ({stated}) does not match the {name} on the URL ({wanted})")
    metadata[name] = wanted


def _meta_of(old: JsonObject, stated: JsonObject) -> JsonObject:
    """Return the old metadata with what a status write may say: preconditions, and writers."""
    said = stated["metadata"]
    names = ("resourceVersion", "uid", "managedFields")
    taken = {name: said[name] for name in names if said.get(name) is not None}
    return dict(old["metadata"]) | taken


def _content(obj: JsonObject) -> JsonObject:
    return {name: one for name, one in obj.items() if name not in _NO_CONTENT}


def _required(kind: Kind) -> list[str]:
    return [name for name in kind.schema.get("required") or [] if name not in _NO_CONTENT]
