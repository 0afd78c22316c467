"""Fakes of the metrics API's ports: values, objects and forecasts that the test chose."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from fakes.forecast_endpoint import detail
from gputide.kubeapi.errors import StatusError, not_found
from gputide.metricsapi.ports import (
    CustomAsk,
    CustomRow,
    ExternalAsk,
    Measured,
    ObjectsFound,
    Resource,
)
from gputide.metricsapi.predictions.wire import Detail, Summary

AT = 1_772_409_645.9
PODS = Resource(plural="pods")


@dataclass
class FakeExternal:
    """`values`: metric -> what it has; a StatusError is raised; `gate` holds answers back."""

    values: dict[str, Sequence[Measured] | StatusError] = field(default_factory=dict)
    asked: list[ExternalAsk] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def names(self) -> Sequence[str]:
        """Return what is known."""
        return tuple(self.values)

    async def read(self, ask: ExternalAsk) -> Sequence[Measured] | None:
        """Answer, and remember what was asked."""
        self.asked.append(ask)
        await self.gate.wait()
        found = self.values.get(ask.metric)
        if isinstance(found, StatusError):
            raise found
        return found


@dataclass
class FakeCustom:
    """`values`: object -> quantity, for whatever metric is asked for."""

    values: dict[str, str] = field(default_factory=dict)
    listed: tuple[CustomRow, ...] = (CustomRow(resource=PODS, metric="gpu_util"),)
    asked: list[CustomAsk] = field(default_factory=list)

    def rows(self) -> Sequence[CustomRow]:
        """Return what is listed."""
        return self.listed

    async def read(self, ask: CustomAsk) -> Sequence[tuple[str, Measured]]:
        """Answer, and remember what was asked."""
        self.asked.append(ask)
        return [
            (name, Measured(value=self.values[name], at_seconds=AT, window_seconds=60))
            for name in ask.names
            if name in self.values
        ]


@dataclass
class FakeObjects:
    """`names`: label selector -> names; kinds of the few resources that tests ask for."""

    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: dict[str, tuple[str, str]] = field(
        default_factory=lambda: {
            "pods": ("Pod", "v1"),
            "nodes": ("Node", "v1"),
            "namespaces": ("Namespace", "v1"),
            "deployments.apps": ("Deployment", "apps/v1"),
        }
    )

    async def named(self, resource: Resource, name: str) -> ObjectsFound:
        """Return the kind beside the name."""
        kind, version = self._kind(resource)
        return ObjectsFound(kind=kind, api_version=version, names=(name,))

    async def selected(
        self, resource: Resource, namespace: str, label_selector: str
    ) -> ObjectsFound:
        """Return the selector's names."""
        assert namespace
        kind, version = self._kind(resource)
        names = self.names.get(label_selector, ())
        return ObjectsFound(kind=kind, api_version=version, names=names)

    def _kind(self, resource: Resource) -> tuple[str, str]:
        if resource.qualified not in self.kinds:
            raise StatusError(404, "NotFound", f"the cluster has no resource {resource.qualified}")
        return self.kinds[resource.qualified]


@dataclass
class FakeForecasts:
    """Forecasts as the endpoint words them."""

    details: list[dict[str, Any]] = field(default_factory=lambda: [detail()])

    async def summaries(self) -> Sequence[Summary]:
        """Return all."""
        return [msgspec.convert(one, Summary) for one in self.details]

    async def detail(self, namespace: str, name: str) -> Detail:
        """Return one."""
        for one in self.details:
            if (one["namespace"], one["name"]) == (namespace, name):
                return msgspec.convert(one, Detail)
        raise not_found("predictions.metrics.alibabacloud.com", name)
