"""The decision for one row, written out the slow way: lists, loops, one number at a time.

Independent of the arrays it checks: recommendations and events are kept whole and looked through.
"""

from dataclasses import dataclass, field
from math import ceil, inf, isnan, nan

from gputide.scaling import Direction, Limit, LimitKind, Policy, Select, Strategy

SLACK = 1e-9


@dataclass
class Row:
    """Everything that is known of one workload at one moment."""

    now: float
    current: float
    low: float
    high: float
    is_fresh: bool = True
    is_complete: bool = True
    forecast: float = nan
    peak: float = nan
    demand: float = nan
    usage: float = nan
    ready: float = 0
    unready: float = 0
    missing: float = 0
    other: float = 0


@dataclass
class Past:
    """Everything that a row went through."""

    recommendations: list[tuple[float, float]] = field(default_factory=list)
    events: list[tuple[float, float]] = field(default_factory=list)
    unknown_at: float = -inf


def whole(need: float) -> float:
    return need if isnan(need) or need == inf else float(ceil(need * (1 - SLACK)))


def is_within(ratio: float, policy: Policy) -> bool:
    low, high = 1 - policy.tolerance_down_ratio, 1 + policy.tolerance_up_ratio
    return low - SLACK <= ratio <= high + SLACK


def pods_need(policy: Policy, row: Row) -> float:
    """Replica count by the pods' own metric, case by case as Kubernetes documents it."""
    if row.ready == 0 or isnan(row.usage):
        return nan
    target = policy.reactive_target
    was = row.usage - row.ready * target
    has_unready = row.unready > 0 and was > 0
    if not has_unready and row.missing == 0:
        is_near = is_within(row.usage / (row.ready * target), policy)
        return row.current if is_near else whole(row.usage / target)
    usage, count = row.usage, row.ready
    if was != 0:
        count += row.missing
    if was < 0:
        usage += row.missing * (max(1.0, target) if policy.is_utilization else target)
    if has_unready:
        count += row.unready
    return second_look(policy, row, was=was, usage=usage, count=count)


def second_look(policy: Policy, row: Row, *, was: float, usage: float, count: float) -> float:
    """The count with the guesses for pods that have no sample, unless they turn the direction."""
    target = policy.reactive_target
    now, replicas = usage - count * target, whole(usage / target)
    is_near = is_within(usage / (count * target), policy)
    has_turned = (was < 0 < now) or (was > 0 > now)
    is_backwards = (now < 0 and replicas > row.current) or (now > 0 and replicas < row.current)
    return row.current if is_near or has_turned or is_backwards else replicas


def demand_need(policy: Policy, row: Row) -> float:
    need = row.demand / policy.reactive_target
    if row.current and is_within(need / row.current, policy):
        return row.current
    return need


def limit_of(direction: Direction, past: Past, row: Row, *, sign: int) -> float:
    """How far the behavior lets the row go."""
    if direction.select is Select.DISABLED:
        return row.current
    if not direction.limits:
        return sign * inf
    edges = [edge_of(limit, past, row, sign=sign) for limit in direction.limits]
    is_far = (direction.select is Select.MAX) == (sign > 0)
    edge = max(edges) if is_far else min(edges)
    return max(edge, row.current) if sign > 0 else min(edge, row.current)


def edge_of(limit: Limit, past: Past, row: Row, *, sign: int) -> float:
    changed = sum(change for at, change in past.events if at > row.now - limit.period_seconds)
    started = row.current - changed
    if limit.kind is LimitKind.PODS:
        return started + sign * limit.value
    edge = started * (1 + sign * limit.value / 100)
    slack = SLACK * abs(edge)
    return float(ceil(edge - slack)) if sign > 0 else float(edge + slack) // 1


def needs_of(policy: Policy, row: Row) -> tuple[float, float, bool]:
    """Need by forecast, need by demand, and whether the demand is fully known."""
    forecast, cap = row.forecast, policy.forecast_cap_ratio * row.peak
    forecast = min(forecast, cap)
    own = pods_need(policy, row) if isnan(row.demand) else demand_need(policy, row)
    is_known = row.is_fresh and row.is_complete and not isnan(own) and not isnan(row.other)
    known = [own] if not isnan(own) else []
    if row.other > 0:
        known.append(row.other)
    return (
        forecast / policy.proactive_target,
        max(known) if known and row.is_fresh else nan,
        is_known,
    )


def want_of(policy: Policy, row: Row, past: Past) -> tuple[float, float, float]:
    """Need, recommendation, and what remains of it where scale-in is uncertain."""
    proactive, reactive, is_known = needs_of(policy, row)
    sources = {Strategy.PROACTIVE: [proactive], Strategy.REACTIVE: [reactive]}
    known = [x for x in sources.get(policy.strategy, [proactive, reactive]) if not isnan(x)]
    need = max(known, default=nan)
    if not is_known:
        past.unknown_at = row.now
    wanted = row.current if isnan(need) else whole(need)
    is_certain = is_known and row.now - past.unknown_at >= policy.recovery_grace_seconds
    if wanted < row.current and not is_certain:
        wanted = row.current
    if wanted < row.current and not policy.is_forecast_scale_in:
        wanted = max(wanted, min(row.current, whole(reactive)))
    return need, whole(need), wanted


def settle(policy: Policy, row: Row, past: Past, *, need: float, wanted: float) -> float:
    """The recommendation after windows and dead band."""
    if not past.recommendations:
        past.recommendations.append((row.now, row.current))
    past.recommendations.append((row.now, wanted))
    up, down = policy.up.stabilization_seconds, policy.down.stabilization_seconds
    lows = [count for at, count in past.recommendations if at > row.now - up]
    highs = [count for at, count in past.recommendations if at > row.now - down]
    settled = max(row.current, min([wanted, *lows]))
    settled = min(settled, max([wanted, *highs]))
    if settled < row.current and need >= (1 - policy.dead_band_ratio) * row.current:
        return row.current
    return settled


def decide_one(policy: Policy, row: Row, past: Past) -> dict[str, float]:
    """The whole decision; `past` is brought up to date."""
    need, recommended, wanted = want_of(policy, row, past)
    settled = settle(policy, row, past, need=need, wanted=wanted)
    limited = min(settled, limit_of(policy.up, past, row, sign=1))
    limited = max(limited, limit_of(policy.down, past, row, sign=-1))
    desired = min(max(limited, row.low), row.high)
    if row.current == 0 and row.low > 0:
        desired = 0.0
    if desired != row.current and policy.strategy is not Strategy.OBSERVER:
        past.events.append((row.now, desired - row.current))
    return {"recommended": recommended, "wanted": wanted, "limited": limited, "desired": desired}
