"""One client: bytes to requests and back by h11, with a deadline for whatever it has to do."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol, cast

import h11
import structlog

from gputide.exporter.http.model import Request, Response, refusal

log = structlog.stdlib.get_logger()
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one client, and all of them, may take."""

    max_connections: int = 64
    max_header_bytes: int = 16 * 1024
    max_body_bytes: int = 64 * 1024
    """Of a request; nobody has a reason to send one."""

    request_seconds: float = 10
    """For a request to arrive, from its first byte (or from the connection's beginning)."""

    idle_seconds: float = 150
    """Between requests; above the usual scrape intervals, so that their connections live on."""

    write_seconds: float = 30
    """For the client to take a response."""


class Peers(Protocol):
    """All connections of a server."""

    def add(self, connection: "Connection") -> bool:
        """Take in a connection; False where there is no room for it."""

    def touch(self, connection: "Connection") -> None:
        """Note that a connection was of use."""

    def remove(self, connection: "Connection") -> None:
        """Forget a connection that has ended."""


class Connection(asyncio.Protocol):
    """Serves one connection, a request after the other."""

    def __init__(self, answer: Answer, limits: Limits, peers: Peers) -> None:
        self._answer = answer
        self._limits = limits
        self._peers = peers
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.max_header_bytes)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._request: h11.Request | None = None
        self._body_bytes = 0
        self._is_idle = False
        self._is_ending = False
        self._drained = asyncio.Event()
        self._drained.set()

    @property
    def is_waiting(self) -> bool:
        """Whether the client is the one who has to do something."""
        return self._task is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; asyncio calls this, after the TLS handshake where there is one."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)  # so that `resume_writing` means: all gone
        if self._peers.add(self):
            self._set_deadline(self._limits.request_seconds)
        else:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 asyncio's name
        """End."""
        self._clear_deadline()
        self._peers.remove(self)
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        """Take bytes in any chunking."""
        if self._is_ending:
            return
        if self._is_idle:
            self._is_idle = False
            self._set_deadline(self._limits.request_seconds)
        self._http.receive_data(data)
        self._advance()

    def eof_received(self) -> bool:
        """Take the client's end; a response under way may still go out."""
        if self._is_ending:
            return False
        self._http.receive_data(b"")
        self._advance()
        return self._task is not None

    def pause_writing(self) -> None:
        """Note that the client is slow to read."""
        self._drained.clear()

    def resume_writing(self) -> None:
        """Note that it has read all."""
        self._drained.set()

    def end(self) -> None:
        """Close now where the client is waited for, else after the response."""
        self._is_ending = True
        if self.is_waiting:
            self._transport.close()

    def abort(self) -> None:
        """Close at once, whatever is under way."""
        self._transport.abort()

    def _advance(self) -> None:
        """Work through what has arrived."""
        try:
            while self._take(self._http.next_event()):
                pass
        except h11.RemoteProtocolError as error:
            self._refuse(HTTPStatus(error.error_status_hint), str(error))

    def _take(self, event: object) -> bool:
        """Act on one event; return whether to look for more."""
        match event:
            case h11.Request():
                self._request, self._body_bytes = event, 0
            case h11.Data():
                self._body_bytes += len(event.data)
                if self._body_bytes > self._limits.max_body_bytes:
                    self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "no body is expected")
                    return False
            case h11.EndOfMessage():
                self._begin_response()
                return False
            case h11.ConnectionClosed():
                self._transport.close()
                return False
            case _:  # NEED_DATA, PAUSED
                return False
        return True

    def _begin_response(self) -> None:
        self._clear_deadline()
        self._transport.pause_reading()  # a client that pipelines waits in the kernel's buffer
        self._task = self._loop.create_task(self._respond())

    async def _respond(self) -> None:
        request = self._request
        if request is None:
            return
        try:
            response = await self._answer(self._read(request))
        except Exception:  # a bug costs this response, not the process
            log.exception("a request met a bug", path=request.target.decode("ascii", "replace"))
            response = refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error")
        self._send(response, is_head=request.method == b"HEAD")
        try:
            async with asyncio.timeout(self._limits.write_seconds):
                await self._drained.wait()
        except TimeoutError:
            self.abort()
            return
        self._task = None
        self._peers.touch(self)
        self._next()

    def _next(self) -> None:
        """Get ready for the next request, or close."""
        if self._is_ending or self._http.our_state is not h11.DONE:
            self._transport.close()
            return
        with suppress(h11.LocalProtocolError):  # the client has closed: `next_event` says so
            self._http.start_next_cycle()
        self._is_idle = True
        self._set_deadline(self._limits.idle_seconds)
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._advance()

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        """Say what is wrong, and close."""
        self._is_ending = True
        if self._http.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._send(refusal(status, text, connection="close"), is_head=False)
        self._set_deadline(self._limits.write_seconds)  # for a client that does not read
        self._transport.close()

    def _send(self, response: Response, *, is_head: bool) -> None:
        headers = {"content-type": response.content_type, **response.headers}
        headers["content-length"] = str(len(response.body))
        if self._is_ending:
            headers["connection"] = "close"
        head = h11.Response(
            status_code=response.status,
            reason=response.status.phrase.encode(),
            headers=list(headers.items()),
        )
        self._write(head)
        if response.body and not is_head:
            self._write(h11.Data(data=response.body))
        self._write(h11.EndOfMessage())

    def _write(self, event: h11.Event) -> None:
        self._transport.write(self._http.send(event) or b"")

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._timer = self._loop.call_later(seconds, self._transport.abort)

    def _clear_deadline(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read(self, event: h11.Request) -> Request:
        headers: dict[str, str] = {}
        for name, value in event.headers:
            key, text = name.decode("ascii"), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        return Request(
            method=event.method.decode("ascii"),
            path=event.target.decode("ascii", "replace").partition("?")[0],
            headers=headers,
            certificate=self._transport.get_extra_info("peercert"),
        )
