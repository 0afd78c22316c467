"""The storage that the server is given: ports.Storage over one SQLite file."""

import asyncio
import secrets
import sqlite3
import uuid
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Self

from gputide.clock import Clock, utc_from_unix
from gputide.kubeapi import selectors
from gputide.kubeapi.model import JsonObject, Kind, Page, Scope, Selection, WatchEvent
from gputide.kubeapi.patch.ownership import rfc3339
from gputide.kubeapi.storage import pages, watching, writes
from gputide.kubeapi.storage.model import Bounds, Held, Place
from gputide.kubeapi.storage.records import Stamp
from gputide.kubeapi.storage.rows import Rows
from gputide.kubeapi.storage.schema import opened
from gputide.kubeapi.storage.worker import Worker

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
DEFAULTS = Bounds()


class SqliteStorage:
    """Objects of every kind in one file; ports.Storage tells what each method does.

    All SQL runs in one thread of its own. Writes that wait at the same time share a commit, and an
    answer is given only once it is on disk. `select` compiles label and field selectors.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: Clock,
        *,
        select: Callable[[Selection], watching.Matches] = selectors.select,
        requires_namespaces: bool = False,
        bounds: Bounds = DEFAULTS,
        bookmark_seconds: float = 60,
    ) -> None:
        self._clock = clock
        self._select = select
        self._bounds = bounds
        self._bookmark_seconds = bookmark_seconds
        self._worker = Worker(connection, bounds, clock.now_seconds)
        self._writer = writes.Writer(
            bounds=bounds,
            requires_namespaces=requires_namespaces,
            stamp=self._stamp,
            now_seconds=clock.now_seconds,
        )

    @classmethod
    def open(
        cls,
        path: Path | str,
        clock: Clock,
        *,
        select: Callable[[Selection], watching.Matches] = selectors.select,
        requires_namespaces: bool = False,
        bounds: Bounds = DEFAULTS,
    ) -> Self:
        """Open a file, or ":memory:"; raise InputError where it cannot be used.

        `requires_namespaces`: objects may only be created in a namespace that exists.
        """
        return cls(
            opened(path),
            clock,
            select=select,
            requires_namespaces=requires_namespaces,
            bounds=bounds,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish what was asked and close the file."""
        await asyncio.to_thread(self._worker.close)

    async def get(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        """Return one object; 404."""
        place = _place(kind, namespace, name)
        return await self._worker.ask(lambda rows: writes.present(kind, place, rows.find(place)))

    async def list(
        self, kind: Kind, selection: Selection, *, limit: int = 0, continue_token: str = ""
    ) -> Page:
        """Return the objects in order of namespace and name; 410 for an old continue token."""
        query = pages.Query(
            kind=kind,
            namespace=selection.namespace,
            matches=watching.matcher(selection, self._select),
            limit=limit,
            continue_token=continue_token,
        )
        return await self._worker.ask(partial(pages.listed, query=query))

    async def create(self, kind: Kind, obj: JsonObject, *, is_dry_run: bool = False) -> JsonObject:
        """Store a new object and return it with uid, creationTimestamp, generation; 409."""
        return await self._worker.ask(
            lambda rows: self._writer.create(rows, kind, obj, is_dry_run=is_dry_run)
        )

    async def update(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        change: Callable[[JsonObject], JsonObject],
        *,
        is_dry_run: bool = False,
    ) -> JsonObject:
        """Store what `change` makes of the object; `change` runs in the database's thread."""
        place = _place(kind, namespace, name)
        return await self._worker.ask(
            lambda rows: self._writer.update(rows, kind, place, change, is_dry_run=is_dry_run)
        )

    async def delete(  # noqa: PLR0913 the port's
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: str = "",
        is_dry_run: bool = False,
    ) -> JsonObject:
        """Delete it (or mark it, while it has finalizers) and return its last state; 404, 409."""
        place = _place(kind, namespace, name)
        terms = writes.DeleteTerms(
            uid=uid,
            resource_version=resource_version,
            propagation=propagation,
            is_dry_run=is_dry_run,
        )
        return await self._worker.ask(lambda rows: self._writer.delete(rows, kind, place, terms))

    async def watch(
        self, kind: Kind, selection: Selection, *, resource_version: str, has_bookmarks: bool
    ) -> AsyncIterator[WatchEvent]:
        """Yield what happens after that version ("" or "0": present objects first); 410.

        The 410 is raised where the version is compacted, or this watcher reads too slowly.
        """
        wanted = watching.Filter(
            kind=kind,
            namespace=selection.namespace,
            matches=watching.matcher(selection, self._select),
        )
        async for one in self._events(wanted, resource_version):
            if isinstance(one, WatchEvent):
                yield one
            elif has_bookmarks:
                yield watching.bookmark(kind, one)

    async def changes(self, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Yield every event of every kind after that version; 410."""
        async for one in self._events(watching.Filter(), resource_version):
            if isinstance(one, WatchEvent):
                yield one

    async def revision(self) -> int:
        """Return the newest revision."""
        return await self._worker.ask(lambda rows: rows.counters.revision)

    async def compact(self) -> None:
        """Forget all events so far: older watches and continue tokens get a 410."""

        def step(rows: Rows) -> None:
            rows.compact(rows.counters.revision)

        await self._worker.ask(step)

    async def owned_by(self, uid: str) -> tuple[Held, ...]:
        """Return the objects that name this uid as an owner."""
        return tuple(await self._worker.ask(lambda rows: rows.owned_by(uid)))

    async def dangling(self) -> tuple[Held, ...]:
        """Return the objects that name an owner which does not exist."""
        return tuple(await self._worker.ask(Rows.dangling))

    async def by_uid(self, uid: str) -> Held | None:
        """Return the object with this uid, of whatever kind."""
        found = await self._worker.ask(lambda rows: rows.by_uid(uid))
        return found[0] if found else None

    async def in_namespace(self, namespace: str) -> tuple[Held, ...]:
        """Return all objects of a namespace, of whatever kind."""
        return tuple(await self._worker.ask(lambda rows: rows.in_namespace(namespace)))

    async def _events(
        self, wanted: watching.Filter, resource_version: str
    ) -> AsyncIterator[WatchEvent | watching.Progress]:
        watcher = watching.Watcher(wanted, self._bounds.max_behind)

        def begin(rows: Rows) -> watching.Beginning:
            start = watching.begun(rows, wanted, resource_version)
            watcher.after = start.revision
            self._worker.listen(watcher)
            return start

        try:
            start = await self._worker.ask(begin)
            for event in start.events(wanted):
                yield event
            if start.is_initial:
                yield watching.Progress(start.revision, is_first=True)
            while True:
                for event in watcher.events():
                    yield event
                if not await watcher.wait(self._bookmark_seconds):
                    revision = await self.revision()
                    if watcher.is_idle:  # else events of before that revision wait to be told
                        yield watching.Progress(revision)
        finally:
            watcher.is_dropped = True
            self._worker.forget(watcher)

    def _stamp(self) -> Stamp:
        suffix = "".join(secrets.choice(SUFFIX_LETTERS) for _ in range(5))
        time = rfc3339(utc_from_unix(self._clock.now_seconds()))
        return Stamp(uid=str(uuid.uuid4()), time=time, suffix=suffix)


def _place(kind: Kind, namespace: str, name: str) -> Place:
    return Place(kind.group, kind.plural, namespace if kind.scope is Scope.NAMESPACED else "", name)
