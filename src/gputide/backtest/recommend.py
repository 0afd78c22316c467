"""Switch to auto or not, with which settings, and why: sentences that name their figures."""

from dataclasses import dataclass

from gputide.backtest.model import Outcome, PolicyName, Recommendation

LEAST_SAVING_RATIO = 0.02
"""Below this the two cost the same: what changes nothing is not worth a change."""

MAX_OVERSHOOT = 4.0
"""Realised harm above this multiple of the budget is no basis for a switch."""

MAX_CENSORED_RATIO = 0.01
OPPONENTS = (PolicyName.HPA_STABILIZED, PolicyName.HPA_TUNED, PolicyName.HPA)
OURS = (PolicyName.GPUTIDE_TUNED, PolicyName.GPUTIDE, PolicyName.GPUTIDE_ONE_TARGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a backtest found, as far as the recommendation rests on it."""

    outcomes: tuple[Outcome, ...]
    budget_ratio: float
    quantile: float
    coverage_ratio: float | None
    seasonal_share: float | None
    """How much of the forecast rests on other days, 0 to 1; None: it was too early to tell."""

    censored_ratio: float
    """Share of the known minutes that are only a lower bound."""

    evaluated_days: float
    is_short: bool

    def first_of(self, names: tuple[PolicyName, ...]) -> Outcome | None:
        """Return the outcome of the first of these policies that took part."""
        found = {outcome.policy: outcome for outcome in self.outcomes}
        return next((found[name] for name in names if name in found), None)


def recommend(evidence: Evidence) -> Recommendation:
    """Return whether to switch a workload to auto, and the figures for and against it."""
    ours = evidence.first_of(OURS)
    if ours is None:
        return Recommendation(
            is_switch=False,
            headline="Nothing to recommend: no gputide policy took part",
            reasons=(),
        )
    rival = _rival(evidence, ours)
    obstacles = _obstacles(evidence, ours, rival)
    reasons = (*obstacles, *_figures(evidence, ours), *_forecast_quality(evidence))
    if obstacles:
        headline = f"Stay in observer mode: {obstacles[0]}"
        return Recommendation(is_switch=False, headline=headline, reasons=reasons)
    return Recommendation(
        is_switch=True,
        headline=f"Switch to auto: {_advantage(ours, rival)}",
        reasons=(*reasons, _with_knobs(ours)),
        knobs=dict(ours.knobs),
    )


def _rival(evidence: Evidence, ours: Outcome) -> Outcome | None:
    """Return the cheapest HPA that hurts no more than ours or keeps its budget, if any does.

    A tuned one may overshoot as far as ours may; one that was not tuned must keep the budget, as
    who may hurt more is always cheaper.
    """
    rivals = []
    for outcome in evidence.outcomes:
        limit = evidence.budget_ratio * (MAX_OVERSHOOT if outcome.is_walk_forward else 1)
        is_fair = outcome.saturated_ratio <= max(limit, ours.saturated_ratio)
        if outcome.policy in OPPONENTS and is_fair:
            rivals.append(outcome)
    return min(rivals, key=lambda outcome: outcome.replica_hours, default=None)


def _obstacles(evidence: Evidence, ours: Outcome, rival: Outcome | None) -> tuple[str, ...]:
    """Return what speaks against a switch, gravest first."""
    found = []
    if evidence.is_short:
        found.append(f"only {evidence.evaluated_days:.1f} days could be evaluated")
    if evidence.censored_ratio > MAX_CENSORED_RATIO:
        found.append(
            f"in {_percent(evidence.censored_ratio)} of the minutes the metric was saturated, so "
            "that the load is known only from below: record a demand metric (requests in flight)"
        )
    if ours.saturated_ratio > evidence.budget_ratio * MAX_OVERSHOOT:
        found.append(
            f"{_percent(ours.saturated_ratio)} of the minutes were saturated, budget "
            f"{_percent(evidence.budget_ratio)}"
        )
    if "quantile" not in ours.knobs:
        found.append("the replay prefers the plain HPA by now, " + _words(ours.knobs))
    elif rival is not None and _saving(ours, rival) < LEAST_SAVING_RATIO:
        found.append(_tie(ours, rival))
    return tuple(found)


def _tie(ours: Outcome, rival: Outcome) -> str:
    saving = _saving(ours, rival)
    if saving > -LEAST_SAVING_RATIO:
        return (
            f"no saving against {_name(rival)} ({_signed(saving)}): a tie goes to what runs already"
        )
    return f"{_name(rival)} costs {_percent(-saving)} less"


def _advantage(ours: Outcome, rival: Outcome | None) -> str:
    if rival is None:
        return "no HPA came near the harm budget at any target"
    return (
        f"{_percent(_saving(ours, rival))} fewer replica-hours than {_name(rival)}, at "
        f"{_percent(ours.saturated_ratio)} saturated minutes against "
        f"{_percent(rival.saturated_ratio)}"
    )


def _figures(evidence: Evidence, ours: Outcome) -> tuple[str, ...]:
    """Return a sentence on each opponent: saving and both harms beside it."""
    return tuple(
        f"Against {_name(rival)}: {_compared(_saving(ours, rival))} replica-hours; saturated "
        f"minutes {_percent(ours.saturated_ratio)} against {_percent(rival.saturated_ratio)}, late "
        f"demand {_percent(ours.late_ratio)} against {_percent(rival.late_ratio)}."
        for rival in evidence.outcomes
        if rival.policy in OPPONENTS
    )


def _forecast_quality(evidence: Evidence) -> tuple[str, ...]:
    found = []
    if evidence.coverage_ratio is not None:
        found.append(
            f"The forecast of the {_percent(evidence.quantile)} quantile covered "
            f"{_percent(evidence.coverage_ratio)} of the minutes."
        )
    share = evidence.seasonal_share
    if share is not None and share <= 0.5:
        found.append(
            f"The load is not periodic: {_percent(share)} of the forecast rests on other days, "
            "the rest on the last minutes."
        )
    elif share is not None:
        found.append(
            f"{_percent(share)} of the forecast rests on other days: the load is periodic."
        )
    return tuple(found)


def _with_knobs(ours: Outcome) -> str:
    chosen = "chosen by the replay of the last days" if ours.is_walk_forward else "as set"
    return f"Settings, {chosen}: {_words(ours.knobs)}."


def _words(knobs: dict[str, float]) -> str:
    words = {
        "quantile": "quantile {:.3g}",
        "target_ratio": "target {:.3g}",
        "proactive_target_ratio": "target of the forecast {:.3g}",
        "net_target_ratio": "target of the reactive net {:.3g}",
        "stabilization_seconds": "stabilization {:.0f} s",
    }
    return ", ".join(words.get(name, name + " {:g}").format(knobs[name]) for name in knobs)


def _name(outcome: Outcome) -> str:
    names = {
        PolicyName.HPA: "the HPA as set",
        PolicyName.HPA_TUNED: "an HPA tuned by the same replay",
        PolicyName.HPA_STABILIZED: "an HPA tuned over target and stabilization",
    }
    return names.get(outcome.policy, outcome.policy.value)


def _saving(ours: Outcome, rival: Outcome) -> float:
    return 1 - ours.replica_hours / max(rival.replica_hours, 1e-9)


def _compared(saving_ratio: float) -> str:
    return f"{abs(saving_ratio) * 100:.1f} % {'fewer' if saving_ratio >= 0 else 'more'}"


def _signed(ratio: float) -> str:
    return f"{ratio * 100:+.1f} %"


def _percent(ratio: float) -> str:
    return f"{ratio * 100:.3g} %"
