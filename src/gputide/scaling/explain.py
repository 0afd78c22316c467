"""Reason chains: what decided each row, and one row's stages in words."""

from collections.abc import Iterator
from math import isnan

import numpy as np

from gputide.scaling.model import REASONS, Decisions, Reason, Step
from gputide.scaling.policies import BoolArray, IntArray
from gputide.scaling.rounding import ROUNDING_RATIO, ceil_replicas


def deciding(decisions: Decisions) -> IntArray:
    """Return `[N]` the last reason that changed a row's count, as an index into `REASONS`."""
    d = decisions
    is_forecast = d.proactive_need >= np.where(np.isnan(d.reactive_need), -np.inf, d.reactive_need)
    is_forecast &= d.policies.uses_proactive
    is_forecast |= ~d.policies.uses_reactive
    cases: list[tuple[BoolArray, Reason]] = [
        (d.is_paused, Reason.PAUSED),
        (d.desired < d.limited, Reason.AT_MAXIMUM),
        (d.desired > d.limited, Reason.AT_MINIMUM),
        (d.limited < d.settled, Reason.LIMITED_UP),
        (d.limited > d.settled, Reason.LIMITED_DOWN),
        (d.settled != d.stabilized, Reason.DEAD_BAND),
        (d.stabilized > d.wanted, Reason.STABILIZED_DOWN),
        (d.stabilized < d.wanted, Reason.STABILIZED_UP),
        (np.isnan(d.recommended), Reason.HELD_UNKNOWN),
        ((d.wanted != d.recommended) & ~d.is_known, Reason.HELD_UNKNOWN),
        ((d.wanted != d.recommended) & ~d.may_scale_in, Reason.HELD_GRACE),
        (d.wanted != d.recommended, Reason.HELD_FORECAST_ALONE),
        (is_forecast, Reason.FORECAST),
    ]
    codes = [np.intp(REASONS.index(reason)) for _, reason in cases]
    found: IntArray = np.select(
        [mask for mask, _ in cases], codes, default=np.intp(REASONS.index(Reason.DEMAND))
    )
    return found


def explain(decisions: Decisions, row: int) -> tuple[Step, ...]:
    """Return the reason chain of one row, from demand and forecast to what is run."""
    return (
        _by_demand(decisions, row),
        _by_forecast(decisions, row),
        *_held(decisions, row),
        *_moved(decisions, row),
        *_bounded(decisions, row),
    )


def _by_demand(d: Decisions, row: int) -> Step:
    need = float(d.reactive_need[row])
    source = _source(d, row)
    if isnan(need):
        why = (
            source
            if d.situation.is_fresh[row]
            else "the newest sample is too old, or there is none"
        )
        return Step(reason=Reason.DEMAND_UNKNOWN, replicas=need, text=why)
    replicas = _whole(need)
    if d.situation.other_needs is not None and d.situation.other_needs[row] == need > 0:
        source = "a further metric asks for the most"
    elif replicas == d.situation.current[row] and _unadjusted(d, row) != replicas:
        text = f"{source}: near enough to the target, or the direction is open"
        return Step(reason=Reason.WITHIN_TOLERANCE, replicas=replicas, text=text)
    if not d.is_known[row]:
        text = f"{source}, but not of every pod, site or metric: a lower bound"
        return Step(reason=Reason.DEMAND_PARTIAL, replicas=replicas, text=text)
    return Step(reason=Reason.DEMAND, replicas=replicas, text=source)


def _source(d: Decisions, row: int) -> str:
    """Return what the demand was read from, in words."""
    s, target = d.situation, d.policies.reactive.target[row]
    if s.demand is not None and not isnan(s.demand[row]):
        return f"demand {s.demand[row]:.4g} / target {target:.4g}"
    if s.pods is None:
        return "the demand metric has no value"
    pods = s.pods
    if pods.ready[row] == 0:
        return "no ready pod has a sample"
    return (
        f"usage {pods.usage[row]:.4g} of {pods.ready[row]:.0f} ready pods / target {target:.4g}"
        f" ({pods.unready[row]:.0f} not ready, {pods.missing[row]:.0f} without a sample)"
    )


