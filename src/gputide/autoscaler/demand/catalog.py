"""PromQL by metric, as data: one vector by (namespace, pod) for the whole cluster, or a part of it.

$match stands for matchers on the pods (`namespace=~"a|b", pod=~"..."`), $fresh(series) for a series
without samples that are too old, $window for rates. Both of the label styles that a
GPU exporter's series arrive in are read: the workload's pod in `pod`, or in `exported_pod` where
Prometheus keeps `pod` for the exporter itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gputide.prometheus.catalog import Metric

GPU_RESOURCE = "nvidia.com/gpu"


class Shape(StrEnum):
    """What a metric is measured in."""

    SHARE = "share"
    """Of what one pod may use: for Utilization."""

    AMOUNT = "amount"
    """In base units: for AverageValue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodQuery:
    """How one metric is read for each pod."""

    expression: str
    unit: str
    per_request: str = ""
    """Resource whose request of a pod is a share of 1; empty: the value is one already."""

    default_request: float | None = None
    """What a pod without a request counts as; None: then its share is not known."""

    is_additive: bool = True
    """Whether pods share it as a load; a response time they do not."""


def _fresh(series: str) -> str:
    """Return what a series says, where that is new enough; promql.py fills it in."""
    return f"$fresh({series})"


def _rate(series: str) -> str:
    """Return a counter's rate, where its newest sample is new enough; promql.py fills it in."""
    return f"$rate({series})"


def _pods(name: str, labels: str) -> str:
    """Return a series under `namespace` and `pod`, whichever style its labels have."""
    plain = _fresh(f'{name}{{$match, pod!="", exported_pod=""}}')
    exported = _fresh(f'{name}{{$exported, exported_pod!=""}}')
    renamed = (
        f'label_replace(label_replace({exported}, "namespace", "$1", "exported_namespace", "(.*)"),'
        ' "pod", "$1", "exported_pod", "(.*)")'
    )
    return f"max by (namespace, pod, {labels}) ({plain} or {renamed})"


_DEVICE = "UUID, GPU_I_ID"
_UTIL = _pods("DCGM_FI_DEV_GPU_UTIL", _DEVICE)
_ENGINE = _pods("DCGM_FI_PROF_GR_ENGINE_ACTIVE", _DEVICE)
_USED, _FREE = _pods("DCGM_FI_DEV_FB_USED", _DEVICE), _pods("DCGM_FI_DEV_FB_FREE", _DEVICE)


def _processes(name: str) -> str:
    """Return a metric of processes by pod and GPU; its pod labels have names of their own."""
    series = _fresh(f'{name}{{$process, PodName!=""}}')
    renamed = (
        f'label_replace(label_replace({series}, "namespace", "$1", "NamespaceName", "(.*)"),'
        ' "pod", "$1", "PodName", "(.*)")'
    )
    return f"sum by (namespace, pod, UUID) ({renamed})"


def _unshared(devices: str, processes: str) -> str:
    """Return use by pod: of a GPU that several pods share, each one's own processes alone.

    Some exporters copy a shared GPU's whole use to each of its pods, others show none of it.
    """
    holders = f"count by (UUID, GPU_I_ID) ({devices})"
    alone = f"({devices} unless on (UUID, GPU_I_ID) ({holders} > 1))"
    shared = f"({processes} unless on (UUID) ({holders} == 1))"
    return f"sum by (namespace, pod) ({alone} or {shared})"


def _containers(inner: str) -> str:
    return f"sum by (namespace, pod) (max by (namespace, pod, container) ({inner}))"


_GPU_USE = f"{_unshared(_UTIL, _processes('DCGM_CUSTOM_PROCESS_SM_UTIL'))} / 100"
_CONTAINER = '$match, container!="", container!="POD"'
_CPU = _containers(_rate(f"container_cpu_usage_seconds_total{{{_CONTAINER}}}"))
_MEMORY = _containers(_fresh(f"container_memory_working_set_bytes{{{_CONTAINER}}}"))
_DURATION = "http_request_duration_seconds"

QUERIES: Mapping[tuple[Metric, Shape], PodQuery] = {
    (Metric.GPU, Shape.SHARE): PodQuery(
        expression=_GPU_USE, unit="GPUs", per_request=GPU_RESOURCE, default_request=1.0
    ),
    (Metric.GPU, Shape.AMOUNT): PodQuery(expression=_GPU_USE, unit="GPUs"),
    (Metric.GPU_ENGINE, Shape.SHARE): PodQuery(
        expression=f"sum by (namespace, pod) ({_ENGINE})",
        unit="GPUs or MIG instances",
        per_request=GPU_RESOURCE,
        default_request=1.0,
    ),
    (Metric.GPU_MEMORY, Shape.SHARE): PodQuery(
        expression=f"sum by (namespace, pod) ({_USED} / ({_USED} + {_FREE}))",
        unit="GPUs' memory",
        per_request=GPU_RESOURCE,
        default_request=1.0,
    ),
    (Metric.GPU_MEMORY, Shape.AMOUNT): PodQuery(
        expression=f"sum by (namespace, pod) ({_USED}) * 1048576", unit="bytes"
    ),
    (Metric.CPU, Shape.SHARE): PodQuery(expression=_CPU, unit="requests", per_request="cpu"),
    (Metric.CPU, Shape.AMOUNT): PodQuery(expression=_CPU, unit="cores"),
    (Metric.MEMORY, Shape.SHARE): PodQuery(
        expression=_MEMORY, unit="requests", per_request="memory"
    ),
    (Metric.MEMORY, Shape.AMOUNT): PodQuery(expression=_MEMORY, unit="bytes"),
    (Metric.RPS, Shape.AMOUNT): PodQuery(
        expression=f"sum by (namespace, pod) ({_rate('http_requests_total{$match}')})",
        unit="requests/s",
    ),
    (Metric.RESPONSE_TIME, Shape.AMOUNT): PodQuery(
        expression=f"sum by (namespace, pod) ({_rate(f'{_DURATION}_sum{{$match}}')})"
        f" / sum by (namespace, pod) ({_rate(f'{_DURATION}_count{{$match}}')})",
        unit="seconds",
        is_additive=False,
    ),
}
"""A person's own PromQL takes the place of a row's expression (`--query rps=...`); it has to keep
the labels namespace and pod."""
