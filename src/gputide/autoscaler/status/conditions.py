"""Conditions: what a person should know, with a reason; the time changes with the status alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gputide.autoscaler.model import DemandState, Outcome, Subject
from gputide.forecast.verdict import explain
from gputide.scaling import Reason, Strategy

MAX_MESSAGE = 1000
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"

HOLDING = frozenset(
    {Reason.HELD_UNKNOWN, Reason.HELD_GRACE, Reason.STABILIZED_DOWN, Reason.STABILIZED_UP}
)
LIMITING = frozenset({Reason.AT_MAXIMUM, Reason.AT_MINIMUM, Reason.LIMITED_UP, Reason.LIMITED_DOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition, without its time."""

    type: str
    status: str
    reason: str
    message: str = ""


def conditions_of(subject: Subject, outcome: Outcome) -> tuple[Condition, ...]:
    """Return the conditions of one outcome."""
    return (
        Condition(type="SpecValid", status=TRUE, reason="SpecValid"),
        _able(subject),
        _active(subject, outcome),
        _limited(outcome),
        _demand(outcome),
        _forecast(outcome),
        *_bounds(outcome),
    )


def invalid(message: str) -> tuple[Condition, ...]:
    """Return the conditions of a resource that cannot be read."""
    text = message[:MAX_MESSAGE]
    return (
        Condition(type="SpecValid", status=FALSE, reason="SpecInvalid", message=text),
        Condition(type="ScalingActive", status=FALSE, reason="SpecInvalid", message=text),
    )


def _able(subject: Subject) -> Condition:
    if subject.obstacle is None:
        return Condition(type="AbleToScale", status=TRUE, reason="ReadyForNewScale")
    text = subject.obstacle_text
    return Condition(type="AbleToScale", status=FALSE, reason=subject.obstacle.value, message=text)


def _active(subject: Subject, outcome: Outcome) -> Condition:
    strategy = subject.autoscaler.policy.strategy
    if strategy is Strategy.OBSERVER:
        text = "the strategy is observer: replicas are computed and never written"
        return Condition(type="ScalingActive", status=FALSE, reason="ObservedOnly", message=text)
    for step in outcome.steps:
        if step.reason is Reason.PAUSED:
            return Condition(
                type="ScalingActive", status=FALSE, reason=step.reason.value, message=step.text
            )
    if outcome.demands[0].value is None and outcome.forecast_demand is None:
        text = outcome.demands[0].text
        reason = outcome.demands[0].state.value
        return Condition(type="ScalingActive", status=FALSE, reason=reason, message=text)
    return Condition(type="ScalingActive", status=TRUE, reason="ValidMetricFound")


def _limited(outcome: Outcome) -> Condition:
    for step in reversed(outcome.steps):
        if step.reason in LIMITING or step.reason in HOLDING:
            status = TRUE if step.reason in LIMITING else FALSE
            return Condition(
                type="ScalingLimited", status=status, reason=step.reason.value, message=step.text
            )
    return Condition(type="ScalingLimited", status=FALSE, reason="DesiredWithinRange")


def _demand(outcome: Outcome) -> Condition:
    worst = next(
        (one for one in outcome.demands if one.state is not DemandState.FRESH), outcome.demands[0]
    )
    is_known = worst.state is DemandState.FRESH
    status = TRUE if is_known else (FALSE if worst.value is None else UNKNOWN)
    return Condition(
        type="DemandKnown",
        status=status,
        reason=worst.state.value,
        message=worst.text[:MAX_MESSAGE],
    )


def _forecast(outcome: Outcome) -> Condition:
    if outcome.forecast_demand is None:
        reason = "NoForecast"
        return Condition(
            type="ForecastReady",
            status=FALSE,
            reason=reason,
            message=(outcome.history_text or "nothing is known to forecast from")[:MAX_MESSAGE],
        )
    verdict = outcome.verdict
    if verdict is None:
        return Condition(type="ForecastReady", status=TRUE, reason="InUse")
    text = "; ".join(explain(verdict))
    reason = verdict.reasons[0].value if verdict.reasons else "InUse"
    return Condition(type="ForecastReady", status=TRUE, reason=reason, message=text[:MAX_MESSAGE])


def _bounds(outcome: Outcome) -> Iterator[Condition]:
    told = outcome.bounds_conditions
    if not told:
        yield Condition(type="BoundsInForce", status=TRUE, reason="BoundsInForce")
        return
    text = "; ".join(f"{one.path} {one.text}" for one in told)[:MAX_MESSAGE]
    yield Condition(type="BoundsInForce", status=FALSE, reason=told[0].problem.value, message=text)


def to_objects(
    conditions: Sequence[Condition],
    before: Sequence[Mapping[str, Any]],
    *,
    now_text: str,
    generation: int,
) -> list[dict[str, Any]]:
    """Return conditions as the resource has them; a status that stays keeps its time."""
    known = {str(one.get("type")): one for one in before}
    made = []
    for one in conditions:
        old = known.get(one.type)
        since = "" if old is None else str(old.get("lastTransitionTime") or "")
        is_same = old is not None and old.get("status") == one.status
        made.append(
            {
                "type": one.type,
                "status": one.status,
                "reason": one.reason,
                "message": one.message,
                "lastTransitionTime": since if is_same and since else now_text,
                "observedGeneration": generation,
            }
        )
    return made
