"""What a source's answer says of one workload: demand, and what it is worth. Pure."""

from dataclasses import dataclass, field
from math import isnan

from gputide.autoscaler.demand.model import Answer, ApiSource, PodsSource, Source
from gputide.autoscaler.model import Demand, DemandState, Target

MAX_NAMED_PODS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One metric of one workload."""

    source: Source
    namespace: str
    is_share: bool
    """Whether the value is divided by what a pod requests."""


def assess(wanted: Wanted, answer: Answer, target: Target | None) -> Demand:
    """Return the demand of a workload by one metric, or why it is not known."""
    if answer.state is not DemandState.FRESH:
        return Demand(value=None, state=answer.state, text=answer.text)
    if not is_of_pods(wanted.source):
        state = DemandState.EMPTY if answer.value is None else DemandState.FRESH
        return Demand(value=answer.value, state=state, at_seconds=answer.at_seconds)
    if target is None:
        return Demand(value=None, state=DemandState.EMPTY, text="the workload is not there")
    if not target.pods:
        return _without_pods(answer, target)
    return _of_pods(wanted, answer, target)


def is_of_pods(source: Source) -> bool:
    """Whether a source tells of each pod by itself."""
    return isinstance(source, PodsSource) or (
        isinstance(source, ApiSource) and not source.is_external
    )


def _without_pods(answer: Answer, target: Target) -> Demand:
    if target.replicas == 0:  # nothing runs, so nothing is used: that is known
        return Demand(value=0.0, state=DemandState.FRESH, at_seconds=answer.at_seconds)
    text = f"none of {target.replicas} pods is there yet"
    return Demand(value=None, state=DemandState.EMPTY, text=text)


def unit_of(source: Source, target: Target, *, is_share: bool) -> tuple[float | None, str]:
    """Return what one pod's full use is in the source's unit; None and why where not known."""
    if not is_share or not isinstance(source, PodsSource) or not source.query.per_request:
        return 1.0, ""
    resource = source.query.per_request
    request = target.requests.get(resource) or source.query.default_request
    if request is None or request <= 0:
        text = f"the pods request no {resource}, so its utilization is not known"
        return None, text
    return request, ""


@dataclass(slots=True)
class _Count:
    """What the answer holds of a workload's pods."""

    total: float = 0.0
    unready: float = 0.0
    known: int = 0
    """Ready pods with a value."""

    broken: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)


def _of_pods(wanted: Wanted, answer: Answer, target: Target) -> Demand:
    source = wanted.source
    per_pod, problem = unit_of(source, target, is_share=wanted.is_share)
    if per_pod is None:
        return Demand(value=None, state=DemandState.NOT_CONFIGURED, text=problem)
    count = _count(wanted.namespace, answer, target, per_pod)
    ready = sum(pod.is_ready for pod in target.pods)
    if count.doubled:
        text = f"several series for {_named(count.doubled)}: write sum by (namespace, pod) (...)"
        return Demand(value=None, state=DemandState.SEVERAL, text=text)
    value: float | None = count.total
    state, text = DemandState.FRESH, ""
    if not count.known:
        value = None
        state = DemandState.NOT_A_NUMBER if count.broken else DemandState.EMPTY
        what = "not a number" if count.broken else "no sample that is new enough"
        text = f"{what} for {_named(count.broken or count.missing) or 'any pod: none is ready'}"
    elif count.missing or count.broken:
        state, text = DemandState.PARTIAL, f"no sample for {_named(count.missing + count.broken)}"
    is_mean = isinstance(source, PodsSource) and not source.query.is_additive
    if value is not None and is_mean:
        # a mean over the pods times the pods: what the HPA makes of a ratio
        value = value / count.known * max(ready, 1)
    return Demand(
        value=value,
        state=state,
        text=text,
        at_seconds=answer.at_seconds,
        pods_known=count.known,
        pods_expected=ready,
        unready_value=0.0 if value is None or is_mean else count.unready,
    )


def _count(namespace: str, answer: Answer, target: Target, per_pod: float) -> _Count:
    count = _Count()
    for pod in target.pods:
        key = (namespace, pod.name)
        value = answer.pods.get(key)
        if key in answer.duplicates:
            count.doubled.append(pod.name)
        if value is not None and not isnan(value):
            if pod.is_ready:
                count.total += value / per_pod
            else:
                count.unready += value / per_pod
            count.known += pod.is_ready
        elif pod.is_ready:
            (count.missing if value is None else count.broken).append(pod.name)
    return count


def _named(pods: list[str]) -> str:
    more = f" and {len(pods) - MAX_NAMED_PODS} more" if len(pods) > MAX_NAMED_PODS else ""
    return ", ".join(pods[:MAX_NAMED_PODS]) + more
