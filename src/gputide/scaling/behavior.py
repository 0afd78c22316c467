"""Stabilization windows and rate limits of the HPA's `behavior`, over arrays."""

import numpy as np

from gputide.scaling.hpa import ROUNDING_RATIO, ceil_replicas
from gputide.scaling.memory import Columns, Memory
from gputide.scaling.policy import BoolArray, Directions, FloatArray, Policies


def remember(
    memory: Memory, policies: Policies, *, now_seconds: float, replicas: FloatArray
) -> None:
    """Add the newest recommendation `[N]` to the running extremes."""
    for columns, direction, widest in (
        (memory.highest, policies.down, np.maximum),
        (memory.lowest, policies.up, np.minimum),
    ):
        longest = direction.stabilization_seconds.max(initial=0.0)
        columns.drop_until(now_seconds - longest)
        if longest > 0:
            widest(columns.values, replicas, out=columns.values)
            columns.append(now_seconds, replicas)


def stabilize(
    memory: Memory,
    policies: Policies,
    *,
    now_seconds: float,
    current: FloatArray,
    wanted: FloatArray,
) -> FloatArray:
    """Return `wanted` held between the extremes of each row's windows (`wanted` is remembered)."""
    high = _extreme(memory.highest, policies.down, now_seconds=now_seconds, newest=wanted)
    low = _extreme(memory.lowest, policies.up, now_seconds=now_seconds, newest=wanted)
    return np.minimum(np.maximum(current, low), high)


def _extreme(
    columns: Columns, direction: Directions, *, now_seconds: float, newest: FloatArray
) -> FloatArray:
    values = columns.values
    if not len(values):
        return newest
    first = np.searchsorted(columns.times, now_seconds - direction.stabilization_seconds, "right")
    found: FloatArray = values[np.minimum(first, len(values) - 1), np.arange(values.shape[1])]
    return np.where(first < len(values), found, newest)


def limit_rate(
    memory: Memory,
    policies: Policies,
    *,
    now_seconds: float,
    current: FloatArray,
    wanted: FloatArray,
) -> FloatArray:
    """Return `wanted` as far as the limits of its direction let it go from `current`."""
    top = _edge(policies.up, memory, now_seconds=now_seconds, current=current, is_up=True)
    floor = _edge(policies.down, memory, now_seconds=now_seconds, current=current, is_up=False)
    return np.minimum(np.maximum(wanted, floor), top)


def _edge(
    direction: Directions, memory: Memory, *, now_seconds: float, current: FloatArray, is_up: bool
) -> FloatArray:
    """Return how far a direction may go: at least (up) or at most (down) the current count."""
    unlimited = np.inf if is_up else 0.0
    if not direction.period_seconds.shape[0]:
        return np.where(direction.is_disabled, current, unlimited)
    started = current - _changed_within(memory, direction.period_seconds, now_seconds=now_seconds)
    if is_up:
        edges = ceil_replicas(started * (1 + direction.added_ratio)) + direction.added_pods
        loosest, strictest = np.fmax.reduce(edges), np.fmin.reduce(edges)
    else:
        kept = started * (1 - direction.added_ratio) + ROUNDING_RATIO * started
        edges = np.floor(kept) - direction.added_pods
        loosest, strictest = np.fmin.reduce(edges), np.fmax.reduce(edges)
    edge = np.where(direction.is_strictest, strictest, loosest)
    edge = np.where(direction.is_limited, edge, unlimited)
    edge = np.where(direction.is_disabled, current, edge)
    return np.maximum(edge, current) if is_up else np.minimum(edge, current)


def _changed_within(memory: Memory, periods: FloatArray, *, now_seconds: float) -> FloatArray:
    """Return the net change `[P, N]` by our own decisions within the last `periods[P, N]`."""
    columns = memory.changes
    values = columns.values
    if not len(values):
        return np.zeros_like(periods)
    first = np.searchsorted(columns.times, now_seconds - periods, "right")
    padded = np.vstack([values, memory.changed])
    # Column c holds the sum BEFORE its own change, so that the first one inside gives the start.
    return memory.changed - padded[first, np.arange(values.shape[1])]


def record_change(
    memory: Memory, policies: Policies, *, now_seconds: float, change: FloatArray
) -> None:
    """Remember what was added and removed `[N]`; events past the longest period are dropped."""
    longest = max(
        (float(np.nanmax(d.period_seconds, initial=0.0)) for d in (policies.up, policies.down))
    )
    memory.changes.drop_until(now_seconds - longest)
    if change.any():
        memory.changes.append(now_seconds, memory.changed)
        memory.changed = memory.changed + change


def withheld(before: FloatArray, after: FloatArray) -> BoolArray:
    """Return where a stage changed the count."""
    changed: BoolArray = before != after
    return changed
