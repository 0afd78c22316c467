"""A session over a carrier: the shell that both ends run."""

import asyncio
from typing import Any

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.tunnel.exchange import Exchange
from gputide.tunnel.model import CarrierClosedError, TunnelRefusedError
from gputide.tunnel.ports import Carrier, RequestHandler
from gputide.tunnel.protocol import (
    Accepted,
    Call,
    Code,
    DataReceived,
    Event,
    Finished,
    GoingAway,
    Greeted,
    Opened,
    Ponged,
    Refused,
    Request,
    Session,
    StreamClosedError,
    WasReset,
    Writable,
)

log = structlog.stdlib.get_logger()


class Link:
    """One connection between an agent and a gateway, with many exchanges at a time.

    `run` pumps until the connection ends, and then raises why (PeerLostError, PeerProtocolError,
    CarrierClosedError), or returns after a drain. All exchanges under way then break with `gone`.
    """

    def __init__(
        self, carrier: Carrier, session: Session, handler: RequestHandler, clock: Clock
    ) -> None:
        self._carrier = carrier
        self._session = session
        self._handler = handler
        self._clock = clock
        self._exchanges: dict[int, Exchange] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._greeted = asyncio.Event()
        self._is_over = False
        self._cut: str | None = None
        self.round_trip_seconds: float | None = None
        """Of the newest ping through the tunnel; None before the first."""

        self.heard_at_seconds = clock.monotonic_seconds()
        self.bytes_received = 0
        self.bytes_sent = 0
        self.is_peer_draining = False

    @property
    def greeted(self) -> Greeted | None:
        """The peer's hello, once it came."""
        return self._session.greeted

    @property
    def can_open(self) -> bool:
        """Whether requests may be opened now."""
        return not self._is_over and self._session.can_open

    @property
    def exchange_count(self) -> int:
        """Exchanges under way."""
        return len(self._exchanges)

    async def wait_greeted(self) -> None:
        """Wait for the peer's hello."""
        await self._greeted.wait()

    def open(self, request: Request, *, is_finished: bool = False) -> Exchange:
        """Ask the peer for something; raises TunnelRefusedError where the link takes no more."""
        if self._is_over:
            raise TunnelRefusedError(Code.GONE, "the link is down")
        try:
            stream = self._session.open(request, is_finished=is_finished)
        except StreamClosedError as error:
            raise TunnelRefusedError(Code.GONE, str(error)) from error
        return self._track(stream)

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, timeout_seconds: float = 10
    ) -> dict[str, Any]:
        """Call the other side by name and return its result; TunnelRefusedError."""
        request = Call(method=method, params=params or {}, timeout_ms=int(timeout_seconds * 1000))
        exchange = self.open(request, is_finished=True)
        try:
            async with asyncio.timeout(timeout_seconds):
                return (await exchange.reply()).result
        except TimeoutError as error:
            exchange.reset(Code.TIMED_OUT, "no answer in time")
            text = f"{method}: no answer in {timeout_seconds:g} s"
            raise TunnelRefusedError(Code.TIMED_OUT, text) from error
        finally:
            self._untrack(exchange)

    def close_exchange(self, exchange: Exchange, code: Code = Code.GONE, text: str = "") -> None:
        """Break an exchange that is not over, and forget it; call it when done with one."""
        exchange.reset(code, text)
        self._untrack(exchange)

    def drain(self, text: str = "") -> None:
        """Take no new requests; `run` returns when those under way are done."""
        self._session.go_away(text)
        self.wake()

    def cut(self, why: str) -> None:
        """End the link at once; `run` raises CarrierClosedError with this reason."""
        self._cut = why
        self.wake()

    def wake(self) -> None:
        """Send what the session has queued."""
        self._wake.set()

    async def run(self) -> None:
        """Pump until the connection ends; closes the carrier."""
        pumps = (self._receive(), self._send(), self._tick())
        tasks = [asyncio.create_task(one) for one in pumps]
        self.wake()  # the hello waits already
        why = "closed"
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            error = next((e for task in done if (e := task.exception()) is not None), None)
            if error is not None:
                why = str(error)
                raise error
        finally:
            await self._end(tasks, why)

    async def _end(self, tasks: list[asyncio.Task[None]], why: str) -> None:
        self._is_over = True
        for exchange in list(self._exchanges.values()):
            exchange.on_break(Code.GONE, f"the link is down: {why}")
        ending = [*tasks, *self._tasks]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        self._exchanges.clear()
        await self._carrier.close(why)

    async def _receive(self) -> None:
        while True:
            data = await self._carrier.receive()
            now_seconds = self._clock.monotonic_seconds()
            self.heard_at_seconds = now_seconds
            self.bytes_received += len(data)
            try:
                events = self._session.receive(data, now_seconds=now_seconds)
            finally:
                self.wake()
            for event in events:
                self._take(event)
            if self._session.is_drained:
                return

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._cut is not None:
                raise CarrierClosedError(self._cut)
            while data := self._session.data_to_send():
                await self._carrier.send(data)
                self.bytes_sent += len(data)
                for event in self._session.writable():
                    exchange = self._exchanges.get(event.stream)
                    if exchange is not None:
                        exchange.on_writable()
            if self._session.is_drained:
                return

    async def _tick(self) -> None:
        while True:
            wait = self._session.deadline_seconds - self._clock.monotonic_seconds()
            await self._clock.sleep(max(wait, 0.05))
            self._session.tick(now_seconds=self._clock.monotonic_seconds())
            self.wake()

    def _take(self, event: Event) -> None:
        if isinstance(event, Greeted):
            self._greeted.set()
        elif isinstance(event, Ponged):
            self.round_trip_seconds = event.round_trip_seconds
        elif isinstance(event, GoingAway):
            self.is_peer_draining = True
        elif isinstance(event, Opened):
            self._start(event)
        else:
            exchange = self._exchanges.get(event.stream)
            if exchange is not None:
                _tell(exchange, event)
            elif isinstance(event, DataReceived):  # whoever asked is not there any more
                self._session.reset(event.stream)

    def _start(self, event: Opened) -> None:
        exchange = self._track(event.stream)
        if event.is_finished:
            exchange.on_end()
        task = asyncio.create_task(self._handle(event.request, exchange))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, request: Request, exchange: Exchange) -> None:
        try:
            await self._handler.handle(request, exchange)
            exchange.finish()
        except TunnelRefusedError as error:
            exchange.refuse(error.code, error.text)
        except GputideError as error:
            exchange.refuse(Code.FAILED, str(error))
        except asyncio.CancelledError:
            exchange.refuse(Code.GONE, "the link is down")
            raise
        except Exception:  # a bug in one exchange must not take the neighbours' link down
            log.exception("exchange failed", stream=exchange.stream)
            exchange.refuse(Code.FAILED, "an internal error; the log of that side has it")
        finally:
            self._untrack(exchange)

    def _track(self, stream: int) -> Exchange:
        exchange = Exchange(self._session, self, stream)
        self._exchanges[stream] = exchange
        self.wake()
        return exchange

    def _untrack(self, exchange: Exchange) -> None:
        self._exchanges.pop(exchange.stream, None)


def _tell(
    exchange: Exchange,
    event: Accepted | Refused | DataReceived | Finished | WasReset | Writable,
) -> None:
    if isinstance(event, Accepted):
        exchange.on_reply(event.reply)
    elif isinstance(event, DataReceived):
        exchange.on_data(event.data)
    elif isinstance(event, Finished):
        exchange.on_end()
    elif isinstance(event, Refused | WasReset):
        exchange.on_break(event.code, event.text)
    else:
        exchange.on_writable()
