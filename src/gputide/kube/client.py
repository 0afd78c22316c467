"""The client: objects as plain dicts, errors as types, a deadline on everything."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
import msgspec
from lightkube.core.exceptions import ConfigError

from gputide.clock import Clock, SystemClock
from gputide.kube.asking import (
    group_path,
    is_idempotent,
    object_path,
    read_body,
    retry_after,
    selection,
    words,
    writing,
)
from gputide.kube.config import Connected, connect
from gputide.kube.errors import KubeError, UnreachableError, error_of
from gputide.kube.model import (
    EventType,
    JsonObject,
    ObjectList,
    PatchType,
    ResourceType,
    WatchEvent,
)
from gputide.kube.retry import Retry, system_random
from gputide.kube.settings import KubeSettings
from gputide.kube.wire import decode_list, decode_object, decode_resource, read_events

T = TypeVar("T")
Decode = Callable[[JsonObject], T]

PAGE_OBJECTS = 500
WATCH_SECONDS = 300
"""After which the server ends a watch: as long can a silently broken connection deceive us."""

_NO_ANSWER = (httpx2.HTTPError, httpx2.InvalidURL, OSError, ConfigError)
"""OSError holds TimeoutError; ConfigError: no token, at the time of asking."""


class KubeClient:
    """One API server; an async context manager. Safe to use from several tasks.

    Methods raise the types of `errors`. Reads, and writes that name the version they are based on,
    are tried again a few times (full jitter, the server's Retry-After) within the deadline.
    """

    def __init__(
        self,
        settings: KubeSettings | None = None,
        *,
        clock: Clock | None = None,
        random: Callable[[], float] = system_random,
    ) -> None:
        self._settings = settings or KubeSettings()
        self._connected: Connected = connect(self._settings)
        self._clock = clock or SystemClock()
        self._retry = Retry(self._clock, random)
        self._slots = asyncio.Semaphore(self._settings.max_concurrency)
        self._types: dict[tuple[str, str], ResourceType] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def server(self) -> str:
        """The server's address."""
        return self._connected.server

    @property
    def namespace(self) -> str:
        """The namespace of the kubeconfig's context."""
        return self._connected.namespace

    async def close(self) -> None:
        """Close the connections."""
        await self._connected.client.aclose()

    async def get(
        self, kind: ResourceType, namespace: str, name: str, *, subresource: str = ""
    ) -> JsonObject:
        """Return one object."""
        return await self._json("GET", object_path(kind, namespace, name, subresource))

    async def list(
        self,
        kind: ResourceType,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        decode: Decode[T] | None = None,
    ) -> ObjectList[T]:
        """Return all objects, read in pages; `decode` makes of each what the caller keeps."""
        items: list[Any] = []
        parameters = selection(label_selector, field_selector) | {"limit": str(PAGE_OBJECTS)}
        while True:
            body = await self._ask("GET", kind.path(namespace), parameters=parameters)
            page = decode_list(body, kind)
            items += page.items if decode is None else map(decode, page.items)
            if not page.continue_token:
                return ObjectList(items=tuple(items), resource_version=page.resource_version)
            if page.continue_token == parameters.get("continue"):
                raise KubeError(f"list {kind.qualified}", "the server sends the same page again")
            parameters["continue"] = page.continue_token

    async def watch(
        self,
        kind: ResourceType,
        namespace: str = "",
        *,
        resource_version: str,
        label_selector: str = "",
        field_selector: str = "",
        decode: Decode[T] | None = None,
    ) -> AsyncIterator[WatchEvent[T]]:
        """Yield what happens after that version until the server ends the watch.

        GoneError: list anew. UnreachableError: the connection broke; go on from the last version.
        """
        parameters = selection(label_selector, field_selector) | {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        path = kind.path(namespace)
        read_seconds = WATCH_SECONDS + self._settings.timeout_seconds
        patience = httpx2.Timeout(self._settings.timeout_seconds, read=read_seconds)
        async with self._stream(path, parameters, patience) as chunks:
            async for event in read_events(chunks, f"watch {path}"):
                made: Any = event.object
                if event.type is EventType.BOOKMARK:
                    made = None
                elif decode is not None and event.object is not None:
                    made = decode(event.object)
                yield WatchEvent(
                    type=event.type, object=made, resource_version=event.resource_version
                )

    async def create(
        self,
        kind: ResourceType,
        namespace: str,
        obj: Mapping[str, Any],
        *,
        is_dry_run: bool = False,
        field_manager: str = "gputide",
    ) -> JsonObject:
        """Create an object, of that kind where it names none; ConflictError where it exists."""
        parameters = writing(field_manager, is_dry_run=is_dry_run)
        path = kind.path(namespace)
        body = {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
        return await self._json("POST", path, parameters=parameters, body=body)

    async def replace(
        self,
        kind: ResourceType,
        namespace: str,
        name: str,
        obj: Mapping[str, Any],
        *,
        subresource: str = "",
        field_manager: str = "gputide",
    ) -> JsonObject:
        """Replace an object; with a resourceVersion in it ConflictError says that it changed."""
        path = object_path(kind, namespace, name, subresource)
        return await self._json("PUT", path, parameters=writing(field_manager), body=obj)

    async def patch(  # noqa: PLR0913  as many as kubectl patch has
        self,
        kind: ResourceType,
        namespace: str,
        name: str,
        patch: Any,  # noqa: ANN401  an object, or a list of operations
        *,
        patch_type: PatchType = PatchType.MERGE,
        subresource: str = "",
        is_dry_run: bool = False,
        is_forced: bool = False,
        field_manager: str = "gputide",
    ) -> JsonObject:
        """Change an object; PatchType.APPLY is server-side apply."""
        parameters = writing(field_manager, is_dry_run=is_dry_run)
        if patch_type is PatchType.APPLY:
            parameters["force"] = "true" if is_forced else "false"
            parameters["fieldValidation"] = "Strict"  # what a person wrote, as kubectl checks it
        return await self._json(
            "PATCH",
            object_path(kind, namespace, name, subresource),
            parameters=parameters,
            body=patch,
            content_type=patch_type.value,
        )

    async def delete(
        self, kind: ResourceType, namespace: str, name: str, *, propagation: str = "Background"
    ) -> None:
        """Delete an object."""
        body = {"propagationPolicy": propagation}
        await self._ask("DELETE", object_path(kind, namespace, name), body=body)

    async def raw(self, path: str, *, accept: str = "application/json, */*") -> bytes:
        """Return whatever the server answers at a path."""
        return await self._ask("GET", path, accept=accept)

    async def resource_for(self, api_version: str, kind: str) -> ResourceType:
        """Return where a kind is served, by discovery (kept); NotFoundError: nowhere."""
        key = (api_version, kind)
        if key not in self._types:
            path = group_path(api_version)
            found = decode_resource(await self._ask("GET", path), api_version, kind)
            if found is None:
                raise error_of(f"{kind} of {api_version}", 404, b"")
            self._types[key] = found
        return self._types[key]

    async def _json(self, method: str, path: str, **rest: Any) -> JsonObject:  # noqa: ANN401
        return decode_object(await self._ask(method, path, **rest), f"{method} {path}")

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Any = None,  # noqa: ANN401  any JSON
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> bytes:
        headers = {"Accept": accept}
        content = None
        if body is not None:
            content = msgspec.json.encode(body)
            headers["Content-Type"] = content_type
        target = f"{method} {path}"

        async def once(seconds_left: float) -> bytes:
            try:
                async with (
                    self._slots,
                    asyncio.timeout(seconds_left),  # however slowly bytes come
                    self._connected.client.stream(
                        method, path, params=parameters, content=content, headers=headers
                    ) as answer,
                ):
                    found = await read_body(answer, target)
            except _NO_ANSWER as error:
                raise UnreachableError(target, words(error, self.server)) from error
            if answer.is_success:
                return found
            wish = retry_after(answer)
            raise error_of(target, answer.status_code, found, retry_after_seconds=wish)

        return await self._retry.run(
            once, is_idempotent=is_idempotent(method, body), seconds=self._settings.timeout_seconds
        )

    @asynccontextmanager
    async def _stream(
        self, path: str, parameters: Mapping[str, str], patience: httpx2.Timeout
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        target = f"watch {path}"
        try:
            async with self._connected.client.stream(
                "GET", path, params=parameters, timeout=patience
            ) as answer:
                if not answer.is_success:
                    body, wish = await read_body(answer, target), retry_after(answer)
                    raise error_of(target, answer.status_code, body, retry_after_seconds=wish)
                yield answer.aiter_bytes()
        except _NO_ANSWER as error:
            raise UnreachableError(target, words(error, self.server)) from error
