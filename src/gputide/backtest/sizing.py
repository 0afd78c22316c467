"""How large the replayed pods are, where the source does not say it."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from gputide.backtest.model import Trace, Workload
from gputide.errors import InputError, SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSettings:
    """What a person says about the pods. Raises SettingError, one line that names the flag."""

    capacity_per_pod: float | None = None
    """Demand that one fully busy pod serves, in the unit of the load."""

    mean_pods: float | None = None
    """Instead: size the pods so that the mean load fills so many of them (20 unless given)."""

    start_delay_seconds: Annotated[
        float, Parameter(name=["--start-delay-seconds", "--start-delay", "--lead"])
    ] = 180
    """From the decision to a pod that serves."""

    min_replicas: int = 1
    """Fewest pods."""

    max_replicas: int = 1_000_000
    """Most pods."""

    late_after_seconds: float = 10
    """Demand that waits longer counts as late."""

    def __post_init__(self) -> None:
        if self.capacity_per_pod is not None and self.mean_pods is not None:
            raise SettingError("mean-pods", "cannot go together with capacity-per-pod")
        for name, least in (("capacity_per_pod", 0.0), ("mean_pods", 0.0)):
            value = getattr(self, name)
            if value is not None and not least < value < float("inf"):
                raise SettingError(name.replace("_", "-"), "must be above 0")
        for name in ("start_delay_seconds", "late_after_seconds"):
            if not 0 <= getattr(self, name) <= 86_400:
                raise SettingError(name.replace("_", "-"), "must be 0 to 86400")
        if self.min_replicas < 0:
            raise SettingError("min-replicas", "must be at least 0")
        if self.max_replicas < max(self.min_replicas, 1):
            raise SettingError("max-replicas", "must be at least 1 and min-replicas")


DEFAULT_MEAN_PODS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A workload, and the sentences that say what was assumed about it."""

    workload: Workload
    warnings: tuple[str, ...] = ()


def size(trace: Trace, settings: PodSettings) -> Sized:
    """Return the workload that the trace ran on; InputError where its load has no mean."""
    capacity, warnings = settings.capacity_per_pod, tuple[str, ...]()
    if capacity is None:
        pods = settings.mean_pods or DEFAULT_MEAN_PODS
        capacity = _mean(trace) / pods
        if settings.mean_pods is None:
            warnings = (_assumption(capacity, pods),)
    workload = Workload(
        capacity_per_pod=capacity,
        start_delay_seconds=settings.start_delay_seconds,
        min_replicas=settings.min_replicas,
        max_replicas=settings.max_replicas,
        initial_queue_limit_seconds=settings.late_after_seconds,
    )
    return Sized(workload=workload, warnings=warnings)


def _assumption(capacity: float, pods: float) -> str:
    return (
        f"capacity-per-pod is not given: {capacity:.4g} is assumed, so that the mean load fills "
        f"{pods:g} pods; savings in percent hardly depend on it, replica-hours do"
    )


def _mean(trace: Trace) -> float:
    known = trace.demand[np.isfinite(trace.demand)]
    if not len(known) or not known.mean() > 0:
        raise InputError(
            trace.name, "has no load: nothing to size the pods by; give capacity-per-pod"
        )
    return float(known.mean())
