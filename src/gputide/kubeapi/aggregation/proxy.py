"""Forwards requests to one server behind, and asks it how it is."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

import httpx2
import msgspec
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gputide.kubeapi.aggregation.headers import forwarded, identity, returned
from gputide.kubeapi.aggregation.identity import FrontProxy
from gputide.kubeapi.aggregation.service import Behind
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject, User

Address = Callable[[], Awaitable[tuple[str, int]]]
"""Finds host and port; raises StatusError where there is none."""

AGGREGATOR = User(name="system:kube-aggregator", groups=("system:masters",))
MAX_DISCOVERY_BYTES = 4 * 1024 * 1024
logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log each address in full


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long the server behind may take, and how much it is asked at a time."""

    connect_seconds: float = 5
    health_seconds: float = 5
    answer_seconds: float = 60
    """For a whole answer; a watch has none once its headers are here."""

    connections: int = 256


class Backend:
    """One group version behind: the registry's `Proxied`."""

    def __init__(self, behind: Behind, proxy: FrontProxy, find: Address, limits: Limits) -> None:
        self.behind = behind
        self.is_available = False
        self.reason = "has not been asked yet"
        self._find = find
        self._limits = limits
        self._resources: JsonObject | None = None
        self._client = httpx2.AsyncClient(
            verify=tls_context(behind, proxy),
            timeout=httpx2.Timeout(limits.connect_seconds, read=None, write=None),
            limits=httpx2.Limits(max_connections=limits.connections),
            follow_redirects=False,  # the identity that we vouch for goes to nobody else
            trust_env=False,
        )

    @property
    def group(self) -> str:
        """The API group."""
        return self.behind.group

    @property
    def version(self) -> str:
        """The version."""
        return self.behind.version

    @property
    def app(self) -> ASGIApp:
        """What forwards a request; `scope["user"]` is the `User`, authorized already."""
        return self._forward

    def resource_list(self) -> JsonObject | None:
        """Return the APIResourceList that it answered last; None where it never did."""
        return self._resources

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def check(self) -> None:
        """Ask for its discovery and remember it; raise StatusError where it does not answer."""
        try:
            async with asyncio.timeout(self._limits.health_seconds):
                content = await self._discovery()
        except TimeoutError as error:
            raise self._failed(f"no answer in {self._limits.health_seconds:g} s") from error
        except (httpx2.HTTPError, ssl.SSLError, OSError) as error:
            raise self._failed(_words(error)) from error
        if content != self._resources:  # discovery is made anew only for another object
            self._resources = content

    async def _discovery(self) -> JsonObject:
        headers = [*identity(AGGREGATOR), (b"accept", b"application/json")]
        request = await self._request("GET", self.behind.path.encode(), headers, None)
        response = await self._client.send(request, stream=True)
        try:
            if not response.is_success:
                raise self._failed(f"bad status: {response.status_code}")
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_DISCOVERY_BYTES:
                    raise self._failed(f"its discovery has over {MAX_DISCOVERY_BYTES} bytes")
        finally:
            await response.aclose()
        try:
            content = msgspec.json.decode(bytes(body), type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise self._failed(f"its discovery is no JSON: {error}") from error
        if content.get("kind") != "APIResourceList":
            raise self._failed("its discovery is no APIResourceList")
        return content

    def _failed(self, why: str) -> StatusError:
        message = f"failing or missing response from {self.behind.path}: {why}"
        return StatusError(503, "FailedDiscoveryCheck", message)

    async def _request(
        self,
        method: str,
        path: bytes,
        headers: list[tuple[bytes, bytes]],
        body: AsyncIterator[bytes] | None,
    ) -> httpx2.Request:
        host, port = await self._find()
        name = f"[{host}]" if ":" in host else host
        url = httpx2.URL(f"https://{name}:{port}").copy_with(raw_path=path)
        return self._client.build_request(
            method,
            url,
            headers=[*headers, (b"host", self.behind.server_name.encode())],
            content=body,
            extensions={"sni_hostname": self.behind.server_name},
        )

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.is_available:
            answer = unavailable(f"{self.behind.name} is not available: {self.reason}")
            await answer(scope, receive, send)
            return
        has_started = False

        async def sending(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._exchanged(scope, receive, sending)
        except (StatusError, TimeoutError) as error:
            if has_started:
                raise  # the server breaks the connection off: half an answer must not look whole
            if isinstance(error, TimeoutError):
                error = unreached(self.behind, f"no answer in {self._limits.answer_seconds:g} s")
            await unavailable(str(error))(scope, receive, send)

    async def _exchanged(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_watch = parse_qs(scope["query_string"]).get(b"watch", [b""])[-1] in (b"true", b"1")
        async with asyncio.timeout(self._limits.answer_seconds) as deadline:
            response = await self._sent(scope, receive)
            if is_watch:
                deadline.reschedule(None)
            await self._answered(response, scope, receive, send)

    async def _sent(self, scope: Scope, receive: Receive) -> httpx2.Response:
        """Return the response once its headers are here; raise StatusError (503) without."""
        path = scope.get("raw_path") or scope["path"].encode()
        if scope["query_string"]:
            path += b"?" + scope["query_string"]
        headers = forwarded(scope["headers"], scope["user"])
        lengths = [(name, value) for name, value in scope["headers"] if name == b"content-length"]
        has_body = bool(lengths) or scope["method"] not in ("GET", "HEAD", "OPTIONS")
        try:
            request = await self._request(
                scope["method"],
                path,
                headers + lengths,
                _body(receive) if has_body else None,
            )
            return await self._client.send(request, stream=True)
        except (httpx2.HTTPError, OSError) as error:
            raise unreached(self.behind, _words(error)) from error

    async def _answered(
        self, response: httpx2.Response, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            answer = StreamingResponse(response.aiter_raw(), status_code=response.status_code)
            answer.raw_headers = returned(response.headers.raw)
            await answer(scope, receive, send)
        finally:
            await response.aclose()


def tls_context(behind: Behind, proxy: FrontProxy) -> ssl.SSLContext:
    """Return how the server behind is recognised, and how we are."""
    context = ssl.create_default_context(cadata=behind.authority_pem or None)
    if not behind.is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(proxy.certificate_file, proxy.key_file)
    return context


def unavailable(message: str) -> JSONResponse:
    """Return the 503 of a server behind that does not answer."""
    error = StatusError(503, "ServiceUnavailable", message)
    return JSONResponse(error.to_object(), HTTPStatus.SERVICE_UNAVAILABLE)


def unreached(behind: Behind, why: str) -> StatusError:
    """Return the 503 of a request that did not get through."""
    message = f"error trying to reach service {behind.namespace}/{behind.service}: {why}"
    return StatusError(503, "ServiceUnavailable", message)


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    is_open = True
    while is_open:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise OSError("the client went away")
        yield message.get("body", b"")
        is_open = message.get("more_body", False)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
