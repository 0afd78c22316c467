"""What is asked of a source of demand, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gputide.autoscaler.demand.catalog import PodQuery
from gputide.autoscaler.model import DemandState
from gputide.prometheus.workload import Workload

FloatArray = NDArray[np.float64]
PodKey = tuple[str, str]
"""Namespace and pod."""


@dataclass(frozen=True, slots=True)
class PodsSource:
    """A metric of pods: one query gives it for the whole cluster."""

    name: str
    """For logs and conditions: `gpu`, `cpu` ..."""

    query: PodQuery


@dataclass(frozen=True, slots=True)
class SeriesSource:
    """A metric of its own series (External): one query a workload, or one for all."""

    name: str
    expression: str
    """PromQL with every word filled in."""


@dataclass(frozen=True, slots=True)
class ApiSource:
    """A metric that only the Kubernetes metrics API knows; it has no past but what we saw."""

    name: str
    namespace: str
    label_selector: str
    is_external: bool
    """Else it is a metric of pods, and every pod of the namespace has its own."""


Source = PodsSource | SeriesSource | ApiSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a source said in one round; either values, or why there are none."""

    at_seconds: float
    pods: Mapping[PodKey, float] = field(default_factory=dict)
    """By pod, for PodsSource; not a number where the sample was none."""

    value: float | None = None
    """For the other sources: the sum of the series."""

    series_count: int = 0
    state: DemandState = DemandState.FRESH
    text: str = ""
    duplicates: frozenset[PodKey] = frozenset()
    """Pods with more than one series, which a query of ours never gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRequest:
    """The past of one workload is wanted, on whole minutes."""

    row: Any
    """What the caller knows it by."""

    workload: Workload
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What could be read of the past."""

    rows: Mapping[Any, FloatArray] = field(default_factory=dict)
    """Values `[T]` by the request's row, NaN where unknown; not yet divided by what pods request.

    A row without any series is all NaN; one that could not be asked for is not there.
    """

    problem: str = ""
    """Why some could not be asked for."""
