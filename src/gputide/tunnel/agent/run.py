"""The agent's shell: dial, serve, renew, until stopped."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gputide import __version__
from gputide.clock import Clock
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.dialer import Dialer
from gputide.tunnel.agent.fetch import Fetcher
from gputide.tunnel.agent.handler import AgentHandler, CallHandler, PageListener
from gputide.tunnel.agent.join import GatewayUrl
from gputide.tunnel.agent.renewal import renew_for_ever
from gputide.tunnel.agent.site import Site
from gputide.tunnel.protocol import Hello, Limits
from gputide.tunnel.tls import client_context


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Everything that one agent is made of."""

    site: Site
    files: AgentFiles
    dialer: Dialer
    fetcher: Fetcher


def new_agent(  # noqa: PLR0913  what an agent is made of
    site: Site,
    files: AgentFiles,
    gateways: tuple[GatewayUrl, ...],
    *,
    clock: Clock,
    random: Callable[[], float],
    calls: Mapping[str, CallHandler] | None = None,
    on_page: PageListener | None = None,
    limits: Limits | None = None,
) -> Agent:
    """Return an agent that is not running yet; raises InputError where it has not joined."""
    identity = files.identity()
    fetcher = Fetcher(site)
    hello = Hello(
        program=f"gputide {__version__}", name=identity.name, nodes=tuple(sorted(site.nodes))
    )
    dialer = Dialer(
        gateways=gateways,
        context=lambda: client_context(files.tls),
        hello=hello,
        new_handler=lambda: AgentHandler(site, fetcher, calls or {}, on_page=on_page),
        clock=clock,
        random=random,
        limits=limits,
    )
    return Agent(site=site, files=files, dialer=dialer, fetcher=fetcher)


async def run(agent: Agent, clock: Clock) -> None:
    """Run until cancelled."""
    async with agent.fetcher, asyncio.TaskGroup() as group:
        group.create_task(agent.dialer.run())
        group.create_task(renew_for_ever(agent.files, lambda: agent.dialer.up, clock))
