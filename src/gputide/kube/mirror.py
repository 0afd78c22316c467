"""A local copy of one resource, kept up by list and watch."""

import asyncio
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, TypeVar

import structlog

from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.errors import (
    BusyError,
    ForbiddenError,
    GoneError,
    InvalidError,
    KubeError,
    NotFoundError,
    UnauthorizedError,
    UnreachableError,
)
from gputide.kube.model import EventType, JsonObject, ResourceType, WatchEvent, name_of
from gputide.kube.retry import system_random

log = structlog.stdlib.get_logger()

T = TypeVar("T")
Key = tuple[str, str]

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 30.0
QUICK_WATCH_SECONDS = 1.0
"""A watch that ends sooner must not make us spin."""

TOO_LARGE = "Too large resource version"
"""What a server says of versions that it has not reached, in a 504; client-go reads it, too."""


class MirrorState(StrEnum):
    """What a mirror can tell of its resource."""

    STARTING = "starting"
    CURRENT = "current"
    BEHIND = "behind"
    """The server cannot be asked; what was known last is shown."""

    MISSING = "missing"
    """The server does not serve the resource (no CRD yet)."""

    FORBIDDEN = "forbidden"


class Mirror(Generic[T]):
    """Objects by (namespace, name), each as `decode` keeps it; None from `decode` leaves one out.

    A list replaces all at once, so nobody sees half of one. `changes` counts up with each change;
    callbacks hear of each key. `run` never ends by an error of the server.
    """

    def __init__(  # noqa: PLR0913  what a list and watch need
        self,
        client: KubeClient,
        kind: ResourceType,
        decode: Callable[[JsonObject], T | None],
        clock: Clock,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        random: Callable[[], float] = system_random,
    ) -> None:
        self._client = client
        self._kind = kind
        self._decode = decode
        self._clock = clock
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._random = random
        self._objects: dict[Key, T] = {}
        self._callbacks: list[Callable[[Key], None]] = []
        self._changed = asyncio.Event()
        self._has_synced = asyncio.Event()
        self._version = ""
        self._current_at_seconds: float | None = None
        self.state = MirrorState.STARTING
        self.problem = ""
        """Why it is not current, in words."""

        self.changes = 0
        self.lists_total = 0

    @property
    def objects(self) -> Mapping[Key, T]:
        """What is known; a view that follows the changes."""
        return MappingProxyType(self._objects)

    @property
    def resource(self) -> str:
        """`plural.group`, for messages."""
        return self._kind.qualified

    @property
    def is_synced(self) -> bool:
        """Whether the resource was listed once."""
        return self._has_synced.is_set()

    def age_seconds(self) -> float | None:
        """Return how long ago the server last told us anything; None: never."""
        if self._current_at_seconds is None:
            return None
        return max(self._clock.monotonic_seconds() - self._current_at_seconds, 0.0)

    async def wait_synced(self) -> None:
        """Wait for the first list."""
        await self._has_synced.wait()

    async def wait_changed(self) -> None:
        """Wait for the next change."""
        self._changed.clear()
        await self._changed.wait()

    def on_change(self, callback: Callable[[Key], None]) -> None:
        """Have a function called with the key of each object that came, changed or went."""
        self._callbacks.append(callback)

    async def run(self) -> None:
        """List and watch until cancelled."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            started = self._clock.monotonic_seconds()
            try:
                await self._follow()
                pause = FIRST_PAUSE_SECONDS
            except GoneError as error:
                self._version = ""  # forgotten versions are the server's daily business
                if self._clock.monotonic_seconds() - started >= QUICK_WATCH_SECONDS:
                    continue
                if pause > FIRST_PAUSE_SECONDS:  # yet not one after the other
                    self._note(error)
            except KubeError as error:
                wish = error.retry_after_seconds if isinstance(error, BusyError) else None
                pause = max(pause, min(wish or 0.0, MAX_PAUSE_SECONDS))
                self._note(error)
            if self._clock.monotonic_seconds() - started >= MAX_PAUSE_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            await self._clock.sleep(pause * (0.5 + self._random()))
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def _follow(self) -> None:
        """List where no version is known, then watch until a watch ends early or fails."""
        if not self._version:
            await self._list()
        while True:
            started = self._clock.monotonic_seconds()
            await self._watch()
            if self._clock.monotonic_seconds() - started < QUICK_WATCH_SECONDS:
                return

    async def _list(self) -> None:
        found: dict[Key, T] = {}

        def keep(obj: JsonObject) -> None:
            made = self._decode(obj)
            if made is not None:
                found[name_of(obj)] = made

        listed = await self._client.list(
            self._kind,
            self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            decode=keep,
        )
        before, self._objects = self._objects, found
        self._version = listed.resource_version
        self.lists_total += 1
        self._mark_current()
        self._has_synced.set()
        for key in before.keys() | found.keys():
            if before.get(key) != found.get(key):
                self._tell(key)

    async def _watch(self) -> None:
        try:
            async for event in self._client.watch(
                self._kind,
                self._namespace,
                resource_version=self._version,
                label_selector=self._label_selector,
                field_selector=self._field_selector,
                decode=lambda obj: (name_of(obj), self._decode(obj)),
            ):
                self._take(event)
        except UnreachableError:
            if self.state is not MirrorState.CURRENT:
                raise
            # the connection ended within a good watch: go on from the last version at once; the
            # next attempt tells whether the server is really away
            self.state = MirrorState.BEHIND

    def _take(self, event: WatchEvent[tuple[Key, T | None]]) -> None:
        self._mark_current()
        self._version = event.resource_version or self._version
        if event.object is None:
            return
        key, made = event.object
        if event.type is EventType.DELETED or made is None:
            if self._objects.pop(key, None) is not None:
                self._tell(key)
        elif self._objects.get(key) != made:
            self._objects[key] = made
            self._tell(key)

    def _tell(self, key: Key) -> None:
        self.changes += 1
        self._changed.set()
        for callback in self._callbacks:
            callback(key)

    def _mark_current(self) -> None:
        if self.state is not MirrorState.CURRENT and self.lists_total > 1:
            log.info("watching again", resource=self._kind.qualified)
        self.state, self.problem = MirrorState.CURRENT, ""
        self._current_at_seconds = self._clock.monotonic_seconds()

    def _note(self, error: KubeError) -> None:
        if isinstance(error, NotFoundError):
            state = MirrorState.MISSING
            if self._objects:  # the resource itself was removed, and its objects with it
                gone, self._objects = self._objects, {}
                for key in gone:
                    self._tell(key)
            self._version = ""
        elif isinstance(error, ForbiddenError | UnauthorizedError):
            state = MirrorState.FORBIDDEN
        else:
            state = MirrorState.BEHIND
            if isinstance(error, InvalidError) or TOO_LARGE in error.problem:
                self._version = (
                    ""  # of another history: the server's store was put back or made anew
                )
        if (state, str(error)) != (self.state, self.problem):
            log.warning("cannot watch", resource=self._kind.qualified, why=str(error))
        self.state, self.problem = state, str(error)
        self._changed.set()
