"""custom.metrics.k8s.io, v1beta2 and v1beta1: values that belong to objects."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gputide.clock import Clock
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.model import ComputedResource, JsonObject, ReadRequest
from gputide.metricsapi.external import timestamp
from gputide.metricsapi.ports import (
    CustomAsk,
    CustomRow,
    CustomSource,
    Measured,
    Objects,
    ObjectsFound,
    Resource,
)
from gputide.metricsapi.questions import Questions, no_metric

GROUP = "custom.metrics.k8s.io"
KIND = "MetricValueList"
NAMESPACES = Resource(plural="namespaces")
EVERY = "*"

Values = tuple[ObjectsFound, Sequence[tuple[str, Measured]]]


class CustomValues:
    """Objects and their values, for both versions of the group."""

    def __init__(
        self, source: CustomSource, objects: Objects, clock: Clock, bounds: CacheBounds
    ) -> None:
        self._source = source
        self._objects = objects
        self.questions: Questions[Values] = Questions(clock, bounds)
        self._rows: Sequence[CustomRow] = ()
        self._listed: tuple[ComputedResource, ...] = ()

    def listed(self) -> Sequence[ComputedResource]:
        """Return what discovery lists; the same tuple until it changes."""
        rows = self._source.rows()
        if rows is not self._rows:
            made = (
                ComputedResource(
                    name=f"{one.resource.qualified}/{one.metric}",
                    kind=KIND,
                    is_namespaced=one.is_namespaced,
                )
                for one in rows
            )
            self._rows, self._listed = rows, tuple(made)
        return self._listed

    async def read(self, ask: CustomAsk, label_selector: str) -> Values:
        """Return the objects and the values of those that have one; raise StatusError."""
        key = (ask, label_selector)
        return await self.questions.get(key, lambda: self._read(ask, label_selector))

    async def _read(self, ask: CustomAsk, label_selector: str) -> Values:
        where = _where(ask, label_selector)
        if ask.names == (EVERY,):
            found = await self._objects.selected(ask.resource, ask.namespace, label_selector)
        else:
            found = await self._objects.named(ask.resource, ask.names[0])
        if not found.names:
            raise no_metric(f"{ask.metric} {where}", "the selector selects no object")
        asked = replace(ask, names=found.names, singular=found.kind.lower())
        values = await self._source.read(asked)
        if not values:
            raise no_metric(f"{ask.metric} {where}", "no series that can be told")
        return found, values


class CustomMetrics:
    """A computed group in one of its versions."""

    group = GROUP

    def __init__(self, values: CustomValues, version: Literal["v1beta1", "v1beta2"]) -> None:
        self._values = values
        self.version: str = version

    def resources(self) -> Sequence[ComputedResource]:
        """Return a row a resource and metric."""
        return self._values.listed()

    async def read(self, request: ReadRequest) -> JsonObject:
        """Return a MetricValueList with at least one item; raise StatusError."""
        ask = asked(request)
        label_selector = request.query.get("labelSelector", ("",))[0]
        found, values = await self._values.read(ask, label_selector)
        is_itself = ask.resource == NAMESPACES
        namespace = "" if is_itself else ask.namespace
        return {
            "kind": KIND,
            "apiVersion": f"{GROUP}/{self.version}",
            "metadata": {},
            "items": [
                self._item(ask, _described(found, namespace, name), one) for name, one in values
            ],
        }

    def _item(self, ask: CustomAsk, described: JsonObject, measured: Measured) -> JsonObject:
        made: JsonObject = {"describedObject": described}
        selector = _selector(ask.selector)
        is_new = self.version == "v1beta2"
        if is_new:
            made["metric"] = {"name": ask.metric, "selector": selector}
        else:
            made["metricName"] = ask.metric
        made["timestamp"] = timestamp(measured.at_seconds)
        if measured.window_seconds is not None:
            made["windowSeconds" if is_new else "window"] = measured.window_seconds
        made["value"] = measured.value
        return made if is_new else made | {"selector": selector}


def asked(request: ReadRequest) -> CustomAsk:
    """Return what a URL of the group asks for; raise StatusError (404) where it is none."""
    selector = request.query.get("metricLabelSelector", ("",))[0]
    if request.resource == "metrics" and request.namespace and not request.subresource:
        return CustomAsk(
            resource=NAMESPACES,
            namespace=request.namespace,
            names=(request.namespace,),
            metric=request.name,
            selector=selector,
        )
    if not (request.name and request.subresource) or "/" in request.subresource:
        raise no_metric(request.subresource or request.resource, "ask for RESOURCE/NAME/METRIC")
    plural, _, group = request.resource.partition(".")
    return CustomAsk(
        resource=Resource(plural=plural, group=group),
        namespace=request.namespace,
        names=(request.name,),
        metric=request.subresource,
        selector=selector,
    )


def _where(ask: CustomAsk, label_selector: str) -> str:
    """Return the words of the Go servers after the metric's name."""
    name = "" if ask.names == (EVERY,) else f" {ask.names[0]}"
    selector = f" with selector {label_selector}" if label_selector else ""
    return f"for {ask.resource.qualified}{name}{selector}"


def _described(found: ObjectsFound, namespace: str, name: str) -> JsonObject:
    made = {"kind": found.kind, "namespace": namespace, "name": name}
    version = found.api_version if "/" in found.api_version else f"/{found.api_version}"
    return {key: value for key, value in made.items() if value} | {"apiVersion": version}


def _selector(text: str) -> JsonObject | None:
    """Return a selector of equalities as an object; None where there is none."""
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    if not pairs:
        return None
    if all(is_ and "!" not in key and " " not in key for key, is_, _ in pairs):
        return {"matchLabels": {key: value.removeprefix("=") for key, _, value in pairs}}
    return None
