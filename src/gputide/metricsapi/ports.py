"""What the metrics API needs from outside: values, objects, forecasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gputide.kubeapi.model import JsonObject
from gputide.metricsapi.predictions.wire import Detail, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource as a URL names it: plural and group, "" for the core group."""

    plural: str
    group: str = ""

    @property
    def qualified(self) -> str:
        """`plural.group`, as Kubernetes writes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsFound:
    """Objects that a selector or a name stands for, and what their kind is called."""

    kind: str
    api_version: str
    names: tuple[str, ...]


class Objects(Protocol):
    """The cluster's objects, by label selector."""

    async def named(self, resource: Resource, name: str) -> ObjectsFound:
        """Return the kind of a resource beside that one name, which nobody looks up; 404."""

    async def selected(
        self, resource: Resource, namespace: str, label_selector: str
    ) -> ObjectsFound:
        """Return what a selector selects; "" of a namespace: all of them. Raise StatusError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAsk:
    """One external metric, asked for."""

    namespace: str
    metric: str
    selector: str = ""
    """Label selector on the series."""

    is_forwarded: bool = False
    """Whether another metrics server sent the question on to us: it goes no further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One value with the labels of its series."""

    value: str
    """Kubernetes' quantity, canonical."""

    at_seconds: float
    """Unix time of the sample."""

    labels: tuple[tuple[str, str], ...] = ()
    window_seconds: int | None = None


class ExternalSource(Protocol):
    """Somebody who knows some external metrics."""

    def names(self) -> Sequence[str]:
        """Return the names that are known, from memory."""

    async def read(self, ask: ExternalAsk) -> Sequence[Measured] | None:
        """Return the values; None where the metric is not this source's.

        Raise StatusError where it is, and has no value that can be told.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomRow:
    """One custom metric of one resource, as discovery lists it."""

    resource: Resource
    metric: str
    is_namespaced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomAsk:
    """One custom metric of some objects, asked for."""

    resource: Resource
    namespace: str
    names: tuple[str, ...]
    metric: str
    selector: str = ""
    """Label selector on the series (metricLabelSelector)."""

    singular: str = ""
    """The resource's singular, once its kind is known."""


class CustomSource(Protocol):
    """Somebody who knows metrics of objects."""

    def rows(self) -> Sequence[CustomRow]:
        """Return what is known, from memory."""

    async def read(self, ask: CustomAsk) -> Sequence[tuple[str, Measured]]:
        """Return object names and their values; raise StatusError (404) where there is none."""


class Forecasts(Protocol):
    """The autoscalers' forecasts. Both methods raise StatusError (503) where nobody answers."""

    async def summaries(self) -> Sequence[Summary]:
        """Return the newest round of every autoscaler."""

    async def detail(self, namespace: str, name: str) -> Detail:
        """Return all about one; 404."""


class Explainer(Protocol):
    """Says why a metric has, or has not, values."""

    async def explain(self, metric: str, namespace: str) -> JsonObject:
        """Return rules, queries, series found and labels that are missing."""
