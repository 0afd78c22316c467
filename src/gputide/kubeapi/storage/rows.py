"""The SQL: rows of objects, owners and events. Runs in the database's thread alone."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gputide.kubeapi.model import EventType, JsonObject
from gputide.kubeapi.storage.model import Counters, Held, Logged, Place

_KEY = "grp = ? AND plural = ? AND namespace = ? AND name = ?"


def encoded(obj: JsonObject) -> bytes:
    """Return the object's JSON."""
    return msgspec.json.encode(obj)


def parsed(obj: bytes) -> JsonObject:
    """Return the object of its JSON: a copy that belongs to the caller."""
    result: JsonObject = msgspec.json.decode(obj)
    return result


class Rows:
    """The tables of one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.counters = self.read_counters()

    def read_counters(self) -> Counters:
        """Return the counters as they were committed."""
        row = self._connection.execute("SELECT revision, compacted FROM counters").fetchone()
        return Counters(revision=row[0], compacted=row[1])

    def find(self, place: Place) -> bytes | None:
        """Return the object at a place, or None."""
        row = self._connection.execute(
            f"SELECT obj FROM objects WHERE {_KEY}",  # noqa: S608 a constant
            _key(place),
        ).fetchone()
        return row[0] if row else None

    def write(self, place: Place, obj: JsonObject, previous: bytes | None, now: float) -> None:
        """Store the object under a new revision, which its resourceVersion is set to."""
        event = EventType.ADDED if previous is None else EventType.MODIFIED
        text = self._log(event, place, obj, previous, now)
        metadata = obj["metadata"]
        self._connection.execute(
            "INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET obj = excluded.obj",
            (*_key(place), metadata["uid"], text),
        )
        self._write_owners(place, metadata.get("ownerReferences") or [])

    def remove(self, place: Place, obj: JsonObject, now: float) -> None:
        """Delete the object at a place; `obj` is its last state."""
        self._log(EventType.DELETED, place, obj, self.find(place), now)
        for table in ("objects", "owners"):
            self._connection.execute(f"DELETE FROM {table} WHERE {_KEY}", _key(place))  # noqa: S608 constants

    def objects(
        self, group: str, plural: str, namespace: str, after: tuple[str, str] | None
    ) -> Iterator[tuple[tuple[str, str], bytes]]:
        """Yield ((namespace, name), JSON) in that order, of one namespace ("": all)."""
        where, values = _range(group, plural, namespace, after)
        query = f"SELECT namespace, name, obj FROM objects {where} ORDER BY namespace, name"  # noqa: S608 constants
        for row in self._connection.execute(query, values):
            yield (row[0], row[1]), row[2]

    def count(self, group: str, plural: str, namespace: str, after: tuple[str, str]) -> int:
        """Return how many objects come after that one."""
        where, values = _range(group, plural, namespace, after)
        query = f"SELECT count(*) FROM objects {where}"  # noqa: S608 constants
        return int(self._connection.execute(query, values).fetchone()[0])

    def events_after(
        self, revision: int, group: str | None = None, plural: str | None = None
    ) -> list[Logged]:
        """Return what was logged after a revision, of one kind or of all."""
        query = "SELECT * FROM events WHERE revision > ?"
        values: list[Any] = [revision]
        if plural is not None:
            query += " AND grp = ? AND plural = ?"
            values += [group, plural]
        rows = self._connection.execute(f"{query} ORDER BY revision", values)
        return [
            Logged(
                revision=row[0],
                type=EventType(row[1]),
                place=Place(*row[2:6]),
                obj=row[6],
                previous=row[7],
            )
            for row in rows
        ]

    def owned_by(self, uid: str) -> list[Held]:
        """Return the objects that name this uid as an owner."""
        return self._held(
            "JOIN owners USING (grp, plural, namespace, name) WHERE owner_uid = ?", uid
        )

    def dangling(self) -> list[Held]:
        """Return the objects that name an owner which does not exist."""
        return self._held(
            "JOIN owners USING (grp, plural, namespace, name) "
            "WHERE NOT EXISTS (SELECT 1 FROM objects owner WHERE owner.uid = owner_uid)"
        )

    def by_uid(self, uid: str) -> list[Held]:
        """Return the object with this uid, if it exists."""
        return self._held("WHERE uid = ?", uid)

    def in_namespace(self, namespace: str) -> list[Held]:
        """Return all objects of a namespace."""
        return self._held("WHERE namespace = ?", namespace)

    def save_counters(self, max_events: int, oldest_at_seconds: float) -> None:
        """Write the counters, and shorten the event log once it is a tenth above its bounds."""
        counters = self.counters
        if counters.revision - counters.compacted > max_events * 11 // 10:
            self.compact(counters.revision - max_events)
        elif counters.revision % 64 == 0:
            aged = "SELECT max(revision) FROM events WHERE at_seconds < ?"
            newest = self._connection.execute(aged, (oldest_at_seconds,)).fetchone()[0]
            if newest:
                self.compact(newest)
        self._connection.execute(
            "UPDATE counters SET revision = ?, compacted = ?",
            (counters.revision, counters.compacted),
        )

    def compact(self, revision: int) -> None:
        """Forget what was logged up to that revision."""
        self._connection.execute("DELETE FROM events WHERE revision <= ?", (revision,))
        self.counters.compacted = max(self.counters.compacted, revision)

    def _log(
        self, event: EventType, place: Place, obj: JsonObject, previous: bytes | None, now: float
    ) -> bytes:
        revision = self.counters.revision = self.counters.revision + 1
        obj["metadata"]["resourceVersion"] = str(revision)
        text = encoded(obj)
        self._connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (revision, event, *_key(place), text, previous, now),
        )
        self.counters.pending.append(
            Logged(revision=revision, type=event, place=place, obj=text, previous=previous)
        )
        return text

    def _write_owners(self, place: Place, references: Iterable[JsonObject]) -> None:
        self._connection.execute(f"DELETE FROM owners WHERE {_KEY}", _key(place))  # noqa: S608 a constant
        self._connection.executemany(
            "INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?, ?)",
            [(str(one.get("uid", "")), *_key(place)) for one in references],
        )

    def _held(self, where: str, *values: str) -> list[Held]:
        columns = "objects.grp, objects.plural, objects.namespace, objects.name, objects.obj"
        rows = self._connection.execute(f"SELECT {columns} FROM objects {where}", values)  # noqa: S608 constants
        found = {Place(*row[:4]): row[4] for row in rows}
        return [Held(place=place, obj=parsed(obj)) for place, obj in found.items()]


def _key(place: Place) -> tuple[str, str, str, str]:
    return (place.group, place.plural, place.namespace, place.name)


def _range(
    group: str, plural: str, namespace: str, after: tuple[str, str] | None
) -> tuple[str, list[str]]:
    where, values = "WHERE grp = ? AND plural = ?", [group, plural]
    if namespace:
        where += " AND namespace = ?"
        values.append(namespace)
    if after:
        where += " AND (namespace, name) > (?, ?)"
        values += after
    return where, values
