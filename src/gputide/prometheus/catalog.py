"""A workload's demand in PromQL, one row a metric; the autoscaler and the backtest ask these.

Demand is the SUM over the workload's pods in base units, never an average, which our own scaling
moves. A device that is scraped twice (two jobs, two Prometheus behind one store) counts once.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gputide.errors import SettingError
from gputide.prometheus.workload import Workload

DEFAULT_WINDOW_SECONDS = 120


class Metric(StrEnum):
    """What demand is measured in; the names of `spec.metrics[].resource.name`."""

    GPU = "gpu"
    GPU_ENGINE = "gpu_engine"
    GPU_MEMORY = "gpu_memory"
    CPU = "cpu"
    MEMORY = "memory"
    RPS = "rps"
    RESPONSE_TIME = "rt"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandQuery:
    """One row; its PromQL holds the words that `fill` knows: $namespace, $pods, $window."""

    metric: Metric
    title: str
    unit: str
    demand: str
    """The demand of all pods together, in `unit`."""

    pods: str
    """A vector with one sample for each pod that has the metric."""

    capacity: str = ""
    """What one pod serves when fully busy, in `unit`; empty where only the owner knows."""

    is_additive: bool = True
    """Whether pods share it as a load; a response time they do not."""

    note: str = ""


_PODS = 'namespace="$namespace", pod=~"$pods"'
_EXPORTED_PODS = 'exported_namespace="$namespace", exported_pod=~"$pods"'
_CONTAINERS = f'{_PODS}, container!="", container!="POD"'


def _devices(name: str) -> str:
    """Return an exporter's metric, once for each pod and device, under either style of labels.

    Without `honor_labels` Prometheus keeps `pod` for the exporter and renames the workload's label.
    """
    device = "UUID, gpu, GPU_I_ID"
    return (
        f"max by (exported_pod, {device}) ({name}{{{_EXPORTED_PODS}}})"
        f" or max by (pod, {device}) ({name}{{{_PODS}}})"
    )


def _device_pods(name: str) -> str:
    return (
        f"count by (exported_pod) ({name}{{{_EXPORTED_PODS}}})"
        f" or count by (pod) ({name}{{{_PODS}}})"
    )


def _requests(resource: str) -> str:
    name, which = "kube_pod_container_resource_requests", f'resource="{resource}"'
    return (
        "max(sum by (exported_pod) (max by (exported_pod, exported_container)"
        f" ({name}{{{_EXPORTED_PODS}, {which}}}))"
        f" or sum by (pod) (max by (pod, container) ({name}{{{_PODS}, {which}}})))"
    )


DEMAND: Mapping[Metric, DemandQuery] = {
    row.metric: row
    for row in (
        DemandQuery(
            metric=Metric.GPU,
            title="Busy GPUs",
            unit="GPUs",
            demand=f"sum({_devices('DCGM_FI_DEV_GPU_UTIL')}) / 100",
            pods=_device_pods("DCGM_FI_DEV_GPU_UTIL"),
            capacity=_requests("nvidia_com_gpu"),
            note="A GPU that several pods share shows its whole use for each of them where the "
            "exporter copies it so. Near 100 % this is a lower bound of the demand.",
        ),
        DemandQuery(
            metric=Metric.GPU_ENGINE,
            title="Busy GPUs or MIG instances",
            unit="GPUs",
            demand=f"sum({_devices('DCGM_FI_PROF_GR_ENGINE_ACTIVE')})",
            pods=_device_pods("DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
            note="For MIG, where utilization does not exist: busy instances, whatever their size.",
        ),
        DemandQuery(
            metric=Metric.GPU_MEMORY,
            title="GPU memory in use",
            unit="bytes",
            demand=f"sum({_devices('DCGM_FI_DEV_FB_USED')}) * 1048576",
            pods=_device_pods("DCGM_FI_DEV_FB_USED"),
            note="Many frameworks reserve all memory at their start: then it says nothing.",
        ),
        DemandQuery(
            metric=Metric.CPU,
            title="Busy CPU cores",
            unit="cores",
            demand="sum(max by (pod, container) (rate("
            f"container_cpu_usage_seconds_total{{{_CONTAINERS}}}[$window])))",
            pods=f"count by (pod) (container_cpu_usage_seconds_total{{{_CONTAINERS}}})",
            capacity=_requests("cpu"),
        ),
        DemandQuery(
            metric=Metric.MEMORY,
            title="Memory in use",
            unit="bytes",
            demand="sum(max by (pod, container) ("
            f"container_memory_working_set_bytes{{{_CONTAINERS}}}))",
            pods=f"count by (pod) (container_memory_working_set_bytes{{{_CONTAINERS}}})",
            capacity=_requests("memory"),
        ),
        DemandQuery(
            metric=Metric.RPS,
            title="Requests",
            unit="requests/s",
            demand=f"sum(rate(http_requests_total{{{_PODS}}}[$window]))",
            pods=f"count by (pod) (http_requests_total{{{_PODS}}})",
            note="The customary name; give your own query where yours differs.",
        ),
        DemandQuery(
            metric=Metric.RESPONSE_TIME,
            title="Mean response time",
            unit="seconds",
            demand=f"sum(rate(http_request_duration_seconds_sum{{{_PODS}}}[$window]))"
            f" / sum(rate(http_request_duration_seconds_count{{{_PODS}}}[$window]))",
            pods=f"count by (pod) (http_request_duration_seconds_count{{{_PODS}}})",
            is_additive=False,
            note="Not a demand that pods share; give your own query where yours differs.",
        ),
    )
}

_READY = {
    "Deployment": ("kube_deployment_status_replicas_ready", "deployment"),
    "StatefulSet": ("kube_statefulset_status_replicas_ready", "statefulset"),
}

_ALIASES = {"qps": Metric.RPS, "gpu_util": Metric.GPU, "response_time": Metric.RESPONSE_TIME}


def parse_metric(name: str, *, setting: str = "spec.metrics") -> Metric:
    """Return the metric that a person names (`gpu`, `gpu-memory`, `QPS`), or raise SettingError.

    >>> parse_metric("QPS").value
    'rps'
    """
    plain = name.lower().replace("-", "_")
    try:
        return _ALIASES.get(plain) or Metric(plain)
    except ValueError as error:
        known = ", ".join(Metric)
        raise SettingError(setting, f"{name!r} is no known metric: {known}") from error


def demand_query(
    metric: Metric,
    workload: Workload,
    *,
    window_seconds: int = DEFAULT_WINDOW_SECONDS,
    template: str | None = None,
) -> str:
    """Return the PromQL of a workload's demand, one series without labels.

    `template` is a person's own query instead of the catalog's: $namespace, $workload, $pods and
    $window in it are filled in. `window_seconds` should hold at least two scrapes. Raises
    SettingError for another $word.
    """
    return fill(template or DEMAND[metric].demand, workload, window_seconds=window_seconds)


def ready_query(metric: Metric, workload: Workload) -> str:
    """Return the PromQL of the number of ready pods, one series without labels.

    From kube-state-metrics; where that is absent, the number of pods that have the metric.
    """
    counted = f"count({DEMAND[metric].pods})"
    if workload.kind in _READY:
        name, label = _READY[workload.kind]
        styles = ("namespace", "exported_namespace")
        ready = " or ".join(f'{name}{{{s}="$namespace", {label}="$workload"}}' for s in styles)
        counted = f"max({ready}) or {counted}"
    return fill(counted, workload)


def capacity_query(metric: Metric, workload: Workload) -> str | None:
    """Return the PromQL of what one pod serves (its requests); None: only its owner knows."""
    template = DEMAND[metric].capacity
    return fill(template, workload) if template else None


def fill(template: str, workload: Workload, *, window_seconds: int = DEFAULT_WINDOW_SECONDS) -> str:
    """Return a query with its $words filled in, for use inside double quotes.

    A `$` before anything but a letter stays, for patterns. Raises SettingError for an unknown $word
    and for a window outside 15 s to a day.
    """
    if not 15 <= window_seconds <= 86_400:
        raise SettingError("window-seconds", f"must be 15 to 86400, is {window_seconds}")
    words = {
        "namespace": workload.namespace,
        "workload": workload.name,
        "pods": workload.pods_pattern,
        "window": f"{window_seconds}s",
    }

    def word(found: re.Match[str]) -> str:
        if found[1] not in words:
            known = ", ".join(f"${name}" for name in words)
            raise SettingError("query", f"${found[1]} is unknown: it may hold {known}")
        return words[found[1]]

    return re.sub(r"\$([A-Za-z_]\w*)", word, template)
