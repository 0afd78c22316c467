"""A second external-metrics server, such as KEDA's, which is asked for what we do not know."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
import structlog

from gputide.clock import Clock
from gputide.metricsapi.forwarded import HEADER
from gputide.metricsapi.peers import Peer, PeerError
from gputide.metricsapi.ports import ExternalAsk, Measured
from gputide.metricsapi.questions import unavailable

GROUP_VERSION = ("apis", "external.metrics.k8s.io", "v1beta1")
FORWARDED = f"{HEADER}: 1"
"""A server that finds it does not send the question on again: no loop can form."""

DISCOVERY_SECONDS = 60.0
log = structlog.stdlib.get_logger()


class _Resource(msgspec.Struct, frozen=True):
    name: str


class _ResourceList(msgspec.Struct, frozen=True):
    resources: tuple[_Resource, ...] = ()


class _Item(msgspec.Struct, frozen=True, rename="camel"):
    value: str
    timestamp: str = ""
    metric_labels: dict[str, str] | None = None
    window: int | None = None


class _List(msgspec.Struct, frozen=True):
    items: tuple[_Item, ...] = ()


class Forwarding:
    """The last external source: knows what the other server knows, at the time of asking."""

    def __init__(self, peer: Peer, clock: Clock) -> None:
        self._peer = peer
        self._clock = clock
        self._names: tuple[str, ...] = ()
        self.problem = ""
        """Why its discovery is not known, in words."""

    def names(self) -> Sequence[str]:
        """Return what it listed last."""
        return self._names

    async def run(self) -> None:
        """Keep its list of names up until cancelled."""
        while True:
            await self.discover()
            await self._clock.sleep(DISCOVERY_SECONDS)

    async def discover(self) -> None:
        """Ask for its list of names; a failure keeps the old one."""
        try:
            found = msgspec.json.decode(await self._peer.get(GROUP_VERSION), type=_ResourceList)
        except (PeerError, msgspec.MsgspecError) as error:
            if str(error) != self.problem:
                log.warning("cannot discover the other server's metrics", error=str(error))
            self.problem = str(error)
            return
        self.problem = ""
        names = tuple(one.name for one in found.resources)
        if names != self._names:
            self._names = names

    async def read(self, ask: ExternalAsk) -> Sequence[Measured] | None:
        """Return the other server's values as they came; None where it has no such metric."""
        if ask.is_forwarded:
            return None
        parts = (*GROUP_VERSION, "namespaces", ask.namespace, ask.metric)
        parameters = [("labelSelector", ask.selector)] if ask.selector else []
        try:
            found = msgspec.json.decode(await self._peer.get(parts, parameters), type=_List)
        except PeerError as error:
            if error.status == 404:
                return None
            raise unavailable(f"{ask.metric} was asked of {error}") from error
        except msgspec.MsgspecError as error:
            why = f"{ask.metric}: {self._peer.target} answers with no list of values: {error}"
            raise unavailable(why) from error
        return [self._measured(one) for one in found.items]

    async def close(self) -> None:
        """Close the connections."""
        await self._peer.close()

    def _measured(self, one: _Item) -> Measured:
        try:
            at_seconds = datetime.fromisoformat(one.timestamp).timestamp()
        except ValueError:
            at_seconds = self._clock.now_seconds()  # KEDA's own answers say now as well
        return Measured(
            value=one.value,
            at_seconds=at_seconds,
            labels=tuple((one.metric_labels or {}).items()),
            window_seconds=one.window,
        )