def _unadjusted(d: Decisions, row: int) -> float:
    """Return the count by demand / target alone, before tolerance and guesses."""
    s, target = d.situation, d.policies.reactive.target[row]
    if s.demand is not None and not isnan(s.demand[row]):
        return _whole(s.demand[row] / target)
    return _whole(s.pods.usage[row] / target) if s.pods is not None else float("nan")


def _by_forecast(d: Decisions, row: int) -> Step:
    s, target = d.situation, d.policies.proactive_target[row]
    upper, used = float(s.forecast_upper[row]), float(d.proactive_need[row] * target)
    if isnan(used):
        text = "there is none" if isnan(upper) else f"{upper:g} is no forecast"
        return Step(reason=Reason.NO_FORECAST, replicas=used, text=text)
    replicas = _whole(used / target)
    if used < upper * (1 - ROUNDING_RATIO):
        text = f"forecast {upper:.4g}, believed up to {used:.4g} / target {target:.4g}"
        return Step(reason=Reason.FORECAST_CAPPED, replicas=replicas, text=text)
    text = f"forecast {upper:.4g} / target {target:.4g}"
    return Step(reason=Reason.FORECAST, replicas=replicas, text=text)


def _held(d: Decisions, row: int) -> Iterator[Step]:
    """Yield why a scale-in was not even wanted."""
    recommended, wanted = float(d.recommended[row]), float(d.wanted[row])
    if recommended == wanted:
        return
    if not d.is_known[row] or isnan(recommended):
        reason, text = Reason.HELD_UNKNOWN, "no scale-in while demand or forecast is not known"
    elif not d.may_scale_in[row]:
        grace = d.policies.recovery_grace_seconds[row]
        reason = Reason.HELD_GRACE
        text = f"no scale-in within {grace:.0f} s after demand was unknown"
    else:
        reason, text = Reason.HELD_FORECAST_ALONE, "no scale-in below what demand asks for"
    yield Step(reason=reason, replicas=wanted, text=text)


def _moved(d: Decisions, row: int) -> Iterator[Step]:
    """Yield what behavior and dead band changed."""
    policy = d.policies.rows[row]
    before = float(d.wanted[row])
    after = float(d.stabilized[row])
    if after > before:
        text = f"largest recommendation of the last {policy.down.stabilization_seconds:.0f} s"
        yield Step(reason=Reason.STABILIZED_DOWN, replicas=after, text=text)
    elif after < before:
        text = f"least recommendation of the last {policy.up.stabilization_seconds:.0f} s"
        yield Step(reason=Reason.STABILIZED_UP, replicas=after, text=text)
    settled = float(d.settled[row])
    if settled != after:
        text = f"scale-in only below {1 - policy.dead_band_ratio:.0%} of the current replicas"
        yield Step(reason=Reason.DEAD_BAND, replicas=settled, text=text)
    limited = float(d.limited[row])
    if limited != settled:
        reason = Reason.LIMITED_UP if limited < settled else Reason.LIMITED_DOWN
        yield Step(reason=reason, replicas=limited, text="the most that the behavior allows now")


def _bounded(d: Decisions, row: int) -> Iterator[Step]:
    """Yield what bounds, pause and strategy changed."""
    limited, desired = float(d.limited[row]), float(d.desired[row])
    low, high = d.situation.min_replicas[row], d.situation.max_replicas[row]
    if d.is_paused[row]:
        text = f"0 replicas though at least {low:.0f} are asked for: switched off by hand"
        yield Step(reason=Reason.PAUSED, replicas=0.0, text=text)
    elif desired < limited:
        yield Step(
            reason=Reason.AT_MAXIMUM, replicas=desired, text=f"at most {high:.0f} are allowed"
        )
    elif desired > limited:
        yield Step(
            reason=Reason.AT_MINIMUM, replicas=desired, text=f"at least {low:.0f} are asked for"
        )
    if not d.policies.is_writer[row]:
        yield Step(reason=Reason.OBSERVED, replicas=desired, text="an observer writes nothing")


def _whole(need: float) -> float:
    return float(ceil_replicas(np.asarray(need)))
