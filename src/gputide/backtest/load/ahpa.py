"""The load of an AHPA resource: its demand in Prometheus, its pods, its bounds minute by minute."""

from dataclasses import dataclass, replace
from datetime import UTC
from typing import TypeVar

import numpy as np

from gputide.backtest.load.ahpa_file import AhpaFile
from gputide.backtest.load.ahpa_query import Question, question_of
from gputide.backtest.load.grid import MINUTE_SECONDS
from gputide.backtest.load.prometheus import HistoryOptions, read_beside, read_history
from gputide.backtest.model import FloatArray, Trace
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings
from gputide.clock import utc_from_unix
from gputide.errors import SettingError
from gputide.forecast.model import CENSORED_UTILIZATION_RATIO, BoolArray
from gputide.prometheus.client import Prometheus
from gputide.scaling import Autoscaler

Number = TypeVar("Number", int, float)

ASSUMED_TARGET_RATIO = 0.7
"""Share of a pod that a target by value fills, where nobody says what a pod can serve."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AhpaLoad:
    """The history of a resource's workload, and what the resource asks for."""

    trace: Trace
    autoscaler: Autoscaler
    question: Question
    capacity: float | None
    """Demand that one pod serves when fully busy; None: nothing tells."""

    def fit(
        self, pods: PodSettings, replay: BacktestSettings
    ) -> tuple[PodSettings, BacktestSettings]:
        """Return the settings as the resource has them; what a person set differently counts.

        Raises SettingError where nothing and nobody tells what a pod can serve.
        """
        default, bounds = PodSettings(), self.autoscaler.bounds
        capacity = pods.capacity_per_pod
        if capacity is None and pods.mean_pods is None:
            capacity = self._known_capacity()
        delay, low = self.autoscaler.lead_seconds, max(bounds.min_replicas, 1)
        pods = replace(
            pods,
            capacity_per_pod=capacity,
            start_delay_seconds=_own(pods.start_delay_seconds, default.start_delay_seconds, delay),
            min_replicas=_own(pods.min_replicas, default.min_replicas, low),
            max_replicas=_own(pods.max_replicas, default.max_replicas, bounds.max_replicas),
        )
        return pods, self._fit_targets(replay, capacity)

    def _known_capacity(self) -> float:
        if self.capacity is None:
            raise SettingError(
                "capacity-per-pod",
                "missing: the target is a share of what a pod may use, and no"
                " kube_pod_container_resource_requests tells how much that is",
            )
        return self.capacity

    def _fit_targets(self, given: BacktestSettings, capacity: float | None) -> BacktestSettings:
        default, target = BacktestSettings(), self.question.target
        if not self.question.is_ratio:
            target = default.target_ratio if capacity is None else target / capacity
        return replace(
            given,
            target_ratio=_own(given.target_ratio, default.target_ratio, min(target, 1.0)),
            quantile=_own(given.quantile, default.quantile, self.autoscaler.quantile),
        )


async def read_ahpa(
    prometheus: Prometheus,
    file: AhpaFile,
    options: HistoryOptions,
    *,
    query: str | None = None,
    now_seconds: float,
) -> AhpaLoad:
    """Return the load of the resource's workload; `query` is a person's own instead of ours.

    Raises as `read_history`, and InputError for a metric that is no demand.
    """
    autoscaler = file.autoscaler
    try:
        question = question_of(autoscaler, query=query)
    except SettingError as error:
        raise file.problem(error) from error
    wanted = replace(
        options, time_zone=autoscaler.bounds.zone.key, unit=options.unit or question.unit
    )
    trace = await read_history(prometheus, question.demand, wanted, now_seconds=now_seconds)
    replicas = await read_beside(prometheus, question.ready, trace) if question.ready else None
    capacity, notes = await _capacity(prometheus, question, trace)
    start = np.datetime64(trace.start_utc.astimezone(UTC).replace(tzinfo=None), "m")
    in_force = autoscaler.bounds.over(start + np.arange(len(trace.demand)))
    conditions = autoscaler.bounds.conditions(utc_from_unix(now_seconds))
    idle = [f"{condition.path} {condition.text}" for condition in conditions]
    trace = replace(
        trace,
        name=f"{autoscaler.namespace}/{autoscaler.name}",
        replicas=replicas,
        is_censored=_censored(question, trace, replicas, capacity),
        min_replicas=np.where(in_force.entry > 0, in_force.min_replicas, np.nan),
        max_replicas=np.where(in_force.entry > 0, in_force.max_replicas, np.nan),
        warnings=(*file.warnings, *question.warnings, *notes, *idle, *trace.warnings),
    )
    return AhpaLoad(
        trace=trace,
        autoscaler=autoscaler,
        question=question,
        capacity=capacity,
    )


async def _capacity(
    prometheus: Prometheus, question: Question, trace: Trace
) -> tuple[float | None, tuple[str, ...]]:
    """Return what one pod serves when fully busy, and a sentence where it had to be assumed."""
    if not question.is_ratio:
        note = (
            f"what a pod can serve is unknown: a target of {question.target:g} is taken as"
            f" {ASSUMED_TARGET_RATIO:.0%} of it (--capacity-per-pod says better)"
        )
        return question.target / ASSUMED_TARGET_RATIO, (note,)
    if question.capacity is not None:
        end = trace.start_utc.timestamp() + (len(trace.demand) - 1) * MINUTE_SECONDS
        answer = await prometheus.query(question.capacity, at_seconds=end)
        known = answer.values[np.isfinite(answer.values) & (answer.values > 0)]
        if len(known):
            return float(known.max()), ()
    if question.assumed_capacity is None:
        return None, ()
    note = (
        f"how many {question.unit} a pod asks for is unknown: {question.assumed_capacity:g} is"
        " assumed (--capacity-per-pod says better)"
    )
    return question.assumed_capacity, (note,)


def _censored(
    question: Question, trace: Trace, replicas: FloatArray | None, capacity: float | None
) -> BoolArray | None:
    """Return `[T]` whether all pods were so busy that the demand was at least what they served."""
    if trace.is_censored is not None:  # a person said from which value on
        return trace.is_censored
    if replicas is None or capacity is None or not question.is_utilization:
        return None
    full = replicas * capacity * CENSORED_UTILIZATION_RATIO
    is_censored: BoolArray = (replicas > 0) & (trace.demand >= full)  # NaN compares as false
    return is_censored


def _own(given: Number, default: Number, found: Number) -> Number:
    """Return what a person set, or what was found where they left the default."""
    return found if given == default else given
