"""watch: events as lines of JSON until the client, the time or the server ends it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

import msgspec
import structlog
from starlette.types import Receive, Scope, Send

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers.context import Asked, number
from gputide.kubeapi.handlers.read import shown
from gputide.kubeapi.model import EventType, JsonObject, Selection, WatchEvent
from gputide.kubeapi.negotiate import JSON_TYPE
from gputide.kubeapi.selectors import select

INITIAL_END = "k8s.io/initial-events-end"
STOP = "gputide.stop"
"""Name of the ASGI extension that holds the event which ends long answers."""

log = structlog.stdlib.get_logger()


async def watch(asked: Asked) -> "WatchAnswer":
    """Answer with events; what is wrong with the request is refused before the first byte."""
    selection = asked.selection
    select(selection)
    version = asked.parameter("resourceVersion")
    has_initial = asked.parameter("sendInitialEvents")
    if has_initial == "true":
        version = ""
    elif has_initial == "false" and version in ("", "0"):
        page = await asked.storage.list(asked.kind, Selection(), limit=1)
        version = page.resource_version
    events = asked.storage.watch(
        asked.kind,
        selection,
        resource_version=version,
        has_bookmarks=asked.flag("allowWatchBookmarks"),
    )
    most = asked.context.limits.watch_seconds
    seconds = number(asked.parameter("timeoutSeconds"), "timeoutSeconds", 0) or most
    return WatchAnswer(asked, events, seconds=seconds, is_initial_told=has_initial == "true")


class WatchAnswer:
    """The answer to a watch, as an ASGI application."""

    def __init__(
        self,
        asked: Asked,
        events: AsyncIterator[WatchEvent],
        *,
        seconds: float,
        is_initial_told: bool,
    ) -> None:
        self._asked = asked
        self._events = events
        self._seconds = seconds
        self._is_initial_told = is_initial_told
        self._form = shown(asked)
        self._has_headers = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head at once and each event as it comes."""
        headers = [(b"content-type", JSON_TYPE.encode()), (b"cache-control", b"no-cache, private")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        ends: list[asyncio.Task[object]] = [asyncio.create_task(_gone(receive))]
        stop = (scope.get("extensions") or {}).get(STOP)
        if isinstance(stop, asyncio.Event):
            ends.append(asyncio.create_task(stop.wait()))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._send_all(send, ends)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        if not ends[0].done() or ends[0].cancelled():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send, ends: list[asyncio.Task[object]]) -> None:
        lines = self._lines()
        try:
            while True:
                following = asyncio.ensure_future(anext(lines, None))
                try:
                    waited: list[asyncio.Future[Any]] = [following, *ends]
                    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                    if not following.done():
                        return
                    line = following.result()
                finally:
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)
                if line is None:
                    return
                await send({"type": "http.response.body", "body": line, "more_body": True})
        finally:
            await lines.aclose()

    async def _lines(self) -> AsyncGenerator[bytes]:
        try:
            async for event in self._events:
                obj = self._object(event)
                if obj is not None:
                    yield _line(event.type.value, obj)
        except StatusError as error:
            yield _line("ERROR", error.to_object())
        except Exception:
            log.exception("watch failed", resource=self._asked.resource)
            failed = StatusError(500, "InternalError", "the watch failed; list again")
            yield _line("ERROR", failed.to_object())
        finally:
            if hasattr(self._events, "aclose"):
                await self._events.aclose()

    def _object(self, event: WatchEvent) -> JsonObject | None:
        if event.type is EventType.BOOKMARK:
            annotations = event.object["metadata"].get("annotations") or {}
            is_hidden = INITIAL_END in annotations and not self._is_initial_told
            return None if is_hidden else self._form.mark(event.object)
        has_headers, self._has_headers = self._has_headers, False
        return self._form.one(event.object, has_headers=has_headers)


async def _gone(receive: Receive) -> object:
    while (await receive())["type"] != "http.disconnect":
        pass
    return None


def _line(type_: str, obj: JsonObject) -> bytes:
    return msgspec.json.encode({"type": type_, "object": obj}) + b"\n"
