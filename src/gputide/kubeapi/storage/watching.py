"""A watch: what is there, what was logged since, then what happens."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gputide.kubeapi.errors import StatusError, bad_request, expired
from gputide.kubeapi.model import EventType, JsonObject, Kind, Selection, WatchEvent
from gputide.kubeapi.storage.model import Logged
from gputide.kubeapi.storage.rows import Rows, parsed
from gputide.kubeapi.storage.writes import in_version

INITIAL_END = "k8s.io/initial-events-end"
Matches = Callable[[JsonObject], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which events a watch is about; `kind` None: all of them."""

    kind: Kind | None = None
    namespace: str = ""
    matches: Matches | None = None
    """None: no selector."""

    def concerns(self, logged: Logged) -> bool:
        """Whether the event lies in the kind and namespace."""
        place = logged.place
        if self.namespace and place.namespace != self.namespace:
            return False
        kind = self.kind
        return kind is None or (kind.group == place.group and kind.plural == place.plural)

    def event(self, logged: Logged) -> WatchEvent | None:
        """Return what the watcher sees: an object may enter or leave the selection."""
        now = self._selected(logged.obj) if logged.type is not EventType.DELETED else None
        before = self._selected(logged.previous) if logged.previous else None
        if now is not None:
            is_new = before is None
            return WatchEvent(type=EventType.ADDED if is_new else EventType.MODIFIED, object=now)
        if before is None:
            return None
        last = self._versioned(logged.obj) if logged.type is EventType.DELETED else before
        last["metadata"]["resourceVersion"] = str(logged.revision)
        return WatchEvent(type=EventType.DELETED, object=last)

    def added(self, obj: bytes) -> WatchEvent | None:
        """Return the event of an object that is there already."""
        selected = self._selected(obj)
        return None if selected is None else WatchEvent(type=EventType.ADDED, object=selected)

    def _selected(self, text: bytes) -> JsonObject | None:
        obj = self._versioned(text)
        return obj if self.matches is None or self.matches(obj) else None

    def _versioned(self, text: bytes) -> JsonObject:
        obj = parsed(text)
        return in_version(self.kind, obj) if self.kind else obj


@dataclass(slots=True, eq=False)
class Watcher:  # eq=False: a set of listeners holds it
    """What is logged and not yet taken, between the database's thread and an event loop."""

    filter: Filter
    max_behind: int
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    is_dropped: bool = False
    after: int = 0
    """The revision that it began with: a commit may hold older events, which it has seen."""

    _behind: deque[Logged] = field(default_factory=deque)
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, events: Sequence[Logged]) -> bool:
        """Pass on what concerns this watch, in the database's thread; False: nobody listens."""
        concerned = [
            one for one in events if one.revision > self.after and self.filter.concerns(one)
        ]
        if concerned and not self.is_dropped:
            try:
                self.loop.call_soon_threadsafe(self._add, concerned)
            except RuntimeError:  # its loop is closed; whoever watched is gone
                return False
        return not self.is_dropped

    @property
    def is_idle(self) -> bool:
        """Whether all that was told has been taken."""
        return not self._behind and not self.is_dropped

    def events(self) -> Iterator[WatchEvent]:
        """Take what was told so far; raise 410 where that was more than the bound."""
        while True:
            if self.is_dropped:
                raise expired(f"the watch fell over {self.max_behind} events behind; list again")
            if not self._behind:
                self._wakeup.clear()
                return
            event = self.filter.event(self._behind.popleft())
            if event is not None:
                yield event

    async def wait(self, seconds: float) -> bool:
        """Wait for an event; return False where none came in that time."""
        try:
            async with asyncio.timeout(seconds):
                await self._wakeup.wait()
        except TimeoutError:
            return False
        return True

    def _add(self, events: Sequence[Logged]) -> None:
        if len(self._behind) + len(events) > self.max_behind:
            self.is_dropped = True
            self._behind.clear()
        else:
            self._behind.extend(events)
        self._wakeup.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """Where a watch starts: at a revision, after objects that are there or events since."""

    revision: int
    is_initial: bool = False
    """Whether it starts with the objects that are there."""

    present: tuple[bytes, ...] = ()
    since: tuple[Logged, ...] = ()

    def events(self, wanted: Filter) -> Iterator[WatchEvent]:
        """Yield what the watch starts with."""
        found = (wanted.added(obj) for obj in self.present)
        since = (wanted.event(one) for one in self.since)
        yield from (one for one in chain(found, since) if one is not None)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a watch has come: the revision of a bookmark."""

    revision: int
    is_first: bool = False
    """All objects that were there have been told."""


def begun(rows: Rows, wanted: Filter, resource_version: str) -> Beginning:
    """Return the beginning; raise 410 for a compacted version, 400 for one that is no number."""
    counters, kind = rows.counters, wanted.kind
    if resource_version in ("", "0"):
        found = rows.objects(kind.group, kind.plural, wanted.namespace, None) if kind else ()
        present = tuple(obj for _, obj in found)
        return Beginning(revision=counters.revision, is_initial=True, present=present)
    revision = parsed_version(resource_version)
    if revision < counters.compacted:
        raise expired(f"too old resource version: {revision} ({counters.compacted})")
    if revision > counters.revision:
        message = f"Too large resource version: {revision}, current: {counters.revision}"
        raise StatusError(504, "Timeout", message, retry_after_seconds=1)
    which = (kind.group, kind.plural) if kind else (None, None)
    logged = rows.events_after(revision, *which)
    since = tuple(one for one in logged if wanted.concerns(one))
    return Beginning(revision=counters.revision, since=since)


def parsed_version(resource_version: str) -> int:
    """Return the number of a resourceVersion; raise 400 where it is none."""
    if not (resource_version.isascii() and resource_version.isdigit()):
        raise bad_request(f"Invalid resource version {resource_version!r}: it is no number")
    return int(resource_version)


def bookmark(kind: Kind, progress: Progress) -> WatchEvent:
    """Return the event that tells how far the watch has come."""
    metadata: JsonObject = {"resourceVersion": str(progress.revision)}
    if progress.is_first:
        metadata["annotations"] = {INITIAL_END: "true"}
    obj = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}
    return WatchEvent(type=EventType.BOOKMARK, object=obj)


def matcher(selection: Selection, select: Callable[[Selection], Matches]) -> Matches | None:
    """Return what an object must satisfy, or None where the selection names no selector."""
    if selection.label_selector or selection.field_selector:
        return select(selection)
    return None
