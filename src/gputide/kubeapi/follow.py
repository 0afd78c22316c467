"""Follows one kind for ever: every object that is there, then every event."""

from collections.abc import Awaitable, Callable

import structlog

from gputide.clock import Clock
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Kind, Selection, WatchEvent
from gputide.kubeapi.ports import Storage

RETRY_SECONDS = 0.5
log = structlog.stdlib.get_logger()


async def follow(
    storage: Storage, kind: Kind, clock: Clock, take: Callable[[WatchEvent], Awaitable[None]]
) -> None:
    """Hand each event to `take` until cancelled.

    Where the watch or `take` raises StatusError (410, an overloaded storage) it starts over, with
    every object told as ADDED once more: `take` must be able to see one twice, and may miss a
    DELETED.
    """
    while True:
        events = storage.watch(kind, Selection(), resource_version="0", has_bookmarks=False)
        try:
            async for event in events:
                await take(event)
        except StatusError as error:
            log.warning("watch starts over", kind=kind.kind, reason=str(error))
            await clock.sleep(RETRY_SECONDS)
