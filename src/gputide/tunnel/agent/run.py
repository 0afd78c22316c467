"""The agent's shell: dial, serve, renew, until stopped."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gputide import __version__
from gputide.clock import Clock
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.dialer import Dialer
from gputide.tunnel.agent.fetch import Fetcher
from gputide.tunnel.agent.handler import AgentHandler, CallHandler
from gputide.tunnel.agent.join import GatewayUrl
from gputide.tunnel.agent.offline.keeper import Keeper
from gputide.tunnel.agent.offline.schedule import Schedule
from gputide.tunnel.agent.offline.spool import Spool
from gputide.tunnel.agent.renewal import renew_for_ever
from gputide.tunnel.agent.site import Site
from gputide.tunnel.backfilling import BACKFILL
from gputide.tunnel.protocol import Hello, Limits
from gputide.tunnel.tls import client_context


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Everything that one agent is made of."""

    site: Site
    files: AgentFiles
    dialer: Dialer
    fetcher: Fetcher
    keeper: Keeper | None = None
    spool: Spool | None = None


def new_agent(  # noqa: PLR0913  what an agent is made of
    site: Site,
    files: AgentFiles,
    gateways: tuple[GatewayUrl, ...],
    *,
    clock: Clock,
    random: Callable[[], float],
    calls: Mapping[str, CallHandler] | None = None,
    spool: Spool | None = None,
    max_offline_seconds: float = 6 * 3600.0,
    limits: Limits | None = None,
) -> Agent:
    """Return an agent that is not running yet; raises InputError where it has not joined."""
    identity = files.identity()
    fetcher = Fetcher(site)
    hello = Hello(
        program=f"gputide {__version__}",
        name=identity.name,
        nodes=tuple(sorted(site.nodes)),
        features=(BACKFILL,),
    )
    keeper = None
    if spool is not None:
        schedule = Schedule(max_offline_seconds=max_offline_seconds)
        keeper = Keeper(schedule, spool, fetcher, lambda: dialer.up, clock)
    dialer = Dialer(
        gateways=gateways,
        context=lambda: client_context(files.tls),
        hello=hello,
        new_handler=lambda: AgentHandler(
            site, fetcher, calls or {}, on_page=None if keeper is None else keeper.on_ask
        ),
        clock=clock,
        random=random,
        limits=limits,
    )
    return Agent(site=site, files=files, dialer=dialer, fetcher=fetcher, keeper=keeper, spool=spool)


async def run(agent: Agent, clock: Clock) -> None:
    """Run until cancelled."""
    async with agent.fetcher, asyncio.TaskGroup() as group:
        group.create_task(agent.dialer.run())
        if agent.keeper is not None:
            group.create_task(agent.keeper.fetch_overdue())
            group.create_task(agent.keeper.deliver())
        group.create_task(renew_for_ever(agent.files, lambda: agent.dialer.up, clock))
