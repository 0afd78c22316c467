"""Fills in the catalog's PromQL: the whole cluster now, some workloads over the past. Pure."""

import re
from collections.abc import Sequence

from gputide.errors import SettingError
from gputide.prometheus.model import quote
from gputide.prometheus.workload import Workload

_WORD = re.compile(r"\$(match|exported|process|window)\b")
_FRESH = re.compile(r"\$fresh\(([^()]*)\)")
_RATE = re.compile(r"\$rate\(([^()]*)\)")
_NAME_OF_KIND = {
    "Deployment": "^(.+)-[a-z0-9]+-[a-z0-9]{5}$",
    "StatefulSet": "^(.+)-[0-9]+$",
    "ReplicaSet": "^(.+)-[a-z0-9]{5}$",
}


def is_groupable(workload: Workload) -> bool:
    """Whether a pod's name tells its workload's: names that Kubernetes had to cut do not."""
    return workload.kind in _NAME_OF_KIND and len(workload.name) <= 46


def current_query(expression: str, *, age_seconds: float, window_seconds: int) -> str:
    """Return the query of all pods of the cluster, with samples of that age at most.

    A range such as last_over_time would show a series on after its end: a GPU that has passed to
    another pod would count for both, as a shared one. A rate does the same for its window.
    """
    is_new = rf"timestamp(\1) >= time() - {max(round(age_seconds), 1)}"
    fresh = _FRESH.sub(rf"(\1 and {is_new})", expression)
    fresh = _RATE.sub(rf"(rate(\1[$window]) and {is_new})", fresh)
    return _fill(fresh, namespaces="", pods="", window=window_seconds)


def past_query(
    expression: str, workloads: Sequence[Workload], *, how: str, window_seconds: int
) -> str:
    """Return one query by (namespace, workload) for workloads of one kind.

    `how` joins the pods: `sum`, `avg`, or `count`. A sample of the past holds for Prometheus' own
    lookback (5 min) unless its series ended: `timestamp` makes a week cost 20 times more.
    """
    kinds = {workload.kind for workload in workloads}
    if len(kinds) != 1:
        raise SettingError("workloads", "one query is for workloads of one kind")
    namespaces = "|".join(sorted({one.namespace for one in workloads}))
    pods = "|".join(sorted({one.pods_pattern for one in workloads}))
    plain = _RATE.sub(r"rate(\1[$window])", _FRESH.sub(r"\1", expression))
    inner = _fill(plain, namespaces=namespaces, pods=pods, window=window_seconds)
    if all(is_groupable(one) for one in workloads):
        name = _NAME_OF_KIND[workloads[0].kind]
        labelled = f'label_replace({inner}, "workload", "$1", "pod", {quote(name)})'
    elif len(workloads) == 1:  # its pods' names do not tell it, so we do
        labelled = f'label_replace({inner}, "workload", {quote(workloads[0].name)}, "", "")'
    else:
        raise SettingError("workloads", "names that pods do not tell are asked for one by one")
    return f"{how} by (namespace, workload) ({labelled})"


def _fill(expression: str, *, namespaces: str, pods: str, window: int) -> str:
    words = {
        "match": _matchers("namespace", namespaces, "pod", pods),
        "exported": _matchers("exported_namespace", namespaces, "exported_pod", pods),
        "process": _matchers("NamespaceName", namespaces, "PodName", pods),
        "window": f"{window}s",
    }
    return _WORD.sub(lambda found: words[found[1]], expression)


def _matchers(namespace: str, namespaces: str, pod: str, pods: str) -> str:
    """Return matchers on pods; without any a matcher that every such series passes."""
    if not pods:
        return f'{namespace}!=""'
    return f"{namespace}=~{quote(namespaces)}, {pod}=~{quote(pods)}"
