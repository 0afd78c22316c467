"""Lists in pages that all show one revision, though writes go on between them."""

import base64
import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from gputide.kubeapi.errors import bad_request, expired
from gputide.kubeapi.model import JsonObject, Kind, Page
from gputide.kubeapi.storage.model import Place
from gputide.kubeapi.storage.rows import Rows, parsed
from gputide.kubeapi.storage.watching import Matches
from gputide.kubeapi.storage.writes import in_version

Key = tuple[str, str]


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the next page starts, and the revision that it shows."""

    revision: int
    namespace: str
    name: str

    def text(self) -> str:
        """Return the token as clients carry it."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is listed."""

    kind: Kind
    namespace: str = ""
    matches: Matches | None = None
    limit: int = 0
    """0: all."""

    continue_token: str = ""


def listed(rows: Rows, query: Query) -> Page:
    """Return one page; raise 400 for a broken token, 410 for one that the log has forgotten."""
    token = _token(query.continue_token) if query.continue_token else None
    revision = token.revision if token else rows.counters.revision
    if not rows.counters.compacted <= revision <= rows.counters.revision:
        raise expired(
            "The provided continue parameter is too old to display a consistent list result. "
            "You can start a new list without the continue parameter."
        )
    after = (token.namespace, token.name) if token else None
    past = _Past.of(rows, query, revision)
    items: list[JsonObject] = []
    last: Key = ("", "")
    for key, text in past.objects_after(after):
        obj = in_version(query.kind, parsed(text))
        if query.matches is not None and not query.matches(obj):
            continue
        if query.limit and len(items) == query.limit:
            return Page(
                items=tuple(items),
                resource_version=str(revision),
                continue_token=Token(revision, *last).text(),
                remaining_count=past.count_after(last) if query.matches is None else None,
            )
        items.append(obj)
        last = key
    return Page(items=tuple(items), resource_version=str(revision))


@dataclass(frozen=True, slots=True)
class _Past:
    """The objects as they were at a revision: the present ones with later events undone."""

    rows: Rows
    query: Query
    before: Mapping[Key, bytes | None]
    """What was there, of the objects that changed since; None: nothing."""

    @classmethod
    def of(cls, rows: Rows, query: Query, revision: int) -> Self:
        before: dict[Key, bytes | None] = {}
        for one in rows.events_after(revision, query.kind.group, query.kind.plural):
            if query.namespace in ("", one.place.namespace):
                before.setdefault((one.place.namespace, one.place.name), one.previous)
        return cls(rows, query, before)

    def objects_after(self, after: Key | None) -> Iterator[tuple[Key, bytes]]:
        kind = self.query.kind
        present = self.rows.objects(kind.group, kind.plural, self.query.namespace, after)
        kept = (row for row in present if row[0] not in self.before)
        undone = sorted(
            (key, text)
            for key, text in self.before.items()
            if text is not None and (after is None or key > after)
        )
        return heapq.merge(kept, undone, key=lambda row: row[0])

    def count_after(self, last: Key) -> int:
        kind = self.query.kind
        count = self.rows.count(kind.group, kind.plural, self.query.namespace, last)
        for key, text in self.before.items():
            if key > last:
                is_there = self.rows.find(Place(kind.group, kind.plural, *key)) is not None
                count += (text is not None) - is_there
        return count


def _token(text: str) -> Token:
    try:
        raw: Any = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.json.decode(raw, type=Token)
    except (ValueError, msgspec.DecodeError) as error:  # binascii.Error is a ValueError
        raise bad_request(f"continue key is not valid: {error}") from error
