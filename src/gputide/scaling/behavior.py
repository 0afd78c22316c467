"""Stabilization windows and rate limits of the HPA's `behavior`, over arrays."""

import numpy as np

from gputide.scaling.memory import Memory
from gputide.scaling.policies import Directions, FloatArray, Policies
from gputide.scaling.rounding import ceil_replicas, floor_replicas


def stabilize(
    memory: Memory,
    policies: Policies,
    *,
    now_seconds: float,
    current: FloatArray,
    wanted: FloatArray,
) -> FloatArray:
    """Remember the recommendation `wanted[N]`; return how far it may move `current`.

    Up to the least recommendation of the window up, down to the largest of the window down; a
    recommendation as old as the window counts no more. A new row starts from its current replicas.
    """
    low = high = wanted
    for direction, extreme in ((policies.up, memory.lowest), (policies.down, memory.highest)):
        if direction.longest_window_seconds == 0:
            continue
        extreme.drop_until(now_seconds - direction.longest_window_seconds)
        if memory.has_new:
            neutral = np.inf if direction is policies.up else -np.inf
            extreme.append(now_seconds, np.where(memory.is_new, current, neutral))
        extreme.append(now_seconds, wanted)
        held = extreme.since(now_seconds - direction.windows_seconds, direction.window_of)
        if direction is policies.up:
            low = held
        else:
            high = held
    if memory.has_new:
        memory.is_new[:] = False
        memory.has_new = False
    return np.minimum(np.maximum(current, low), high)


def limit_rate(
    memory: Memory,
    policies: Policies,
    *,
    now_seconds: float,
    current: FloatArray,
    wanted: FloatArray,
) -> FloatArray:
    """Return `wanted[N]` as far as the limits of each direction let it go from `current`."""
    longest = max(policies.up.longest_period_seconds, policies.down.longest_period_seconds)
    memory.changes.drop_until(now_seconds - longest)
    limited = wanted
    if policies.up.has_limits:
        started = _started(policies.up, memory, now_seconds=now_seconds, current=current)
        top = np.maximum(_top(policies.up, started), current)
        limited = np.minimum(limited, np.where(policies.up.is_disabled, current, top))
    if policies.down.has_limits:
        started = _started(policies.down, memory, now_seconds=now_seconds, current=current)
        floor = np.minimum(_floor(policies.down, started), current)
        limited = np.maximum(limited, np.where(policies.down.is_disabled, current, floor))
    return limited


def _started(
    direction: Directions, memory: Memory, *, now_seconds: float, current: FloatArray
) -> FloatArray:
    """Return the replicas at the start of each limit's period, `[P, N]` (or `[N]`: as now)."""
    if not len(memory.changes.times):
        return current
    cutoffs = now_seconds - direction.periods_seconds
    return current - memory.changes.since(cutoffs, direction.period_of)


def _top(direction: Directions, started: FloatArray) -> FloatArray:
    """Return the most replicas `[N]` that the limits allow; infinite without any."""
    tops = ceil_replicas(started * direction.factor) + direction.pods
    top = _fold(tops, np.fmax)
    if direction.has_strictest:
        top = np.where(direction.is_strictest, _fold(tops, np.fmin), top)
    return np.where(direction.is_limited, top, np.inf)


def _floor(direction: Directions, started: FloatArray) -> FloatArray:
    """Return the fewest replicas `[N]` that the limits allow; 0 without any."""
    floors = floor_replicas(started * direction.factor) - direction.pods
    floor = _fold(floors, np.fmin)
    if direction.has_strictest:
        floor = np.where(direction.is_strictest, _fold(floors, np.fmax), floor)
    return np.where(direction.is_limited, floor, 0.0)


def _fold(values: FloatArray, pick: np.ufunc) -> FloatArray:
    """Return `[N]` of `[P, N]`; slots that a row does not use are NaN."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    folded: FloatArray = values[0]
    for slot in values[1:]:  # mostly two; reducing axis 0 takes longer
        folded = pick(folded, slot)
    return folded
