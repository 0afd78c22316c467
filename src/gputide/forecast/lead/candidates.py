"""Candidates for the maximum over a lead: other days, other days at today's level, and now.

A phase s in 0..n-1 of a day stands for the origin whose newest known column is the one *before*
column s of that day; what it forecasts begins `first_step - 1` columns after it. Arrays are float32
with NaN for unknown; candidates come first: `[C, ...]` over any shape of origins.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from gputide.forecast.lead.plan import PERSISTENCE_SECONDS, WEEK_DAYS, Plan
from gputide.forecast.lead.windows import (
    Array,
    IndexArray,
    highest_known,
    lagged,
    mean_known,
    trailing_max,
    trailing_mean,
)

RATIO_LIMIT = 3.0
"""Today may be at most this many times, or this part of, what the other days were."""

LEAST_DAYS = 4
"""A mean or maximum of fewer days is another candidate than that of a week, not judged as it."""

LEVEL_FLOOR = 0.02
"""Added to both levels before they are divided, in units of the mean demand."""


class Days(Enum):
    """Which other days tell about the coming one."""

    YESTERDAY = auto()
    LAST_WEEK = auto()
    YESTERDAY_AND_LAST_WEEK = auto()
    MEAN_OF_WEEK = auto()
    HIGHEST_OF_3 = auto()
    HIGHEST_OF_WEEK = auto()
    HIGHEST_OF_ALL = auto()


class Rule(NamedTuple):
    """Days, and how far the hour may be off: a jump that comes ten minutes early."""

    days: Days
    jitter_seconds: int


RULES = (
    Rule(Days.YESTERDAY, 0),
    Rule(Days.LAST_WEEK, 0),
    Rule(Days.LAST_WEEK, 600),
    Rule(Days.LAST_WEEK, 1800),
    Rule(Days.YESTERDAY_AND_LAST_WEEK, 0),
    Rule(Days.MEAN_OF_WEEK, 0),
    Rule(Days.MEAN_OF_WEEK, 1800),
    Rule(Days.HIGHEST_OF_3, 600),
    Rule(Days.HIGHEST_OF_WEEK, 0),
    Rule(Days.HIGHEST_OF_ALL, 0),
)
HIGHEST_OF_ALL_DAYS = RULES.index(Rule(Days.HIGHEST_OF_ALL, 0))
"""The candidate that is the maximum of the same minutes on all past days."""

JITTERS_SECONDS = tuple(sorted({rule.jitter_seconds for rule in RULES}))

SEASONAL_COUNT = 3 * len(RULES)
"""The first candidates rest on other days; those after them on the newest minutes alone."""


def _name_candidates() -> tuple[str, ...]:
    rules = [
        rule.days.name.lower().replace("_", " ")
        + (f" within {rule.jitter_seconds // 60} min" if rule.jitter_seconds else "")
        for rule in RULES
    ]
    seasonal = [name + level for level in ("", ", times level", ", plus level") for name in rules]
    now = [f"highest of last {seconds // 60} min" for seconds in PERSISTENCE_SECONDS]
    return (*seasonal, *now, "mean of last hours", "highest of last hours")


CANDIDATE_NAMES = _name_candidates()
"""What each candidate rests on, for people."""

_LEVEL_OF_RULE = [rule.days.value - 1 for rule in RULES]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DayTables:
    """What each of D past days tells about the same phase of a later one, `[w, D, n]`."""

    envelopes: dict[int, Array]
    """By jitter in seconds: the maximum under the lead, widened by the jitter on both sides."""

    closing_envelopes: dict[int, Array]
    """The same as known when that day ended: its late phases fall back to the day before."""

    levels: Array
    """Mean of the level window that ends before the phase."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seasons:
    """What other days say about some origins."""

    envelopes: Array
    """`[len(RULES), ...]`: what came after the same phase."""

    levels: Array
    """`[len(Days), ...]`: the level before it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Live:
    """What the newest minutes say at some origins."""

    level: Array
    """`[...]`: mean of the level window."""

    persistence: Array
    """`[P, ...]`: the recent maxima, widest last, then mean and maximum of the last hours."""

    outcome: Array
    """`[...]`: what came, the maximum over the lead after the origin; unknown if it lies ahead."""

    def part(self, origins: slice) -> "Live":
        """Return the same at some of the origins, which lie along the last axis."""
        return Live(
            level=self.level[..., origins],
            persistence=self.persistence[..., origins],
            outcome=self.outcome[..., origins],
        )


def tabulate_days(days: Array, plan: Plan) -> DayTables:
    """Return the tables of `days[w, D, n]`."""
    series = days.reshape(len(days), days.shape[1] * days.shape[2])
    highs = _highs(series)
    has_gaps = bool(np.isnan(series).any())
    envelopes, closing = {}, {}
    widened, covered = highs, 1
    for seconds in JITTERS_SECONDS:
        jitter = round(seconds / plan.step_seconds)
        ahead = plan.lead.last_step + jitter - 1
        width = plan.target_steps + 2 * jitter
        widened, covered = trailing_max(widened, width, covered=covered), width
        envelope = lagged(widened, -ahead, fill=np.nan).reshape(days.shape)
        if has_gaps:
            envelope[np.isinf(envelope)] = np.nan
            envelope = _fill_from_day_before(envelope)
        closing[seconds] = _as_known_at_day_end(envelope, ahead)
        envelopes[seconds] = envelope
    levels = lagged(trailing_mean(series, plan.level_steps), 1, fill=np.nan).reshape(days.shape)
    if has_gaps:
        levels = _fill_from_day_before(levels)
    return DayTables(envelopes=envelopes, closing_envelopes=closing, levels=levels)


def _as_known_at_day_end(envelope: Array, ahead: int) -> Array:
    """Return the table with those phases that look past their day's end taken a day earlier."""
    out = envelope.copy()
    day_steps = envelope.shape[-1]
    for shift in range(1, (day_steps - 1 + ahead) // day_steps + 1):
        late = max(0, shift * day_steps - ahead)
        out[:, shift:, late:] = envelope[:, :-shift, late:]
        out[:, :shift, late:] = np.nan
    return out


def _fill_from_day_before(table: Array) -> Array:
    """Return the table with unknown phases taken from the nearest earlier day that knows them."""
    out = table.copy()
    for day in range(1, table.shape[1]):
        out[:, day] = np.where(np.isnan(out[:, day]), out[:, day - 1], out[:, day])
    return out


def look_up_seasons(tables: DayTables, day: int, phases: slice) -> Seasons:
    """Return what the days before `day` say about its phases, `[..., w, P]`.

    `day` counts from the first of the tables and may be the one that comes after them.
    """
    closing = {
        seconds: np.ascontiguousarray(table[:, :day, phases])
        for seconds, table in tables.closing_envelopes.items()
    }
    levels = np.ascontiguousarray(tables.levels[:, :day, phases])
    envelopes = []
    for rule in RULES:
        last_week = tables.envelopes[rule.jitter_seconds][:, day - WEEK_DAYS, phases]
        envelopes.append(_summarise(rule.days, closing[rule.jitter_seconds], last_week))
    last_week = levels[:, -WEEK_DAYS]
    return Seasons(
        envelopes=np.stack(envelopes),
        levels=np.stack([_summarise(days, levels, last_week) for days in Days]),
    )


def _summarise(days: Days, past: Array, last_week: Array) -> Array:
    """Return `[w, P]` of `past[w, D, P]`, newest day last, and `last_week[w, P]`."""
    match days:
        case Days.YESTERDAY:
            summary = past[:, -1]
        case Days.LAST_WEEK:
            summary = last_week
        case Days.YESTERDAY_AND_LAST_WEEK:
            summary = (past[:, -1] + last_week) * np.float32(0.5)
        case Days.MEAN_OF_WEEK:
            summary = mean_known(past[:, -WEEK_DAYS:], least=LEAST_DAYS)
        case Days.HIGHEST_OF_3:
            summary = highest_known(past[:, -3:], least=2)
        case Days.HIGHEST_OF_WEEK:
            summary = highest_known(past[:, -WEEK_DAYS:], least=LEAST_DAYS)
        case _:
            summary = highest_known(past, least=LEAST_DAYS)
    return summary


def read_live(values: Array, plan: Plan, columns: IndexArray) -> Live:
    """Return what `values[w, T]` tell at some columns, each of them the newest known one there."""
    highs = _highs(values)
    recent = []
    reached, covered = highs, 1
    for width in plan.persistence_steps:
        reached, covered = trailing_max(reached, width, covered=covered), width
        recent.append(reached[:, columns])
    targets = trailing_max(highs, plan.target_steps)
    hours = np.stack(
        [_pick(targets, columns - lag + plan.lead.last_step) for lag in plan.hour_lags]
    )
    persistence = np.stack([*recent, hours.mean(axis=0), hours.max(axis=0)])
    persistence[np.isinf(persistence)] = np.nan
    return Live(
        level=trailing_mean(values, plan.level_steps)[:, columns],
        persistence=persistence,
        outcome=_outcome(targets, plan, columns),
    )


def read_outcome(values: Array, plan: Plan, columns: IndexArray) -> Array:
    """Return `[w, P]`: the maximum over the lead after some columns; NaN where unknown."""
    return _outcome(trailing_max(_highs(values), plan.target_steps), plan, columns)


def _outcome(targets: Array, plan: Plan, columns: IndexArray) -> Array:
    outcome = _pick(targets, columns + plan.lead.last_step)
    outcome[np.isinf(outcome)] = np.nan
    return outcome


def _highs(values: Array) -> Array:
    return np.where(np.isnan(values), np.float32(-np.inf), values)


def _pick(values: Array, columns: IndexArray) -> Array:
    """Return some columns of `[w, T]`; -inf for those outside."""
    is_inside = (columns >= 0) & (columns < values.shape[-1])
    if is_inside.all():
        return values[:, columns]
    return np.where(is_inside, values[:, np.where(is_inside, columns, 0)], np.float32(-np.inf))


def combine(seasons: Seasons, live: Live) -> Array:
    """Return the candidates `[C, ...]`: seasons, those at today's level (times, plus), now."""
    envelopes = seasons.envelopes
    levels = seasons.levels
    ratio = (live.level + np.float32(LEVEL_FLOOR)) / (levels + np.float32(LEVEL_FLOOR))
    np.clip(ratio, 1 / RATIO_LIMIT, RATIO_LIMIT, out=ratio)
    gap = live.level - levels
    count = len(RULES)
    out = np.empty((SEASONAL_COUNT + len(live.persistence), *live.level.shape), dtype=np.float32)
    out[:count] = envelopes
    np.multiply(envelopes, ratio[_LEVEL_OF_RULE], out=out[count : 2 * count])
    np.add(envelopes, gap[_LEVEL_OF_RULE], out=out[2 * count : 3 * count])
    np.maximum(out[2 * count : 3 * count], 0, out=out[2 * count : 3 * count])
    out[SEASONAL_COUNT:] = live.persistence
    return out
