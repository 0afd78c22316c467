"""Each forecast as an external metric, so that a plain HPA or KEDA can scale by it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gputide.clock import Clock
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.selectors import label_test
from gputide.metricsapi.ports import ExternalAsk, Forecasts, Measured
from gputide.metricsapi.predictions.wire import Summary
from gputide.metricsapi.questions import no_metric

Quantity = Callable[[float], str | None]
"""Returns a number as Kubernetes' quantity; None for one that is no number."""

METRICS: Mapping[str, Callable[[Summary], float | None]] = {
    "gputide_forecast_demand": lambda one: one.forecast_demand,
    "gputide_forecast_replicas": lambda one: one.published_replicas,
    "gputide_demand": lambda one: one.demand,
}
DEFAULT_MAX_AGE_SECONDS = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastMetrics:
    """An external source. What is unknown or too old has no value: 404, never 0."""

    forecasts: Forecasts
    clock: Clock
    quantity: Quantity
    max_age_seconds: float = DEFAULT_MAX_AGE_SECONDS

    def names(self) -> Sequence[str]:
        """Return the three names."""
        return tuple(METRICS)

    async def read(self, ask: ExternalAsk) -> Sequence[Measured] | None:
        """Return a value for each autoscaler of the namespace that the selector selects."""
        value_of = METRICS.get(ask.metric)
        if value_of is None:
            return None
        is_selected = label_test(ask.selector)
        found = [
            one
            for one in await self.forecasts.summaries()
            if one.namespace == ask.namespace and is_selected(dict(labels_of(one)))
        ]
        if not found:
            selector = f" with selector {ask.selector}" if ask.selector else ""
            raise no_metric(ask.metric, f"no autoscaler in {ask.namespace}{selector}")
        told = [(one, self._told(one, value_of(one))) for one in found]
        values = [measured for _, measured in told if isinstance(measured, Measured)]
        if len(values) < len(told):  # a sum with one part missing would be too small
            raise _missing(ask.metric, [(one, why) for one, why in told if isinstance(why, str)])
        return values

    def _told(self, summary: Summary, value: float | None) -> Measured | str:
        age_seconds = self.clock.now_seconds() - summary.issued_at
        if age_seconds > self.max_age_seconds:
            return f"is {age_seconds:.0f} s old, more than {self.max_age_seconds:g} s"
        quantity = None if value is None else self.quantity(value)
        if quantity is None:
            return "is unknown at the moment"
        return Measured(value=quantity, at_seconds=summary.issued_at, labels=labels_of(summary))


def labels_of(summary: Summary) -> tuple[tuple[str, str], ...]:
    """Return the labels that a selector sees."""
    return (("ahpa", summary.name), ("metric", summary.metric))


def _missing(metric: str, reasons: Sequence[tuple[Summary, str]]) -> StatusError:
    listed = "; ".join(f"{one.namespace}/{one.name} {why}" for one, why in reasons[:3])
    return no_metric(metric, listed)
