"""From settings to an agent that serves."""

import asyncio
from collections.abc import Callable

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gputide.clock import Clock
from gputide.errors import SettingError
from gputide.exposition import Format, render
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.join import parse_gateway
from gputide.tunnel.agent.joined import Joined, read_joined
from gputide.tunnel.agent.offline.spool import Spool
from gputide.tunnel.agent.run import Agent, new_agent, run
from gputide.tunnel.agent.selfmetrics import agent_families
from gputide.tunnel.agent.site import Site, parse_allowance, parse_site_node, read_site
from gputide.tunnel.listener import bind
from gputide.tunnel.settings import AgentSettings
from gputide.tunnel.web import serve_app

log = structlog.stdlib.get_logger()

SPOOL_FILE = "spool.db"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


def site_of(settings: AgentSettings, joined: Joined | None) -> Site:
    """Return the site that the settings describe; raises SettingError and InputError."""
    if settings.site_file is not None:
        if settings.node:
            raise SettingError("site-file", "give either --site-file or --node")
        return read_site(settings.site_file)
    texts = settings.node or (joined.nodes if joined is not None else ())
    nodes = dict(parse_site_node(text) for text in texts)
    if not nodes:
        raise SettingError("node", "name the nodes to speak for: --node NAME=ADDRESS")
    return Site(nodes=nodes, allowances=tuple(parse_allowance(text) for text in settings.allow))


def prepare(settings: AgentSettings, clock: Clock, random: Callable[[], float]) -> Agent:
    """Return an agent for these settings; raises SettingError and InputError."""
    joined = read_joined(settings.directory)
    gateways = settings.gateway or (joined.gateways if joined is not None else ())
    if not gateways:
        raise SettingError("gateway", "name the gateways to dial: --gateway https://HOST:PORT")
    return new_agent(
        site_of(settings, joined),
        AgentFiles(directory=settings.directory),
        tuple(parse_gateway(text, setting="gateway") for text in gateways),
        clock=clock,
        random=random,
        spool=_spool(settings),
        max_offline_seconds=settings.spool_hours * 3600,
    )


def _spool(settings: AgentSettings) -> Spool | None:
    if settings.spool_mebibytes <= 0:
        return None
    return Spool(settings.directory / SPOOL_FILE, max_bytes=settings.spool_mebibytes * 1_048_576)


async def serve(agent: Agent, settings: AgentSettings, clock: Clock) -> None:
    """Serve until cancelled."""
    listening = None
    if settings.metrics_address:
        listening = bind(settings.metrics_address, setting="metrics-address")
    where = "{}:{}".format(*listening.getsockname()[:2]) if listening else "none"
    log.info(
        "agent serves",
        nodes=len(agent.site.nodes),
        gateways=len(agent.dialer.gateways),
        metrics=where,
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(run(agent, clock))
        if listening is not None:
            group.create_task(serve_app(_app(agent), listening))


def _app(agent: Agent) -> Starlette:
    async def metrics(_request: Request) -> Response:
        page = render(agent_families(agent), Format.TEXT)
        return Response(page, media_type=TEXT)

    async def ready(_request: Request) -> Response:
        if agent.dialer.up:
            return PlainTextResponse("ok\n")
        return PlainTextResponse("no link to a gateway\n", status_code=503)

    async def healthy(_request: Request) -> Response:
        return PlainTextResponse("ok\n")

    return Starlette(
        routes=[Route("/metrics", metrics), Route("/readyz", ready), Route("/healthz", healthy)]
    )
