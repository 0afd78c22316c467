"""What a source's answer says of one workload: demand, and what it is worth. Pure."""

from dataclasses import dataclass
from math import isnan

from gputide.autoscaler.demand.model import Answer, PodsSource, Source
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
    if not isinstance(wanted.source, PodsSource):
        return Demand(
            value=answer.value,
            state=answer.state if answer.value is not None else DemandState.EMPTY,
            at_seconds=answer.at_seconds,
        )
    if target is None:
        return Demand(value=None, state=DemandState.EMPTY, text="the workload is not there")
    if not target.pods:
        if target.replicas == 0:  # nothing runs, so nothing is used: that is known
            return Demand(value=0.0, state=DemandState.FRESH, at_seconds=answer.at_seconds)
        text = f"none of {target.replicas} pods is there yet"
        return Demand(value=None, state=DemandState.EMPTY, text=text)
    per_pod, problem = unit_of(wanted.source, target, is_share=wanted.is_share)
    if per_pod is None:
        return Demand(value=None, state=DemandState.NOT_CONFIGURED, text=problem)
    return _of_pods(wanted.source, wanted.namespace, answer, target, per_pod)


def unit_of(source: PodsSource, target: Target, *, is_share: bool) -> tuple[float | None, str]:
    """Return what one pod's full use is in the source's unit; None and why where not known."""
    resource = source.query.per_request
    if not is_share or not resource:
        return 1.0, ""
    request = target.requests.get(resource) or source.query.default_request
    if request is None or request <= 0:
        text = f"the pods request no {resource}, so its utilization is not known"
        return None, text
    return request, ""


def _of_pods(
    source: PodsSource, namespace: str, answer: Answer, target: Target, per_pod: float
) -> Demand:
    ready = [pod for pod in target.pods if pod.is_ready]
    total, known, broken, missing = 0.0, 0, [], []
    for pod in target.pods:
        value = answer.pods.get((namespace, pod.name))
        if value is None or isnan(value):
            if pod.is_ready:
                (missing if value is None else broken).append(pod.name)
            continue
        if pod.is_ready:
            known += 1
        total += value / per_pod
    counts = {"pods_known": known, "pods_expected": len(ready), "at_seconds": answer.at_seconds}
    doubled = [pod.name for pod in target.pods if (namespace, pod.name) in answer.duplicates]
    if doubled:
        text = f"several series for {_named(doubled)}: write sum by (namespace, pod) (...)"
        return Demand(value=None, state=DemandState.SEVERAL, text=text)
    if not known:
        state = DemandState.NOT_A_NUMBER if broken else DemandState.EMPTY
        what = "not a number" if broken else "no sample that is new enough"
        names = _named(broken or missing) or "any pod: none is ready"
        return Demand(value=None, state=state, text=f"{what} for {names}", **counts)
    if not source.query.is_additive:  # a mean over pods times the pods: what the HPA's ratio makes
        total = total / known * max(len(ready), 1)
    if missing or broken:
        text = f"no sample for {_named(missing + broken)}"
        return Demand(value=total, state=DemandState.PARTIAL, text=text, **counts)
    return Demand(value=total, state=DemandState.FRESH, **counts)


def _named(pods: list[str]) -> str:
    more = f" and {len(pods) - MAX_NAMED_PODS} more" if len(pods) > MAX_NAMED_PODS else ""
    return ", ".join(pods[:MAX_NAMED_PODS]) + more
