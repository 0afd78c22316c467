"""The forms of an object or list that kubectl shows: Table and PartialObjectMetadata."""

from collections.abc import Mapping, Sequence
from typing import Any

from gputide.kubeapi.age import age
from gputide.kubeapi.model import UNREADABLE, Column, JsonObject
from gputide.kubeapi.negotiate import Accepted, Form

NAME = Column(
    name="Name",
    read=lambda obj: (obj.get("metadata") or {}).get("name", ""),
    format="name",
    description="Name must be unique within a namespace.",
)
AGE = Column(
    name="Age",
    read=lambda obj: (obj.get("metadata") or {}).get("creationTimestamp"),
    type="date",
    description="Time since this object was created.",
)
_DEFAULT = (NAME, AGE)


class Shown:
    """Turns objects and lists into the form that a client takes."""

    def __init__(
        self,
        accepted: Accepted,
        columns: Sequence[Column],
        *,
        include: str = "",
        now_seconds: float,
    ) -> None:
        self._accepted = accepted
        self._columns = tuple(columns) or _DEFAULT
        self._include = include or "Metadata"
        self._now_seconds = now_seconds

    def one(self, obj: JsonObject, *, has_headers: bool = True) -> JsonObject:
        """Return one object in that form."""
        if self._accepted.form is Form.TABLE:
            version = (obj.get("metadata") or {}).get("resourceVersion", "")
            return self._table([obj], {"resourceVersion": version}, has_headers=has_headers)
        if self._accepted.form in (Form.PARTIAL, Form.PARTIAL_LIST):
            return self._partial(obj)
        return obj

    def many(self, listed: JsonObject) -> JsonObject:
        """Return a list in that form."""
        items = listed.get("items") or []
        if self._accepted.form is Form.TABLE:
            return self._table(items, listed.get("metadata") or {}, has_headers=True)
        if self._accepted.form in (Form.PARTIAL, Form.PARTIAL_LIST):
            return {
                "kind": "PartialObjectMetadataList",
                "apiVersion": self._api_version,
                "metadata": listed.get("metadata") or {},
                "items": [self._partial(item) for item in items],
            }
        return listed

    def mark(self, obj: JsonObject) -> JsonObject:
        """Return the object of a bookmark in that form: a Table without rows."""
        if self._accepted.form is Form.TABLE:
            return self._table([], obj.get("metadata") or {}, has_headers=False)
        return self.one(obj)

    @property
    def _api_version(self) -> str:
        return f"meta.k8s.io/{self._accepted.version}"

    def _table(
        self, items: Sequence[JsonObject], metadata: Mapping[str, Any], *, has_headers: bool
    ) -> JsonObject:
        return {
            "kind": "Table",
            "apiVersion": self._api_version,
            "metadata": dict(metadata),
            "columnDefinitions": [_definition(one) for one in self._columns] if has_headers else [],
            "rows": [self._row(item) for item in items],
        }

    def _row(self, obj: JsonObject) -> JsonObject:
        row: JsonObject = {"cells": [self._cell(column, obj) for column in self._columns]}
        if self._include == "Metadata":
            row["object"] = self._partial(obj)
        elif self._include == "Object":
            row["object"] = obj
        return row

    def _cell(self, column: Column, obj: JsonObject) -> Any:  # noqa: ANN401 any cell
        try:
            value = column.read(obj)
        except UNREADABLE:  # one object of an odd shape must not hide all the others
            return None
        return age(value, self._now_seconds) if column.type == "date" else value

    def _partial(self, obj: JsonObject) -> JsonObject:
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": self._api_version,
            "metadata": obj.get("metadata") or {},
        }


def _definition(column: Column) -> JsonObject:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
