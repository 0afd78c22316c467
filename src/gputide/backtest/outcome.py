"""From sums to what people read: outcomes, curves, coverage."""

import numpy as np

from gputide.backtest.ledger import Ledger
from gputide.backtest.model import FloatArray, Outcome, PolicyName

MINUTES_PER_DAY = 1440
SECONDS_PER_MINUTE = 60


def outcome_of(
    ledger: Ledger, row: int, *, policy: PolicyName, knobs: dict[str, float], is_walk_forward: bool
) -> Outcome:
    """Return what one row came to."""
    minutes = float(ledger.known_minutes[row])
    days = max(minutes / MINUTES_PER_DAY, 1e-9)
    demand = max(float(ledger.demand[row]), 1e-9)
    return Outcome(
        policy=policy,
        knobs=dict(knobs),
        is_walk_forward=is_walk_forward,
        replica_hours=float(ledger.replica_hours[row]),
        saturated_ratio=float(ledger.saturated_minutes[row]) / max(minutes, 1e-9),
        late_ratio=float(ledger.late[row]) / demand,
        lost_ratio=float(ledger.lost[row]) / demand,
        changes_per_day=float(ledger.changes[row]) / days,
        pods_started_per_day=float(ledger.pods_started[row]) / days,
        evaluated_seconds=minutes * SECONDS_PER_MINUTE,
    )


def front(outcomes: list[Outcome]) -> tuple[Outcome, ...]:
    """Return the outcomes that no other beats in both cost and saturated minutes, cheapest last."""
    best: list[Outcome] = []
    for outcome in sorted(outcomes, key=lambda o: (o.replica_hours, o.saturated_ratio)):
        if not best or outcome.saturated_ratio < best[-1].saturated_ratio:
            best.append(outcome)
    return tuple(reversed(best))


def issued_before(upper: FloatArray, *, lead_minutes: int) -> FloatArray:
    """Return, for each minute `[T]`, the bound that was issued one lead before it."""
    out = np.full_like(upper, np.nan)
    out[lead_minutes:] = upper[: len(upper) - lead_minutes]
    return out


def coverage(demand: FloatArray, upper: FloatArray) -> float | None:
    """Return the share of minutes `[M]` at or below their bound; None where no pair is known."""
    known = ~np.isnan(demand) & ~np.isnan(upper)
    if not known.any():
        return None
    return float((demand[known] <= upper[known]).mean())
