"""A control plane over one storage: built-in and custom kinds, and what keeps them in order."""

import asyncio
from dataclasses import dataclass, field

from gputide.clock import Clock
from gputide.kubeapi.addresses import follow_addresses, load_addresses
from gputide.kubeapi.aggregation import Aggregator, FrontProxy, published
from gputide.kubeapi.aggregation.run import Endpoint
from gputide.kubeapi.bootstrap import bootstrap
from gputide.kubeapi.collector import Collector, Holdings
from gputide.kubeapi.definitions import Definitions
from gputide.kubeapi.kinds import Addresses, builtin_kinds
from gputide.kubeapi.ports import Authenticator, Authorizer
from gputide.kubeapi.registry import Registry
from gputide.kubeapi.reviews import reviews
from gputide.kubeapi.structural import Cel


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a control plane may be given beside its storage."""

    addresses: Addresses = field(default_factory=Addresses)
    front_proxy: FrontProxy | None = None
    """None: APIServices are stored, but nothing is handed to them."""

    endpoint: Endpoint | None = None
    """Where services really listen, where that is not what they say."""

    cel: Cel | None = None


class ControlPlane:
    """Fills a registry, for an `ApiServer` to serve, and runs what works behind it.

    `prepare` before the server answers, then `run` beside it.
    """

    def __init__(
        self,
        storage: Holdings,
        clock: Clock,
        *,
        authenticator: Authenticator,
        authorizer: Authorizer,
        parts: Parts | None = None,
    ) -> None:
        self._parts = parts or Parts()
        self._storage = storage
        self._clock = clock
        self.registry = Registry(kinds=builtin_kinds(self._parts.addresses))
        for virtual in reviews(authenticator, authorizer):
            self.registry.add_virtual(virtual)
        self._definitions = Definitions(storage, self.registry, clock, cel=self._parts.cel)

    async def prepare(self) -> None:
        """Create what every cluster has, and take up what is stored."""
        await bootstrap(self._storage)
        await load_addresses(self._storage, self._parts.addresses)
        await self._definitions.load()
        if self._parts.front_proxy is not None:
            await published(self._storage, self._parts.front_proxy)

    async def run(self) -> None:
        """Keep everything in order until cancelled."""
        parts = self._parts
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._definitions.run())
            tasks.create_task(Collector(self._storage, self._clock).run())
            tasks.create_task(follow_addresses(self._storage, parts.addresses, self._clock))
            if parts.front_proxy is not None:
                aggregator = Aggregator(
                    self._storage,
                    self.registry,
                    self._clock,
                    parts.front_proxy,
                    endpoint=parts.endpoint,
                )
                tasks.create_task(aggregator.run())
