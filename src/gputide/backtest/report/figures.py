"""The figures that table, page and JSON share: savings, and harm against its budget."""

from dataclasses import dataclass
from math import isfinite
from statistics import median

from gputide.backtest.model import Outcome, PolicyName, TraceReport
from gputide.charts.numbers import UNKNOWN, number, percent

OPPONENTS = (PolicyName.HPA_TUNED, PolicyName.HPA)
"""What savings are counted against: the HPA tuned by the same replay, else the plain one."""

CHAMPIONS = (PolicyName.GPUTIDE_TUNED, PolicyName.GPUTIDE, PolicyName.GPUTIDE_ONE_TARGET)
"""Which row speaks for gputide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One policy's outcome, judged."""

    outcome: Outcome
    saving_ratio: float | None
    """Replica-hours saved against the opponent; negative where dearer, None where unknown."""

    is_opponent: bool
    is_champion: bool
    is_saturated_over: bool
    """Whether the saturated minutes exceed the budget."""

    is_late_over: bool

    @property
    def is_fair_saving(self) -> bool:
        """Whether it saves with known harm within the budget: who serves less needs less."""
        harms = (self.outcome.saturated_ratio, self.outcome.late_ratio)
        is_over = self.is_saturated_over or self.is_late_over
        return (self.saving_ratio or 0) > 0 and all(map(isfinite, harms)) and not is_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One trace in a line."""

    name: str
    is_switch: bool
    days: float
    champion: Row | None
    saving_ratio: float | None
    """Against the HPA with its target tuned."""

    stabilized_saving_ratio: float | None
    """Against the HPA with target and stabilization tuned."""

    coverage_ratio: float | None


def first_of(report: TraceReport, policies: tuple[PolicyName, ...]) -> Outcome | None:
    """Return the outcome of the first of these policies that the report holds."""
    by_policy = {outcome.policy: outcome for outcome in report.outcomes}
    return next((by_policy[policy] for policy in policies if policy in by_policy), None)


def saving(outcome: Outcome | None, opponent: Outcome | None) -> float | None:
    """Return the share of the opponent's replica-hours that the outcome does without."""
    if outcome is None or opponent is None:
        return None
    costs = (outcome.replica_hours, opponent.replica_hours)
    if not all(map(isfinite, costs)) or opponent.replica_hours <= 0:
        return None
    return 1 - outcome.replica_hours / opponent.replica_hours


def rows(report: TraceReport) -> tuple[Row, ...]:
    """Return the headline rows in the report's order."""
    opponent, champion = first_of(report, OPPONENTS), first_of(report, CHAMPIONS)
    budget = report.harm_budget_ratio
    return tuple(
        Row(
            outcome=outcome,
            saving_ratio=saving(outcome, opponent),
            is_opponent=outcome is opponent,
            is_champion=outcome is champion,
            is_saturated_over=outcome.saturated_ratio > budget,
            is_late_over=outcome.late_ratio > budget,
        )
        for outcome in report.outcomes
    )


def summary(report: TraceReport) -> Summary:
    """Return the line of one trace in the overview."""
    champion = next((row for row in rows(report) if row.is_champion), None)
    stabilized = first_of(report, (PolicyName.HPA_STABILIZED,))
    outcome = champion.outcome if champion else None
    return Summary(
        name=report.trace.name,
        is_switch=report.recommendation.is_switch,
        days=outcome.evaluated_seconds / 86_400 if outcome else float("nan"),
        champion=champion,
        saving_ratio=champion.saving_ratio if champion else None,
        stabilized_saving_ratio=saving(outcome, stabilized),
        coverage_ratio=report.coverage_ratio,
    )


def middle(values: list[float | None]) -> float | None:
    """Return the median of the known values, None where there is none."""
    known = [value for value in values if value is not None and isfinite(value)]
    return median(known) if known else None


def budget_words(report: TraceReport) -> str:
    """Return the harm budget in percent, with as many digits as it has."""
    return f"{number(100 * report.harm_budget_ratio)} %"


def harm_words(ratio: float | None, *, unknown: str = UNKNOWN) -> str:
    """Return a harm in percent; small ones with the digits that tell them from their budget.

    >>> harm_words(0.249), harm_words(0.0139), harm_words(0.00104)
    ('24.9 %', '1.39 %', '0.104 %')
    """
    decimals = sum((ratio or 0) < limit for limit in (0.1, 0.01)) + 1
    return percent(ratio, decimals=decimals, unknown=unknown)


def advice(report: TraceReport) -> tuple[str, tuple[str, ...]]:
    """Return the recommendation's headline and reasons as sentences, none said twice."""
    headline = _sentence(report.recommendation.headline)
    reasons = tuple(
        _sentence(reason)
        for reason in report.recommendation.reasons
        if reason.rstrip(".") not in headline
    )
    return headline, reasons


def _sentence(text: str) -> str:
    text = text.strip()
    ended = text if text.endswith((".", "!", "?", "。")) else f"{text}."
    return ended[:1].upper() + ended[1:]


def knob_words(knobs: dict[str, float]) -> str:
    """Return knobs as people write them.

    >>> knob_words({"target_ratio": 0.9, "stabilization_seconds": 300, "quantile": 0.99})
    'target 0.9, stabilization 300 s, quantile 0.99'
    """
    return ", ".join(_knob(name, value) for name, value in knobs.items())


def _knob(name: str, value: float) -> str:
    words, _, unit = name.rpartition("_")
    if unit == "seconds":
        return f"{words.replace('_', ' ')} {value:g} s"
    if unit == "ratio":
        return f"{words.replace('_', ' ')} {value:g}"
    return f"{name.replace('_', ' ')} {value:g}"
