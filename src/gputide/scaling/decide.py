"""One decision for controller, backtest and standalone: how many replicas, and why."""

import numpy as np

from gputide.scaling import behavior, hpa
from gputide.scaling.memory import Memory
from gputide.scaling.model import Decisions, Situation
from gputide.scaling.policy import BoolArray, FloatArray, Policies


def decide(policies: Policies, situation: Situation, memory: Memory) -> Decisions:
    """Return what N rows should run; `memory` is brought up to `situation.now_seconds` in place.

    Order: proactive and reactive need, the larger of both as the strategy asks, what may not scale
    in (unknown demand, grace, forecast alone, dead band), stabilization, rate limits, bounds.
    """
    now, current = situation.now_seconds, situation.current
    proactive = proactive_need(policies, situation)
    reactive = reactive_need(policies, situation)
    need = np.fmax(
        np.where(policies.uses_proactive, proactive, np.nan),
        np.where(policies.uses_reactive, reactive, np.nan),
    )
    recommended = hpa.ceil_replicas(need)
    wanted = _hold_scale_in(policies, situation, memory, need=need, reactive=reactive)
    if memory.is_new.any():
        _begin(policies, situation, memory)
    behavior.remember(memory, policies, now_seconds=now, replicas=wanted)
    stabilized = behavior.stabilize(
        memory, policies, now_seconds=now, current=current, wanted=wanted
    )
    limited = behavior.limit_rate(
        memory, policies, now_seconds=now, current=current, wanted=stabilized
    )
    desired = np.minimum(np.maximum(limited, situation.min_replicas), situation.max_replicas)
    desired = np.where((current == 0) & (situation.min_replicas > 0), 0.0, desired)
    is_write = (desired != current) & ~policies.is_observer
    change = np.where(is_write, desired - current, 0.0)
    behavior.record_change(memory, policies, now_seconds=now, change=change)
    return Decisions(
        policies=policies,
        situation=situation,
        proactive_need=proactive,
        reactive_need=reactive,
        recommended=recommended,
        wanted=wanted,
        stabilized=stabilized,
        limited=limited,
        desired=desired,
        is_write=is_write,
    )


def proactive_need(policies: Policies, situation: Situation) -> FloatArray:
    """Return forecast / target `[N]`, the forecast capped; NaN where there is none."""
    upper = situation.forecast_upper
    if situation.recent_peak is not None:
        upper = np.where(
            np.isnan(upper),
            upper,
            np.fmin(upper, policies.forecast_cap_ratio * situation.recent_peak),
        )
    return upper / policies.proactive_target


def reactive_need(policies: Policies, situation: Situation) -> FloatArray:
    """Return the HPA rule's need `[N]`, from the demand metric or from the pods; NaN where unknown."""
    need = np.full(policies.size, np.nan)
    if situation.pods is not None:
        need = hpa.pods_replicas(
            situation.pods,
            current=situation.current,
            target=policies.reactive_target,
            tolerance_up_ratio=policies.tolerance_up_ratio,
            tolerance_down_ratio=policies.tolerance_down_ratio,
        )
    if situation.demand is not None:
        total = hpa.total_need(
            situation.demand,
            current=situation.current,
            target=policies.reactive_target,
            tolerance_up_ratio=policies.tolerance_up_ratio,
            tolerance_down_ratio=policies.tolerance_down_ratio,
        )
        need = np.where(np.isnan(situation.demand), need, total)
    return np.where(situation.is_fresh, need, np.nan)


def _begin(policies: Policies, situation: Situation, memory: Memory) -> None:
    first = np.where(memory.is_new, situation.current, -np.inf)
    if not len(memory.highest.times):
        memory.highest.append(situation.now_seconds, first)
        memory.lowest.append(situation.now_seconds, np.where(memory.is_new, first, np.inf))
    else:
        np.maximum(memory.highest.values, first, out=memory.highest.values)
        low = np.where(memory.is_new, situation.current, np.inf)
        np.minimum(memory.lowest.values, low, out=memory.lowest.values)
    memory.is_new[:] = False


def _hold_scale_in(
    policies: Policies,
    situation: Situation,
    memory: Memory,
    *,
    need: FloatArray,
    reactive: FloatArray,
) -> FloatArray:
    """Return the recommendation with every scale-in held back that is not certain enough."""
    current = situation.current
    is_known: BoolArray = situation.is_complete & ~np.isnan(reactive)
    memory.last_unknown_seconds[~is_known] = situation.now_seconds
    elapsed = situation.now_seconds - memory.last_unknown_seconds
    may_scale_in = is_known & (elapsed >= policies.recovery_grace_seconds)
    wanted = hpa.ceil_replicas(need)
    agreed = np.where(policies.is_forecast_scale_in, 0.0, hpa.ceil_replicas(reactive))
    wanted = np.fmax(wanted, np.fmin(current, agreed))
    may_scale_in &= need < (1 - policies.dead_band_ratio) * current
    return np.where(may_scale_in, wanted, np.fmax(wanted, current))
