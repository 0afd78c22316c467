"""The controller's read-only pages: metrics, health, forecasts."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gputide.autoscaler.model import Key, Outcome, Prediction, Subject
from gputide.autoscaler.wire import detail_of, encode, summary_of
from gputide.exposition import Family, Format, render

TEXT = "text/plain; version=0.0.4; charset=utf-8"
JSON = "application/json"


class Pages:
    """What the pages are made of; each method answers from memory or in bounded time."""

    def __init__(
        self,
        *,
        read_outcomes: Callable[[], dict[Key, tuple[Subject, Outcome]]],
        read_unit: Callable[[Key], str],
        predict: Callable[[Key], Awaitable[Prediction | None]],
        read_families: Callable[[], tuple[Family, ...]],
        why_unready: Callable[[], str],
        read_token: Callable[[], str],
    ) -> None:
        self._read_outcomes = read_outcomes
        self._read_unit = read_unit
        self._predict = predict
        self._read_families = read_families
        self._why_unready = why_unready
        self._read_token = read_token

    def app(self) -> Starlette:
        """Return the pages as an ASGI app."""
        return Starlette(
            routes=[
                Route("/metrics", self.metrics),
                Route("/healthz", self.healthy),
                Route("/livez", self.healthy),
                Route("/readyz", self.ready),
                Route("/v1/forecasts", self.forecasts),
                Route("/v1/forecasts/{namespace}/{name}", self.forecast),
            ]
        )

    async def metrics(self, _request: Request) -> Response:
        """Return Prometheus' text."""
        return Response(render(self._read_families(), Format.TEXT), media_type=TEXT)

    async def healthy(self, _request: Request) -> Response:
        """Say that the process lives."""
        return PlainTextResponse("ok\n")

    async def ready(self, _request: Request) -> Response:
        """Say whether rounds are made."""
        why = self._why_unready()
        return PlainTextResponse(f"{why or 'ok'}\n", status_code=503 if why else 200)

    async def forecasts(self, request: Request) -> Response:
        """Return a summary of every autoscaler."""
        if not self._is_allowed(request):
            return _refused()
        items = [
            summary_of(subject, outcome, unit=self._read_unit(key))
            for key, (subject, outcome) in sorted(self._read_outcomes().items())
        ]
        return Response(encode({"items": items}), media_type=JSON)

    async def forecast(self, request: Request) -> Response:
        """Return everything about one autoscaler."""
        if not self._is_allowed(request):
            return _refused()
        key = Key(namespace=request.path_params["namespace"], name=request.path_params["name"])
        found = self._read_outcomes().get(key)
        prediction = await self._predict(key) if found is not None else None
        if found is None or prediction is None:
            text = f"no forecast of {key} here"
            return _answer({"error": text}, status=404)
        subject, outcome = found
        return _answer(detail_of(subject, outcome, prediction, unit=self._read_unit(key)))

    def _is_allowed(self, request: Request) -> bool:
        token = self._read_token()
        if not token:  # then the port is this machine's own: the settings see to it
            return True
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def _answer(value: dict[str, Any], *, status: int = 200) -> Response:
    return Response(encode(value), media_type=JSON, status_code=status)


def _refused() -> Response:
    return _answer({"error": "a bearer token is needed"}, status=401)
