"""The API server put together: groups, who may ask, the explain page, counts on the way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from gputide.clock import Clock
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.handlers.answer import json_answer, status_answer
from gputide.kubeapi.ports import Authenticator, Authorizer, Computed
from gputide.kubeapi.registry import Registry
from gputide.kubeapi.server import ApiServer, Options, always_ready
from gputide.metricsapi.custom import CustomMetrics, CustomValues
from gputide.metricsapi.external import ExternalMetrics
from gputide.metricsapi.forwarded import NotesForwarded
from gputide.metricsapi.ports import (
    CustomSource,
    Explainer,
    ExternalSource,
    Forecasts,
    Objects,
)
from gputide.metricsapi.predictions.group import Predictions
from gputide.metricsapi.questions import Counts
from gputide.metricsapi.selfmetrics import Counted

EXPLAIN = "/explain"
DEFAULT_BOUNDS = CacheBounds(seconds=1, max_answers=4096, deadline_seconds=20)
MAX_PAGES = CacheBounds(seconds=30, max_answers=64, deadline_seconds=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where answers come from; what is None is not served."""

    forecasts: Forecasts
    external: Sequence[ExternalSource] = ()
    custom: CustomSource | None = None
    objects: Objects | None = None
    explainer: Explainer | None = None


class MetricsApi:
    """One ASGI application; `counts` by kind tell what its caches spared."""

    def __init__(
        self,
        sources: Sources,
        *,
        authenticator: Authenticator,
        authorizer: Authorizer,
        clock: Clock,
        bounds: CacheBounds = DEFAULT_BOUNDS,
        ready: Callable[[], str] = always_ready,
    ) -> None:
        self._explainer = sources.explainer
        external = ExternalMetrics(sources.external, clock, bounds)
        predictions = Predictions(sources.forecasts, clock, MAX_PAGES)
        self.counts: dict[str, Counts] = {
            "external": external.questions.counts,
            "page": predictions.questions.counts,
        }
        groups: list[Computed] = [external, predictions]
        if sources.custom is not None and sources.objects is not None:
            values = CustomValues(sources.custom, sources.objects, clock, bounds)
            self.counts["custom"] = values.questions.counts
            groups += [CustomMetrics(values, "v1beta2"), CustomMetrics(values, "v1beta1")]
        server = ApiServer(
            Registry(computed=groups),
            authenticator=authenticator,
            authorizer=authorizer,
            clock=clock,
            options=Options(ready=ready, routes={EXPLAIN: self._explain}),
        )
        self.counted = Counted(NotesForwarded(server), clock)

    @property
    def app(self) -> ASGIApp:
        """What is served."""
        return self.counted

    def asked(self) -> Mapping[str, float]:
        """Return how often a value was asked for, by kind."""
        return {kind: one.asked for kind, one in self.counts.items()}

    def passed_on(self) -> Mapping[str, float]:
        """Return how often that had to be passed on, by kind."""
        return {kind: one.passed_on for kind, one in self.counts.items()}

    async def _explain(self, request: Request) -> Response:
        """Answer GET /explain?metric=...&namespace=...: why a metric has, or has not, values."""
        metric = request.query_params.get("metric", "")
        if not metric:
            return status_answer(bad_request("name a metric: /explain?metric=...&namespace=..."))
        if self._explainer is None:
            why = "there are no rules here: no Prometheus is configured"
            return status_answer(StatusError(404, "NotFound", why))
        namespace = request.query_params.get("namespace", "")
        return json_answer(await self._explainer.explain(metric, namespace))
