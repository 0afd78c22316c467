"""Fetches overdue pages into the spool, and sends the spool when a gateway is there again."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.tunnel.agent.fetch import Fetched, Fetcher
from gputide.tunnel.agent.offline.schedule import Schedule, key_of
from gputide.tunnel.agent.offline.spool import Batch, Spool
from gputide.tunnel.backfilling import BACKFILL, CLOCK, BackfillBatch, BackfillPage, encode_batch
from gputide.tunnel.link import Link
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.pages import pack
from gputide.tunnel.protocol import Call, Code, Scrape

log = structlog.stdlib.get_logger()

IDLE_SECONDS, RETRY_SECONDS = 1.0, 10.0
SEND_SECONDS = 60.0
PAUSE_RATIO = 1.0
"""The pause after a batch, in terms of the time that it took: live scrapes go first."""

UNASKED_TIMEOUT_SECONDS = 10.0
CONCURRENT_FETCHES = 16


class Keeper:
    """Bridges outages of gateways, of the line, and of Prometheus itself."""

    def __init__(
        self,
        schedule: Schedule,
        spool: Spool,
        fetcher: Fetcher,
        links: Callable[[], list[Link]],
        clock: Clock,
    ) -> None:
        self._schedule = schedule
        self._spool = spool
        self._fetcher = fetcher
        self._links = links
        self._clock = clock
        self._unconfirmed: dict[str, tuple[Scrape, bytes, bytes, int]] = {}
        self._slots = asyncio.Semaphore(CONCURRENT_FETCHES)
        self.delivered_pages = 0

    def on_ask(self, request: Scrape, fetched: Fetched, digest: bytes) -> None:
        """Note a page that was asked for and served; the next ask confirms that it arrived."""
        now_ms = int(self._clock.now_seconds() * 1000)
        unasked = self._schedule.asked(request, now_seconds=self._clock.monotonic_seconds())
        if unasked == 1:  # the ask was only late
            self._spool.drop_since(request, at_ms=now_ms - 2000)
        key = key_of(request)
        before = self._unconfirmed.pop(key, None)
        if before is not None and before[2] != request.base:
            self._keep(before[0], before[1], before[3])
        if fetched.status == 200:
            self._unconfirmed[key] = (request, fetched.page, digest, now_ms)

    async def fetch_overdue(self) -> None:
        """Fetch what is overdue, until cancelled."""
        while True:
            due = self._schedule.due(now_seconds=self._clock.monotonic_seconds())
            if due:  # a target that hangs costs its own deadline, not its neighbours' pages
                await asyncio.gather(*(self._fetch(request) for request in due))
            at = self._schedule.next_due_seconds()
            now_seconds = self._clock.monotonic_seconds()
            wait = IDLE_SECONDS if at is None else min(max(at - now_seconds, 0.01), IDLE_SECONDS)
            await self._clock.sleep(wait)

    async def _fetch(self, request: Scrape) -> None:
        key = key_of(request)
        before = self._unconfirmed.pop(key, None)
        if before is not None:  # its arrival will never be confirmed now: keep it as well
            self._keep(before[0], before[1], before[3])
        timeout_ms = min(request.timeout_ms, int(UNASKED_TIMEOUT_SECONDS * 1000))
        asked = msgspec.structs.replace(request, timeout_ms=timeout_ms, headers=(), base=b"")
        try:
            async with self._slots:
                fetched = await self._fetcher.fetch(asked)
        except TunnelRefusedError as error:
            log.info("no page while cut off", target=key, why=str(error))
            return
        if fetched.status == 200:
            self._keep(request, fetched.page, int(self._clock.now_seconds() * 1000))

    def _keep(self, request: Scrape, page: bytes, at_ms: int) -> None:
        try:
            self._spool.put(request, page, at_ms=at_ms)
        except GputideError as error:
            log.warning("a page was lost", target=key_of(request), error=str(error))

    async def deliver(self) -> None:
        """Send the spool, oldest first, whenever a gateway takes it; until cancelled."""
        while True:
            wait = IDLE_SECONDS
            try:
                if self._spool.page_count and (link := self._ready_link()) is not None:
                    wait = await self._deliver_one(link)
            except GputideError as error:
                log.warning("offline pages not delivered", error=str(error))
                wait = RETRY_SECONDS
            await self._clock.sleep(wait)

    def _ready_link(self) -> Link | None:
        return next(
            (
                link
                for link in self._links()
                if (greeted := link.greeted) is not None and BACKFILL in greeted.features
            ),
            None,
        )

    async def _deliver_one(self, link: Link) -> float:
        """Send one batch; return how long to pause."""
        batch = self._spool.oldest()
        if batch is None:
            return IDLE_SECONDS
        started = self._clock.monotonic_seconds()
        offset_seconds = await self._clock_offset(link)
        await _send(link, batch, offset_seconds)
        self._spool.drop(one.id for one in batch.pages)
        self.delivered_pages += len(batch.pages)
        log.info("offline pages delivered", target=key_of(batch.request), pages=len(batch.pages))
        return (self._clock.monotonic_seconds() - started) * PAUSE_RATIO

    async def _clock_offset(self, link: Link) -> float:
        """Return how far the gateway's clock is ahead of ours, in seconds."""
        before = self._clock.now_seconds()
        answer = await link.call(CLOCK)
        after = self._clock.now_seconds()
        offset = float(answer.get("now_seconds", after)) - (before + after) / 2
        return offset if abs(offset) > after - before else 0.0


async def _send(link: Link, batch: Batch, offset_seconds: float) -> None:
    pages = []
    base: bytes | None = None
    for one in batch.pages:
        packed = pack(one.page, base)
        base = base or one.page
        pages.append(
            BackfillPage(
                at_ms=one.at_ms + round(offset_seconds * 1000),
                packing=packed.packing,
                data=packed.data,
                digest=packed.digest,
                size=packed.size,
            )
        )
    request = batch.request
    body = encode_batch(
        BackfillBatch(node=request.node, port=request.port, path=request.path, pages=tuple(pages))
    )
    call = Call(method=BACKFILL, timeout_ms=int(SEND_SECONDS * 1000))
    exchange = link.open(call)
    try:
        await exchange.write(body)
        exchange.finish()
        await exchange.reply()
    except TunnelRefusedError as error:
        if error.code is Code.NOT_ALLOWED:
            log.warning("offline pages refused", target=key_of(request), why=str(error))
            return  # they will never be taken: dropping them is all that is left, and it is told
        raise
    finally:
        link.close_exchange(exchange)
