"""Whether a workload's season may lead its forecast, and everything that speaks against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from gputide.forecast.clean import Soundness, inspect
from gputide.forecast.model import (
    DAY_SECONDS,
    BoolArray,
    History,
    Reason,
    Verdict,
    parse_quantile,
)
from gputide.forecast.peers import PERSISTENCE, Scores, naive_scores
from gputide.forecast.period import Period, find_periods

MIN_SPAN_SECONDS = 2 * DAY_SECONDS
MIN_KNOWN_RATIO = 0.5
MIN_CENSORED_RATIO = 0.01
"""From this share of censored values on they are named; above the next the season is refused."""

MAX_CENSORED_RATIO = 0.2
YOUNG_LEVEL_DAYS = 7
"""A level that began within so many days is named; within the next, the season is refused."""

NEW_LEVEL_DAYS = 2

MAX_SHORTFALL_RATIO = 0.2
"""A bound that fewer minutes kept than its quantile less this has not seen such load before."""

REFUSALS = frozenset(
    {
        Reason.NO_DATA,
        Reason.TOO_SHORT,
        Reason.TOO_MANY_GAPS,
        Reason.FLAT,
        Reason.NO_PERIOD,
        Reason.PERSISTENCE_IS_BETTER,
        Reason.COVERAGE_TOO_LOW,
    }
)
"""Reasons that forbid the season by themselves; the others are warnings until they are grave."""


def judge(
    history: History,
    quantile: float,
    *,
    own: Scores | None = None,
    persistence: Scores | None = None,
    periods: Sequence[tuple[Period, ...]] | None = None,
    soundness: Soundness | None = None,
) -> tuple[Verdict, ...]:
    """Return a verdict on each workload's season, for a bound at `quantile` (0.95 or 95).

    `own` are the walk-forward scores of the seasonal forecast in question and `persistence` those
    of its opponent without a season, at its lead; the day-ahead peer where they are not given.
    Without `own` nobody can say whether persistence is better. `periods` and `soundness` save
    finding them again.
    """
    fraction = parse_quantile(quantile)
    soundness = inspect(history) if soundness is None else soundness
    periods = find_periods(history) if periods is None else periods
    peers = dict(naive_scores(history, fraction))
    if persistence is not None:
        peers[PERSISTENCE] = persistence
    columns = zip(
        soundness.known_ratio.tolist(),
        soundness.censored_ratio.tolist(),
        _level_days(history, soundness),
        soundness.is_lost_day,
        strict=True,
    )
    return tuple(
        _judge_row(
            _Case(
                history=history,
                quantile=fraction,
                soundness=soundness,
                row=row,
                periods=periods[row],
                own=own,
                peer_losses=_losses(peers, row),
                known_ratio=known_ratio,
                censored_ratio=censored_ratio,
                level_days=level_days,
                is_lost_day=is_lost_day,
            )
        )
        for row, (known_ratio, censored_ratio, level_days, is_lost_day) in enumerate(columns)
    )


def explain(verdict: Verdict) -> tuple[str, ...]:
    """Return one sentence a reason, with the figures that it rests on."""
    return tuple(_sentence(reason, verdict) for reason in verdict.reasons)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Case:
    """One workload and the evidence on it."""

    history: History
    quantile: float
    soundness: Soundness
    row: int
    periods: tuple[Period, ...]
    own: Scores | None
    peer_losses: dict[str, float]
    known_ratio: float
    censored_ratio: float
    level_days: float
    is_lost_day: BoolArray


def _judge_row(case: _Case) -> Verdict:
    against = _obstacles(case)
    if not REFUSALS & set(against) and _is_persistence_better(case):
        against.append(Reason.PERSISTENCE_IS_BETTER)
    if _is_coverage_too_low(case):
        against.append(Reason.COVERAGE_TOO_LOW)
    own, row = case.own, case.row
    return Verdict(
        is_seasonal_in_use=not (REFUSALS & set(against) or _is_grave(case)),
        reasons=tuple(sorted(against, key=list(Reason).index)) or (Reason.IN_USE,),
        periods_seconds=tuple(period.seconds for period in case.periods),
        span_seconds=case.history.values.shape[1] * case.history.step_seconds,
        known_ratio=case.known_ratio,
        coverage_ratio=None if own is None else _known(own.coverage_ratio[row]),
        pinball_loss_ratio=None if own is None else _known(own.pinball_loss_ratio[row]),
        naive_pinball_loss_ratios=case.peer_losses,
    )


def _obstacles(case: _Case) -> list[Reason]:
    """Return what the history itself says against a season."""
    sound, row = case.soundness, case.row
    if case.known_ratio == 0:
        return [Reason.NO_DATA]
    span = case.history.values.shape[1] * case.history.step_seconds
    holds = {
        Reason.TOO_SHORT: span < MIN_SPAN_SECONDS,
        Reason.TOO_MANY_GAPS: _has_too_many_gaps(case),
        Reason.FLAT: sound.is_flat[row],
        Reason.INTERMITTENT: sound.is_intermittent[row],
        Reason.NO_PERIOD: not case.periods,
        Reason.CENSORED: case.censored_ratio >= MIN_CENSORED_RATIO,
        Reason.LEVEL_SHIFT: case.level_days < YOUNG_LEVEL_DAYS,
    }
    return [reason for reason, is_so in holds.items() if is_so]


def _has_too_many_gaps(case: _Case) -> bool:
    """Whether half of the values are missing, or fewer than two days or the last one are there."""
    is_lost = case.is_lost_day
    is_thin = case.known_ratio < MIN_KNOWN_RATIO
    if not len(is_lost):
        return is_thin
    return bool(is_thin or is_lost[-1] or (len(is_lost) >= 2 and (~is_lost).sum() < 2))


def _is_grave(case: _Case) -> bool:
    """Whether a warning weighs enough to refuse the season."""
    return case.censored_ratio > MAX_CENSORED_RATIO or case.level_days < NEW_LEVEL_DAYS


def _level_days(history: History, soundness: Soundness) -> list[float]:
    """Return how long each present level has lasted, in days; endless where it never shifted."""
    steps = history.values.shape[1] - soundness.level_start_step
    days = np.where(soundness.level_start_step > 0, steps / history.steps_per_day, inf)
    return [float(number) for number in days]


def _is_persistence_better(case: _Case) -> bool:
    """Whether the bound without a season has lost less than the seasonal one in question."""
    rival = case.peer_losses.get(PERSISTENCE)
    ours = None if case.own is None else _known(case.own.pinball_loss_ratio[case.row])
    return rival is not None and ours is not None and rival < ours


def _is_coverage_too_low(case: _Case) -> bool:
    """Whether far fewer of the last days' minutes kept the bound than its quantile promises."""
    covered = None if case.own is None else _known(case.own.coverage_ratio[case.row])
    return covered is not None and covered < case.quantile - MAX_SHORTFALL_RATIO


