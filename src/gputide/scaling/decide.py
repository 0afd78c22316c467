"""One decision for controller, backtest and standalone: how many replicas to run, and why."""

import numpy as np

from gputide.scaling import behavior, hpa
from gputide.scaling.memory import Memory
from gputide.scaling.model import Decisions, Situation
from gputide.scaling.policies import BoolArray, FloatArray, Policies
from gputide.scaling.rounding import ceil_replicas


def decide(policies: Policies, situation: Situation, memory: Memory) -> Decisions:
    """Return what N rows should run; `memory` is brought up to the situation's moment in place.

    In order: the needs by forecast and by demand, the larger one as the strategy asks, no scale-in
    on uncertain demand, stabilization, dead band, rate limits, bounds. Rows do not see each other.
    """
    now, current = situation.now_seconds, situation.current
    proactive = proactive_need(policies, situation)
    reactive, is_known = reactive_need(policies, situation)
    need = _combine(policies, proactive, reactive)
    recommended = ceil_replicas(need)

    may_scale_in = _outlasts_grace(policies, memory, now_seconds=now, is_known=is_known)
    least = recommended
    if policies.has_forecast_guard:
        agreed = np.where(policies.is_forecast_scale_in, -np.inf, ceil_replicas(reactive))
        least = np.fmax(recommended, np.fmin(agreed, current))
    wanted = np.where(may_scale_in & ~np.isnan(recommended), least, np.fmax(recommended, current))

    stabilized = behavior.stabilize(
        memory, policies, now_seconds=now, current=current, wanted=wanted
    )
    settled = stabilized
    if policies.has_dead_band:
        is_in_band = need >= policies.scale_in_below_ratio * current
        settled = np.where(is_in_band, np.maximum(stabilized, current), stabilized)
    limited = behavior.limit_rate(
        memory, policies, now_seconds=now, current=current, wanted=settled
    )
    bounded = np.minimum(np.maximum(limited, situation.min_replicas), situation.max_replicas)
    is_paused = (current == 0) & (situation.min_replicas > 0)
    desired = np.where(is_paused, 0.0, bounded)
    is_write = (desired != current) & policies.is_writer
    if is_write.any():
        memory.changes.append(now, np.where(is_write, desired - current, 0.0))
    return Decisions(
        policies=policies,
        situation=situation,
        proactive_need=proactive,
        reactive_need=reactive,
        may_scale_in=may_scale_in,
        is_known=is_known,
        recommended=recommended,
        wanted=wanted,
        stabilized=stabilized,
        settled=settled,
        limited=limited,
        desired=desired,
        is_paused=is_paused,
        is_write=is_write,
    )


def proactive_need(policies: Policies, situation: Situation) -> FloatArray:
    """Return forecast / target `[N]`, the forecast capped by the recent peak; NaN without one."""
    upper = situation.forecast_upper
    if situation.recent_peak is not None:
        # a comparison, for fmin would take the cap where the forecast is unknown
        cap = policies.forecast_cap_ratio * situation.recent_peak
        upper = np.where(upper > cap, cap, upper)
    return np.where(_is_number(upper), upper / policies.proactive_target, np.nan)


def reactive_need(policies: Policies, situation: Situation) -> tuple[FloatArray, BoolArray]:
    """Return what the demand asks for `[N]` by the HPA rule, and where that is fully known.

    The need is NaN where unknown. Where one of several metrics is, the others may still scale out.
    """
    rule, current = policies.reactive, situation.current
    need = np.full(policies.size, np.nan)
    if situation.pods is not None:
        need = hpa.pods_need(situation.pods, rule, current=current)
    if situation.demand is not None:
        total = hpa.total_need(situation.demand, rule, current=current)
        need = total if situation.pods is None else np.where(np.isnan(total), need, total)
    is_number = _is_number(need)
    is_known = situation.is_fresh & situation.is_complete & is_number
    need = np.where(situation.is_fresh & is_number, need, np.nan)
    if situation.other_needs is not None:
        other = situation.other_needs
        is_other = _is_number(other)
        is_known &= is_other
        # beside an unknown, a further metric that asks for nothing tells nothing
        need = np.fmax(need, np.where(situation.is_fresh & is_other & (other > 0), other, np.nan))
    return need, is_known


def _is_number(values: FloatArray) -> BoolArray:
    """Return where something was measured: an infinite or negative demand is a broken query."""
    is_number: BoolArray = (values >= 0) & (values < np.inf)
    return is_number


def _combine(policies: Policies, proactive: FloatArray, reactive: FloatArray) -> FloatArray:
    """Return the larger need of those that each strategy goes by; NaN where none is known."""
    if policies.has_single_source:
        proactive = np.where(policies.uses_proactive, proactive, np.nan)
        reactive = np.where(policies.uses_reactive, reactive, np.nan)
    larger: FloatArray = np.fmax(proactive, reactive)
    return larger


def _outlasts_grace(
    policies: Policies, memory: Memory, *, now_seconds: float, is_known: BoolArray
) -> BoolArray:
    """Return where demand is known and has been for the grace period; note where it is not."""
    if not is_known.all():
        memory.unknown_at_seconds[~is_known] = now_seconds
        memory.last_unknown_seconds = now_seconds
    if now_seconds - memory.last_unknown_seconds >= policies.longest_grace_seconds:
        return is_known
    elapsed = now_seconds - memory.unknown_at_seconds
    return is_known & (elapsed >= policies.recovery_grace_seconds)
