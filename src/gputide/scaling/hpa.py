"""The Kubernetes HPA v2 rule over arrays: how many replicas a metric asks for.

Every array is `[N]`; a result is a need in replicas, NaN where the metric is unknown. Read from
kubernetes v1.34 (podautoscaler/replica_calculator.go); two of its roundings are not followed:
utilization is not cut to whole percent first, and 0.3 / 0.1 counts as 3.
"""

from dataclasses import dataclass

import numpy as np

from gputide.scaling.policies import BoolArray, FloatArray, Rule
from gputide.scaling.rounding import ceil_replicas


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodUsage:
    """What the pods of N rows report, `[N]` each; deleted and failed pods do not count."""

    usage: FloatArray
    """Sum over the ready pods with a sample, in the unit of the target; NaN: unknown."""

    ready: FloatArray
    """Ready pods with a sample."""

    unready: FloatArray
    """Pods that are pending, or not ready yet."""

    missing: FloatArray
    """Running pods without a sample."""


def pods_need(pods: PodUsage, rule: Rule, *, current: FloatArray) -> FloatArray:
    """Return the need by what the pods report (Resource and Pods metrics), in whole replicas.

    NaN where no ready pod has a sample. Pods that have none count so as to damp the move, and where
    that turns its direction nothing moves.
    """
    capacity = pods.ready * rule.target
    up, down = pods.usage > capacity, pods.usage < capacity
    guessed_unready = np.where(up, pods.unready, 0.0)
    guessed_missing = np.where(up | down, pods.missing, 0.0)
    usage = pods.usage + np.where(down, pods.missing * rule.missing_usage, 0.0)
    capacity = (pods.ready + guessed_unready + guessed_missing) * rule.target
    replicas = ceil_replicas(usage / rule.target)

    hold = (usage >= capacity * rule.least_within) & (usage <= capacity * rule.most_within)
    is_guessed = guessed_unready + guessed_missing > 0
    now_up, now_down = usage > capacity, usage < capacity
    turned = (up & now_down) | (down & now_up)
    backwards = (now_down & (replicas > current)) | (now_up & (replicas < current))
    hold |= is_guessed & (turned | backwards)
    need = np.where(hold, current, replicas)
    return np.where((pods.ready > 0) & ~np.isnan(pods.usage), need, np.nan)


def total_need(total: FloatArray, rule: Rule, *, current: FloatArray) -> FloatArray:
    """Return the need by a total (AverageValue of an External or Object metric), not rounded.

    No tolerance at 0 replicas.
    """
    need = total / rule.target
    hold = (need >= current * rule.least_within) & (need <= current * rule.most_within)
    return np.where(hold, current, need)


def value_need(
    value: FloatArray, rule: Rule, *, current: FloatArray, ready: FloatArray
) -> FloatArray:
    """Return the need by a value that belongs to no pod (Value of an External or Object metric).

    The ratio multiplies the ready pods; at 0 replicas the ratio itself is the count.
    """
    ratio = value / rule.target
    hold = (ratio >= rule.least_within) & (ratio <= rule.most_within) & (current > 0)
    return np.where(hold, current, ratio * np.where(current > 0, ready, 1.0))


def largest_need(needs: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the largest of `needs[M, N]`, and where all M are known.

    A metric that failed blocks scaling in, not out: the caller holds where not all are known.
    """
    largest: FloatArray = np.fmax.reduce(needs)
    is_known: BoolArray = ~np.isnan(largest + needs.sum(axis=0))
    return largest, is_known
