"""Takes batches of offline pages from agents and writes them to Prometheus."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Self

import cramjam
import httpx2
import structlog

from gputide.clock import Clock
from gputide.errors import QueryError
from gputide.tunnel.backfilling import MAX_BATCH_BYTES, BackfillBatch, decode_batch
from gputide.tunnel.exchange import Exchange
from gputide.tunnel.gateway.backfill.convert import convert
from gputide.tunnel.gateway.backfill.remote_write import encode_write
from gputide.tunnel.gateway.backfill.targets import TargetLabels
from gputide.tunnel.gateway.registry import Connection
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.pages import PackedPage, PageError, unpack
from gputide.tunnel.protocol import Code, Reply

log = structlog.stdlib.get_logger()

WRITE_SECONDS = 30.0
MAX_AT_A_TIME = 2
MAX_FUTURE_MS = 60_000
HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}


class BackfillReceiver:
    """One Prometheus. Pages are converted in another process, so that live scrapes go on."""

    def __init__(
        self,
        prometheus_url: str,
        clock: Clock,
        executor: Executor,
        *,
        write_url: str = "",
        honor_labels: bool = False,
    ) -> None:
        self._client = httpx2.AsyncClient(timeout=WRITE_SECONDS, trust_env=False)
        self._write_url = write_url or prometheus_url.rstrip("/") + "/api/v1/write"
        self._targets = TargetLabels(self._client, prometheus_url, clock)
        self._clock = clock
        self._executor = executor
        self._honor_labels = honor_labels
        self._slots = asyncio.Semaphore(MAX_AT_A_TIME)
        self.outcomes: Counter[str] = Counter()
        """Samples by outcome: `written`, or why not."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def receive(self, connection: Connection, exchange: Exchange) -> None:
        """Take one batch; TunnelRefusedError where it cannot be written (now, or ever)."""
        async with self._slots:
            batch = decode_batch(await exchange.read_all(max_bytes=MAX_BATCH_BYTES))
            if not connection.identity.holds(batch.node):
                text = f"the agent's certificate does not hold {batch.node}"
                raise TunnelRefusedError(Code.NOT_ALLOWED, text)
            samples = await self._write(batch)
        exchange.accept(Reply(result={"samples": samples}), is_finished=True)

    async def _write(self, batch: BackfillBatch) -> int:
        try:
            labels = await self._targets.of(batch.node, batch.port)
        except QueryError as error:
            raise TunnelRefusedError(Code.UNREACHABLE, str(error)) from error
        if not labels:
            self.outcomes["no_target"] += 1
            text = f"Prometheus has no target at {batch.node}:{batch.port} whose labels to use"
            raise TunnelRefusedError(Code.FAILED, text)
        latest_ms = int(self._clock.now_seconds() * 1000) + MAX_FUTURE_MS
        try:
            body, samples = await asyncio.get_running_loop().run_in_executor(
                self._executor,
                partial(convert_batch, honor_labels=self._honor_labels, latest_ms=latest_ms),
                batch,
                labels,
            )
        except PageError as error:
            raise TunnelRefusedError(Code.BAD_REQUEST, str(error)) from error
        await self._post(body, samples)
        return samples

    async def _post(self, body: bytes, samples: int) -> None:
        try:
            answer = await self._client.post(self._write_url, content=body, headers=HEADERS)
        except (httpx2.HTTPError, OSError) as error:
            self.outcomes["unreachable"] += samples
            text = f"{self._write_url} cannot be reached: {error}"
            raise TunnelRefusedError(Code.UNREACHABLE, text) from error
        if answer.is_success:
            self.outcomes["written"] += samples
            return
        words = " ".join(answer.text.split())[:300]
        if answer.status_code == httpx2.codes.BAD_REQUEST:
            # refused for good (too old, out of bounds): asking again changes nothing
            self.outcomes["refused"] += samples
            log.warning("Prometheus refused offline samples", samples=samples, why=words)
            return
        self.outcomes["failed"] += samples
        text = f"{self._write_url} answered {answer.status_code}: {words}"
        raise TunnelRefusedError(Code.FAILED, text)


def convert_batch(
    batch: BackfillBatch, labels: Sequence[Mapping[str, str]], *, honor_labels: bool, latest_ms: int
) -> tuple[bytes, int]:
    """Return the compressed write request of a batch and its number of samples; PageError.

    Pages from the future are left out: a wrong clock must not block the series for what follows.
    """
    pages: list[tuple[int, bytes]] = []
    base: bytes | None = None
    for one in batch.pages:
        packed = PackedPage(packing=one.packing, data=one.data, digest=one.digest, size=one.size)
        page = unpack(packed, base)
        base = base or page
        if one.at_ms <= latest_ms:
            pages.append((one.at_ms, page))
    series = convert(pages, labels, honor_labels=honor_labels)
    body = bytes(cramjam.snappy.compress_raw(encode_write(series)))
    return body, sum(len(one.samples) for one in series)
