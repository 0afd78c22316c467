"""Knobs from a replay of earlier days: the cheapest setting that is likely to keep the budget.

Violations are rare: ten days at 0.1 % hold 14 bad minutes. So harm is estimated from near misses
too, and yesterday counts more than last week.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gputide.backtest.ledger import Ledger
from gputide.backtest.model import FloatArray
from gputide.backtest.policies.field import Tuned

HALF_LIFE_DAYS = 3.0
BUDGET_SHARE = 0.8
"""Share of the budget that the replay may use up: what follows is a little worse than it."""

FEEDBACK = 0.4
"""How much of an over- or underspent budget is taken back in the days to come."""

LEAST_SHARE, MOST_SHARE = 0.4, 1.2

LEAST_DECLINE_RATIO = 0.2
ONE_MINUTE_RATIO = 1e-5
"""Keeps the decline of the tail defined where there was no near miss."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prospect:
    """What each of N settings is expected to cost and to hurt: `[N]` each."""

    replicas: FloatArray
    """Mean pods."""

    harm_ratio: FloatArray


def prospect(days: Sequence[Ledger], *, is_late_budgeted: bool) -> Prospect:
    """Return what the settings promise after these replayed days, oldest first."""
    total = _weighted_sum(days)
    minutes = np.maximum(total.known_minutes, 1e-9)
    harm = likely_harm(
        saturated=total.saturated_minutes / minutes,
        above_95=total.minutes_above_95 / minutes,
        above_90=total.minutes_above_90 / minutes,
    )
    if is_late_budgeted:
        harm = np.maximum(harm, total.late / np.maximum(total.demand, 1e-9))
    return Prospect(replicas=total.replica_hours * 60 / minutes, harm_ratio=harm)


def likely_harm(*, saturated: FloatArray, above_95: FloatArray, above_90: FloatArray) -> FloatArray:
    """Return the expected share of saturated minutes: half of what was seen, half of what was near.

    Above 95 % of capacity come so many, of those above 90 %; above 100 % the same share of them.
    """
    near = above_95 + ONE_MINUTE_RATIO
    decline = np.clip(near / (above_90 + 2 * ONE_MINUTE_RATIO), LEAST_DECLINE_RATIO, 1)
    return 0.5 * saturated + 0.5 * near * decline


def allowance(
    budget_ratio: float, days: Sequence[Ledger], row: int, *, of_days: int, is_late_budgeted: bool
) -> float:
    """Return the harm that a replay may promise to a tuned policy for the day to come.

    `days` are its own last ones, at most `of_days`: what it did to harm beyond the budget is saved
    from now on, and the other way round.
    """
    total = sum(days, Ledger.empty(days[0].known_minutes.size)) if days else None
    share = BUDGET_SHARE
    if total is not None and total.known_minutes[row]:
        spent = float(total.saturated_minutes[row] / total.known_minutes[row])
        if is_late_budgeted:
            spent = max(spent, float(total.late[row] / max(total.demand[row], 1e-9)))
        weight = FEEDBACK * len(days) / of_days
        share *= 1 - weight * (spent / budget_ratio - 1)
    return budget_ratio * min(max(share, LEAST_SHARE), MOST_SHARE)


def choose(tuned: Tuned, promise: Prospect, *, allowed_ratio: float) -> int:
    """Return the setting that a tuned policy runs next."""
    choice = cheapest(tuned.pool, promise, allowed_ratio=allowed_ratio)
    if not tuned.gate:
        return choice
    plain = cheapest(tuned.gate, promise, allowed_ratio=allowed_ratio)
    keeps_budget = promise.harm_ratio[plain] <= allowed_ratio
    if keeps_budget and promise.replicas[plain] < promise.replicas[choice]:
        return plain
    return choice


def cheapest(pool: Sequence[int], promise: Prospect, *, allowed_ratio: float) -> int:
    """Return the cheapest of the pool within the allowed harm, else the one of least harm."""
    positions = np.asarray(pool)
    cost, harm = promise.replicas[positions], promise.harm_ratio[positions]
    limit = max(allowed_ratio, float(harm.min()))
    return int(positions[np.where(harm <= limit, cost, np.inf).argmin()])


def _weighted_sum(days: Sequence[Ledger]) -> Ledger:
    """Return the sum of the days, the older ones counting less."""
    ages = np.arange(len(days))[::-1]
    weights = 0.5 ** (ages / HALF_LIFE_DAYS)
    return Ledger(
        **{
            f.name: np.tensordot(weights, np.stack([getattr(day, f.name) for day in days]), axes=1)
            for f in fields(Ledger)
        }
    )
