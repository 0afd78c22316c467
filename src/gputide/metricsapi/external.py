"""external.metrics.k8s.io/v1beta1: values of series that belong to no object."""

from collections.abc import Sequence

from gputide.clock import Clock, utc_from_unix
from gputide.errors import QueryError
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.model import ComputedResource, JsonObject, ReadRequest
from gputide.metricsapi.forwarded import is_forwarded
from gputide.metricsapi.ports import ExternalAsk, ExternalSource, Measured
from gputide.metricsapi.questions import Questions, no_metric

GROUP = "external.metrics.k8s.io"
KIND = "ExternalMetricValueList"


class ExternalMetrics:
    """A computed group: the first source that knows a metric answers."""

    group = GROUP
    version = "v1beta1"

    def __init__(
        self, sources: Sequence[ExternalSource], clock: Clock, bounds: CacheBounds
    ) -> None:
        self._sources = tuple(sources)
        self.questions: Questions[JsonObject] = Questions(clock, bounds)
        self._rows: dict[str, ComputedResource] = {}
        self._listed: tuple[ComputedResource, ...] = ()

    def resources(self) -> Sequence[ComputedResource]:
        """Return a row a name; the same tuple until a name comes or goes."""
        names = list(dict.fromkeys(name for one in self._sources for name in one.names()))
        if names != list(self._rows):
            self._rows = {name: ComputedResource(name=name, kind=KIND) for name in names}
            self._listed = tuple(self._rows.values())
        return self._listed

    async def read(self, request: ReadRequest) -> JsonObject:
        """Return an ExternalMetricValueList with at least one item; raise StatusError."""
        if request.name or request.subresource or not request.namespace:
            raise no_metric(
                request.resource, "ask for namespaces/NAMESPACE/METRIC?labelSelector=..."
            )
        ask = ExternalAsk(
            namespace=request.namespace,
            metric=request.resource,
            selector=request.query.get("labelSelector", ("",))[0],
            is_forwarded=is_forwarded(),
        )
        return await self.questions.get(ask, lambda: self._read(ask))

    async def _read(self, ask: ExternalAsk) -> JsonObject:
        failed: QueryError | None = None
        for source in self._sources:
            try:
                found = await source.read(ask)
            except QueryError as error:  # another may have it all the same
                failed = failed or error
                continue
            if found is None:
                continue
            if not found:
                raise no_metric(ask.metric, "no series that can be told")
            return {
                "kind": KIND,
                "apiVersion": f"{GROUP}/v1beta1",
                "metadata": {},
                "items": [item(ask.metric, one) for one in found],
            }
        if failed is not None:
            raise failed
        raise no_metric(ask.metric, "no rule, forecast or other server has it")


def item(metric: str, measured: Measured) -> JsonObject:
    """Return one ExternalMetricValue."""
    made: JsonObject = {
        "metricName": metric,
        "metricLabels": dict(measured.labels),
        "timestamp": timestamp(measured.at_seconds),
        "value": measured.value,
    }
    if measured.window_seconds is not None:
        made["window"] = measured.window_seconds
    return made


def timestamp(unix_seconds: float) -> str:
    """Return whole seconds in RFC 3339, rounded down: a sample is never younger than it is.

    >>> timestamp(1764555045.9)
    '2025-12-01T02:10:45Z'
    """
    return utc_from_unix(unix_seconds // 1).strftime("%Y-%m-%dT%H:%M:%SZ")
