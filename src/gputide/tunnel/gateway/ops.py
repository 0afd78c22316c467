"""The gateway's own pages: metrics, service discovery, status, health."""

from collections.abc import Callable

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gputide.errors import SettingError
from gputide.exposition import Family, Format, render
from gputide.tunnel.gateway.discovery import target_groups
from gputide.tunnel.gateway.node_status import node_status
from gputide.tunnel.gateway.registry import Registry
from gputide.tunnel.gateway.status import render_status
from gputide.tunnel.model import parse_port

TEXT = "text/plain; version=0.0.4; charset=utf-8"


def ops_app(
    registry: Registry,
    read_families: Callable[[], tuple[Family, ...]],
    *,
    default_port: int,
    read_now: Callable[[], float],
    name: str,
) -> Starlette:
    """Return the pages as an ASGI app; everything is answered from memory."""

    async def metrics(_request: Request) -> Response:
        return Response(render(read_families(), Format.TEXT), media_type=TEXT)

    async def discovery(request: Request) -> Response:
        try:
            port = parse_port(request.query_params.get("port", str(default_port)))
        except SettingError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        groups = target_groups(registry, port=port)
        if not groups:
            # an empty list would make every target vanish without an alert; an error keeps them
            return PlainTextResponse("no agent has been seen yet\n", status_code=503)
        return Response(msgspec.json.encode(groups), media_type="application/json")

    async def node(request: Request) -> Response:
        name = request.path_params["node"]
        found = node_status(registry, name, now_seconds=read_now())
        return Response(msgspec.json.encode(found), media_type="application/json")

    async def status(_request: Request) -> Response:
        page = render_status(registry, name=name, now_seconds=read_now())
        return Response(page, media_type="text/html; charset=utf-8")

    async def healthy(_request: Request) -> Response:
        return PlainTextResponse("ok\n")

    return Starlette(
        routes=[
            Route("/metrics", metrics),
            Route("/sd", discovery),
            Route("/nodes/{node}", node),
            Route("/healthz", healthy),
            Route("/readyz", healthy),
            Route("/", status),
        ]
    )
