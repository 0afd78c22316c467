"""The autoscalers' read-only endpoint: several addresses are shards that share the autoscalers."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

import msgspec
import structlog

from gputide.clock import Clock
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError, not_found
from gputide.metricsapi.peers import Peer, PeerError
from gputide.metricsapi.predictions.wire import Detail, Summary, SummaryList
from gputide.metricsapi.questions import Questions, unavailable

log = structlog.stdlib.get_logger()
Struct = TypeVar("Struct", bound=msgspec.Struct)


class HttpForecasts:
    """Asks every shard at once; what one does not answer is missing, and said so in the log."""

    def __init__(self, shards: Sequence[Peer], clock: Clock, bounds: CacheBounds) -> None:
        self._shards = tuple(shards)
        self._lists: Questions[tuple[Summary, ...]] = Questions(clock, bounds)
        self._details: Questions[Detail] = Questions(clock, bounds)
        self.failures = 0

    async def summaries(self) -> Sequence[Summary]:
        """Return all; where several shards know one (it just moved), the newest."""
        return await self._lists.get("", self._summaries)

    async def detail(self, namespace: str, name: str) -> Detail:
        """Return all about one."""
        return await self._details.get((namespace, name), lambda: self._detail(namespace, name))

    async def close(self) -> None:
        """Close the connections."""
        for shard in self._shards:
            await shard.close()

    async def _summaries(self) -> tuple[Summary, ...]:
        answers = await self._ask_all(("v1", "forecasts"), SummaryList)
        lists = [one.items for one in answers if isinstance(one, SummaryList)]
        if not lists:
            raise unavailable(f"forecasts: {answers[0]}")
        newest: dict[tuple[str, str], Summary] = {}
        for one in (summary for items in lists for summary in items):
            key = (one.namespace, one.name)
            if key not in newest or one.issued_at > newest[key].issued_at:
                newest[key] = one
        return tuple(newest[key] for key in sorted(newest))

    async def _detail(self, namespace: str, name: str) -> Detail:
        answers = await self._ask_all(("v1", "forecasts", namespace, name), Detail)
        found = [one for one in answers if isinstance(one, Detail)]
        if found:
            return max(found, key=lambda one: one.issued_at)
        failed = [one for one in answers if isinstance(one, PeerError) and one.status != 404]
        if failed:
            raise unavailable(f"forecasts: {failed[0]}")
        raise not_found("predictions.metrics.alibabacloud.com", name)

    async def _ask_all(
        self, parts: Sequence[str], kind: type[Struct]
    ) -> Sequence[Struct | PeerError]:
        if not self._shards:
            raise _unconfigured()
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(self._ask(one, parts, kind)) for one in self._shards]
        return [one.result() for one in asked]

    async def _ask(
        self, shard: Peer, parts: Sequence[str], kind: type[Struct]
    ) -> Struct | PeerError:
        try:
            body = await shard.get(parts)
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            failed = PeerError(shard.target, f"unexpected answer: {error}")
        except PeerError as error:
            failed = error
        if failed.status != 404:
            self.failures += 1
            log.warning("no forecasts from a shard", target=shard.target, error=failed.problem)
        return failed


def _unconfigured() -> StatusError:
    return unavailable("forecasts: no autoscaler is configured (forecast-url)")
