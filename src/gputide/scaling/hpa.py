"""The Kubernetes HPA v2 rule over arrays: how many replicas one metric asks for."""

import numpy as np
from numpy.typing import NDArray

from gputide.scaling.model import PodUsage
from gputide.scaling.policy import FloatArray

ROUNDING_RATIO = 1e-9
"""189 / 20 is 9.45, but 0.3 / 0.1 must be 3 and 1.1 / 0.1 must be 11."""


def ceil_replicas(need: FloatArray) -> FloatArray:
    """Return the replicas that serve a need `[...]`; NaN stays NaN, a float's last digits do not count.

    >>> ceil_replicas(np.array([189 / 20, 0.3 / 0.1, 1.1 / 0.1, 0.0]))
    array([10.,  3., 11.,  0.])
    """
    rounded: NDArray[np.float64] = np.ceil(need * (1 - ROUNDING_RATIO))
    return rounded


def is_within(
    ratio: FloatArray, *, tolerance_up_ratio: FloatArray, tolerance_down_ratio: FloatArray
) -> NDArray[np.bool_]:
    """Return where usage / target is near enough to 1 to leave things alone."""
    inside: NDArray[np.bool_] = (ratio >= 1 - tolerance_down_ratio - ROUNDING_RATIO) & (
        ratio <= 1 + tolerance_up_ratio + ROUNDING_RATIO
    )
    return inside


def total_need(
    total: FloatArray,
    *,
    current: FloatArray,
    target: FloatArray,
    tolerance_up_ratio: FloatArray,
    tolerance_down_ratio: FloatArray,
) -> FloatArray:
    """Return the need for a total (AverageValue of an External or Object metric), not rounded.

    Within the tolerance that is the current count.
    """
    need = total / target
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = need / current
    hold = is_within(
        ratio, tolerance_up_ratio=tolerance_up_ratio, tolerance_down_ratio=tolerance_down_ratio
    )
    return np.where(hold, current, need)


def pods_replicas(
    pods: PodUsage,
    *,
    current: FloatArray,
    target: FloatArray,
    tolerance_up_ratio: FloatArray,
    tolerance_down_ratio: FloatArray,
) -> FloatArray:
    """Return the count for a metric of the pods themselves; NaN where no ready pod has a sample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = pods.usage / (pods.ready * target)
        up, down = ratio > 1, ratio < 1
        counted_missing = np.where(up | down, pods.missing, 0.0)
        filled = pods.usage + np.where(down, pods.missing * np.maximum(target, 1.0), 0.0)
        counted = pods.ready + counted_missing + np.where(up, pods.unready, 0.0)
        adjusted = filled / (counted * target)
    replicas = ceil_replicas(adjusted * counted)
    is_plain = counted == pods.ready
    turned = (up & (adjusted < 1)) | (down & (adjusted > 1))
    backwards = ((adjusted < 1) & (replicas > current)) | ((adjusted > 1) & (replicas < current))
    hold = is_within(
        adjusted, tolerance_up_ratio=tolerance_up_ratio, tolerance_down_ratio=tolerance_down_ratio
    )
    hold |= ~is_plain & (turned | backwards)
    out = np.where(hold, current, replicas)
    return np.where((pods.ready > 0) & ~np.isnan(pods.usage), out, np.nan)