def _losses(peers: Mapping[str, Scores], row: int) -> dict[str, float]:
    """Return the pinball losses of the peers that could be scored."""
    losses = {name: _known(scores.pinball_loss_ratio[row]) for name, scores in peers.items()}
    return {name: loss for name, loss in losses.items() if loss is not None}


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _sentence(reason: Reason, verdict: Verdict) -> str:
    days = verdict.span_seconds / DAY_SECONDS
    rival = verdict.naive_pinball_loss_ratios.get(PERSISTENCE)
    words = {
        Reason.IN_USE: f"repeats every {_lengths(verdict)}",
        Reason.NO_DATA: "no value in the history",
        Reason.TOO_SHORT: f"{days:.1f} d of history; a day needs 2 d, a week 14 d",
        Reason.TOO_MANY_GAPS: f"{verdict.known_ratio:.0%} of {days:.1f} d hold a value, "
        "or the last day does not",
        Reason.FLAT: "the load does not move",
        Reason.INTERMITTENT: "the load is mostly zero",
        Reason.NO_PERIOD: f"nothing repeats in {days:.1f} d",
        Reason.PERSISTENCE_IS_BETTER: "the level alone lost less in the last days"
        + ("" if rival is None else f" (pinball loss {rival:.3f} of the mean)"),
        Reason.COVERAGE_TOO_LOW: "the bound was broken far more often than its quantile allows",
        Reason.CENSORED: "the load was cut off at its capacity part of the time",
        Reason.LEVEL_SHIFT: f"the level is less than {YOUNG_LEVEL_DAYS} d old",
    }
    return words[reason]


def _lengths(verdict: Verdict) -> str:
    """Return season lengths in words, such as `1 d and 7 d`."""
    units = ((DAY_SECONDS, "d"), (3600, "h"), (60, "min"))
    words = []
    for seconds in verdict.periods_seconds:
        size, unit = next((unit for unit in units if seconds % unit[0] == 0), (1, "s"))
        words.append(f"{seconds // size} {unit}")
    return " and ".join(words)
