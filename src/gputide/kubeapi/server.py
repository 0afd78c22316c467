"""The API server as one ASGI application: who asks, whether he may, and who answers."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gputide.clock import Clock, SystemClock
from gputide.kubeapi import routing
from gputide.kubeapi.discovery import Discovery
from gputide.kubeapi.errors import StatusError, forbidden
from gputide.kubeapi.handlers import computed, objects
from gputide.kubeapi.handlers.answer import status_answer
from gputide.kubeapi.handlers.context import Asked, Context, Limits
from gputide.kubeapi.model import User
from gputide.kubeapi.ports import Authenticator, Authorizer, Storage
from gputide.kubeapi.registry import Call, GroupVersion, Registry
from gputide.kubeapi.routing import Route
from gputide.kubeapi.tells import Tells

Extra = Callable[[Request], Awaitable[Response]]
log = structlog.stdlib.get_logger()


def always_ready() -> str:
    """Return "": nothing is missing."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a server may be given beside its parts."""

    limits: Limits = field(default_factory=Limits)
    ready: Callable[[], str] = always_ready
    """Returns what is missing until the server can be used, "" once nothing is."""

    routes: Mapping[str, Extra] = field(default_factory=dict)
    """Further paths, exactly as written; `request.scope["user"]` is the `User`."""

    version: str = "v1.37.0"
    """Of Kubernetes, as /version says it; kubectl compares it with its own."""


class ApiServer:
    """Serves a registry. Change the registry, and the server follows."""

    def __init__(
        self,
        registry: Registry,
        *,
        authenticator: Authenticator,
        authorizer: Authorizer,
        storage: Storage | None = None,
        clock: Clock | None = None,
        options: Options | None = None,
    ) -> None:
        self.registry = registry
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._options = options or Options()
        self._context = Context(
            clock=clock or SystemClock(), storage=storage, limits=self._options.limits
        )
        self._tells = Tells(
            Discovery(registry), version=self._options.version, ready=self._options.ready
        )
        self._in_flight = {False: 0, True: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await self._admitted(Request(scope, receive), send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    async def _admitted(self, request: Request, send: Send) -> None:
        """Count a request while it runs; refuse it where too many do."""
        route = routing.route(request)
        limits = self._options.limits
        is_long = route.is_long_running
        most = limits.max_watches if is_long else limits.max_in_flight
        if self._in_flight[is_long] >= most:
            busy = StatusError(
                429,
                "TooManyRequests",
                "the server has received too many requests; try again later",
                retry_after_seconds=1,
            )
            await status_answer(busy)(request.scope, request.receive, send)
            return
        self._in_flight[is_long] += 1
        try:
            answer = await self._answer(request, route)
            await answer(request.scope, request.receive, send)
        except ClientDisconnect:
            pass  # he went away while he sent his body: nobody is there to answer
        finally:
            self._in_flight[is_long] -= 1

    async def _answer(self, request: Request, route: Route) -> ASGIApp:
        """Return the answer; whatever goes wrong is one, too."""
        seconds = self._options.limits.deadline_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._allowed(request, route)
        except StatusError as error:
            return status_answer(error)
        except TimeoutError:
            message = f"the request was not answered within {seconds:g} seconds"
            return status_answer(StatusError(504, "Timeout", message))
        except ClientDisconnect:
            raise
        except Exception:
            mark = secrets.token_hex(8)
            log.exception("request failed", id=mark, method=request.method, path=route.path)
            message = f"Internal error occurred: the server's log says more under {mark}"
            return status_answer(StatusError(500, "InternalError", message))

    async def _allowed(self, request: Request, route: Route) -> ASGIApp:
        """Answer once it is known who asks, and that he may."""
        user = await self._authenticator.authenticate(routing.credentials(request))
        if user is None:
            raise StatusError(401, "Unauthorized", "Unauthorized")
        request.scope["user"] = user
        ruling = await self._authorizer.authorize(route.attributes(user))
        if not ruling.is_allowed:
            raise forbidden(route.refusal(user, ruling))
        if route.target is not None:
            return await self._resource(request, route, user)
        extra = self._options.routes.get(route.path)
        if extra is not None:
            return await extra(request)
        return self._told(request, route)

    async def _resource(self, request: Request, route: Route, user: User) -> ASGIApp:
        target = route.target
        group = self.registry.find(target.group, target.version) if target else None
        if target is None or group is None:
            raise objects.missing()
        kind = group.kinds.get(target.resource)
        name = "/".join(filter(None, (target.resource, target.subresource)))
        virtual = group.virtual.get(name)
        if virtual is not None:
            if route.verb not in virtual.verbs:
                raise objects.refused()
            call = Call(request=request, user=user, target=target, verb=route.verb)
            return await virtual.endpoint(call)
        if kind is not None:
            return await objects.handle(
                Asked(
                    context=self._context,
                    request=request,
                    user=user,
                    target=target,
                    kind=kind,
                    verb=route.verb,
                )
            )
        return await self._elsewhere(request, route, user, group)

    async def _elsewhere(
        self, request: Request, route: Route, user: User, group: GroupVersion
    ) -> ASGIApp:
        """Answer from another server, or with something computed."""
        if group.proxied is not None:
            return group.proxied.app
        if group.computed is None or route.target is None:
            raise objects.missing()
        now_seconds = self._context.clock.now_seconds()
        return await computed.read(
            group.computed, route.target, request, user=user, now_seconds=now_seconds
        )

    def _told(self, request: Request, route: Route) -> ASGIApp:
        """Answer with what the server tells about itself."""
        if request.method not in ("GET", "HEAD"):
            raise objects.refused()
        proxied = self._proxied_openapi(route)
        return proxied if proxied is not None else self._tells.answer(request, route.parts)

    def _proxied_openapi(self, route: Route) -> ASGIApp | None:
        if route.parts[:3] != ("openapi", "v3", "apis") or len(route.parts) != 5:
            return None
        group = self.registry.find(*route.parts[3:])
        return group.proxied.app if group is not None and group.proxied is not None else None
