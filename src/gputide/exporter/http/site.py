"""What is served: the page, the health and a front page, behind the locks that are configured."""

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from gputide.clock import Clock
from gputide.exporter.http.auth import Verifier
from gputide.exporter.http.model import Request, Response, refusal
from gputide.exporter.http.negotiate import Encoding, choose_encoding, choose_format
from gputide.exporter.http.published import Published
from gputide.exporter.http.tls import is_allowed
from gputide.exporter.http.web_config import WebConfig
from gputide.exporter.page.model import tail
from gputide.exposition import Family, Format

METRICS, HEALTH, FRONT = "/metrics", "/health", "/"
_METHODS = "GET, HEAD"
_CHALLENGE = 'Basic realm="gputide exporter", charset="UTF-8"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether the collection keeps up, and what else a person should know."""

    problem: str
    """Why not; empty where it does."""

    age_seconds: float
    """Of the page; infinite before the first one."""

    notes: tuple[str, ...] = ()
    """What cannot be read on this node. It is served without, so it is no reason to restart."""


class Source(Protocol):
    """The exporter's state, as the site shows it."""

    @property
    def published(self) -> Published:
        """The newest page."""

    def health(self) -> Health:
        """Return how the collection is doing."""

    def own_families(self) -> Iterable[Family]:
        """Return the metrics of the serving process itself, as of now."""

    def count_scrape(self, target: Format) -> None:
        """Note that a page goes out."""


class WebConfigs(Protocol):
    """Where the web configuration comes from."""

    @property
    def config(self) -> WebConfig:
        """What it says now."""


class Site:
    """Answers requests."""

    def __init__(self, source: Source, clock: Clock, web: WebConfigs | None = None) -> None:
        self._source = source
        self._web = web
        self._verifier = Verifier()
        self._rate = TokenBucket(clock)

    async def answer(self, request: Request) -> Response:
        """Return the response to a request."""
        if self._web is None:
            return self._route(request)
        config = self._web.config
        response = await self._refuse(request, config) or self._route(request)
        headers = {
            name: value for name, value in config.http_server_config.headers.items() if value
        }
        return with_headers(response, headers)

    async def _refuse(self, request: Request, config: WebConfig) -> Response | None:
        """Return why the client is not served; None where it is."""
        rate = config.rate_limit
        if rate.interval_seconds and not self._rate.take(rate.interval_seconds, rate.burst):
            return refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests")
        tls = config.tls_server_config
        if tls is not None and not is_allowed(request.certificate, tls.client_allowed_sans):
            return refusal(HTTPStatus.FORBIDDEN, "the certificate names nobody who is allowed")
        users = config.basic_auth_users
        given = request.headers.get("authorization", "")
        if users and not await self._verifier.is_right(given, users):
            return refusal(HTTPStatus.UNAUTHORIZED, "unauthorized", WWW_Authenticate=_CHALLENGE)
        return None

    def _route(self, request: Request) -> Response:
        routes = {METRICS: self._metrics, HEALTH: self._health, FRONT: self._front}
        make = routes.get(request.path)
        if make is None:
            return refusal(HTTPStatus.NOT_FOUND, f"nothing here; there are {', '.join(routes)}")
        if request.method not in _METHODS:
            return refusal(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD", Allow=_METHODS)
        return make(request)

    def _metrics(self, request: Request) -> Response:
        target = choose_format(request.accept)
        encoding = choose_encoding(request.accept_encoding)
        self._source.count_scrape(target)
        end = tail(self._source.own_families(), target)
        headers = {"vary": "Accept, Accept-Encoding", "cache-control": "no-store"}
        if encoding is not Encoding.IDENTITY:
            headers["content-encoding"] = encoding.value
        return Response(
            status=HTTPStatus.OK,
            body=self._source.published.encode(target, encoding, end),
            content_type=target.value,
            headers=headers,
        )

    def _health(self, _request: Request) -> Response:
        health = self._source.health()
        said = {
            "status": "failing" if health.problem else "ok",
            "problem": health.problem,
            "age_seconds": round(health.age_seconds, 3),
            "notes": health.notes,
        }
        return Response(
            status=HTTPStatus.SERVICE_UNAVAILABLE if health.problem else HTTPStatus.OK,
            body=json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") + b"\n",
            content_type="application/json",
            headers={"cache-control": "no-store"},
        )

    def _front(self, _request: Request) -> Response:
        health = self._source.health()
        said = [health.problem or "The collection keeps up.", *health.notes]
        items = "".join(f"<li>{html.escape(each)}</li>" for each in said)
        page = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>gputide exporter</title>'
            "<h1>gputide exporter</h1><p>GPU metrics of this node for Prometheus.</p>"
            f'<p><a href="{METRICS}">Metrics</a> · <a href="{HEALTH}">Health</a></p>'
            f"<ul>{items}</ul></html>\n"
        )
        return Response(
            status=HTTPStatus.OK,
            body=page.encode("utf-8", "replace"),
            content_type="text/html; charset=utf-8",
        )


class TokenBucket:
    """Allows a request per interval, and a burst after a pause."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._full_at_seconds = clock.monotonic_seconds()

    def take(self, interval_seconds: float, burst: int) -> bool:
        """Return whether one more request is allowed now, and count it."""
        now = self._clock.monotonic_seconds()
        full_at = max(self._full_at_seconds, now) + interval_seconds
        if full_at - now > burst * interval_seconds * (1 + 1e-9):
            return False
        self._full_at_seconds = full_at
        return True


def with_headers(response: Response, headers: Mapping[str, str]) -> Response:
    """Return the response with more headers."""
    if not headers:
        return response
    return Response(
        status=response.status,
        body=response.body,
        content_type=response.content_type,
        headers={**response.headers, **headers},
    )
