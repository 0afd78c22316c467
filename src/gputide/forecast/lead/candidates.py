"""Candidates for the maximum over a lead: other days, other days at today's level, and now.

Shapes: `[w, D, n]` is w workloads, D whole days that end with the newest known column, n columns a
day. A phase s in 0..n-1 of day j stands for an origin whose newest known column is the one *before*
phase s; what it forecasts begins `first_step - 1` columns after phase s. All in float32, NaN unknown.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.lead.plan import WEEK_DAYS, Plan
from gputide.forecast.lead.windows import trailing_max, trailing_mean

Array = NDArray[np.float32]

RATIO_LIMIT = 3.0
"""Today may be at most this many times, or this part of, what the other days were."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DayTables:
    """What each past day tells about the same phase of a later one."""

    envelopes: tuple[Array, ...]
    """A jitter each, `[w, D, n]`: the maximum under the lead, widened by the jitter on both sides."""

    newest_envelopes: tuple[Array, ...]
    """The same as known when that day ended: late phases fall back to the day before."""

    levels: Array
    """`[w, D, n]`: mean of the level window that ends before the phase."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seasons:
    """What the days before one block say about its phases."""

    envelopes: Array
    """`[w, S, P]` seasonal envelopes."""

    levels: Array
    """`[w, S, P]` level of the same days before the phase, to compare with today's."""


def tabulate_days(days: Array, plan: Plan) -> DayTables:
    """Return the tables of `days[w, D, n]`."""
    series = days.reshape(days.shape[0], -1)
    highs = np.where(np.isnan(series), -np.inf, series).astype(np.float32)
    envelopes = tuple(_envelope(highs, plan, jitter).reshape(days.shape) for jitter in plan.jitters)
    newest = tuple(
        _as_known_at_day_end(envelope, plan.lead.last_step + jitter - 1)
        for envelope, jitter in zip(envelopes, plan.jitters, strict=True)
    )
    means = trailing_mean(series, plan.level_steps)
    levels = np.full_like(means, np.nan)
    levels[:, 1:] = means[:, :-1]
    return DayTables(
        envelopes=tuple(_fill_from_day_before(e) for e in envelopes),
        newest_envelopes=tuple(_fill_from_day_before(e) for e in newest),
        levels=_fill_from_day_before(levels.reshape(days.shape)),
    )


def _envelope(highs: Array, plan: Plan, jitter: int) -> Array:
    """Return `[w, T]`: the widened maximum under the lead for the origin before each column."""
    widened = trailing_max(highs, plan.target_steps + 2 * jitter)
    ahead = plan.lead.last_step + jitter - 1
    out = np.full_like(widened, np.nan)
    known = widened[:, ahead:]
    out[:, : known.shape[1]] = np.where(np.isfinite(known), known, np.nan)
    return out


def _as_known_at_day_end(envelope: Array, ahead: int) -> Array:
    """Return the envelopes with those phases that look past their day's end taken a day earlier."""
    out = envelope.copy()
    day_steps = envelope.shape[-1]
    for shift in range(1, (day_steps - 1 + ahead) // day_steps + 1):
        late = max(0, shift * day_steps - ahead)
        out[:, shift:, late:] = envelope[:, :-shift, late:]
        out[:, :shift, late:] = np.nan
    return out


def _fill_from_day_before(table: Array) -> Array:
    """Return the table with unknown phases taken from the nearest earlier day that knows them."""
    if not np.isnan(table).any():
        return table
    out = table.copy()
    for day in range(1, table.shape[1]):
        out[:, day] = np.where(np.isnan(out[:, day]), out[:, day - 1], out[:, day])
    return out


def look_up_seasons(tables: DayTables, day: int, phases: slice) -> Seasons:
    """Return what the seven days before `day` say about its phases; `day` may be the coming one."""
    levels = tables.levels[:, day - WEEK_DAYS : day, phases]
    by_rule: list[tuple[Array, Array]] = []
    for jitter in range(len(tables.envelopes)):
        week = tables.newest_envelopes[jitter][:, day - WEEK_DAYS : day, phases]
        last_week = tables.envelopes[jitter][:, day - WEEK_DAYS, phases]
        by_rule.append((week[:, -1], levels[:, -1]))
        by_rule.append((last_week, levels[:, 0]))
        by_rule.append((_known_mean(week), _known_mean(levels)))
        by_rule.append((_known_max(week[:, -3:]), _known_max(levels[:, -3:])))
        if jitter == 0:
            by_rule.append((_known_max(week), _known_max(levels)))
            by_rule.append(((week[:, -1] + last_week) / 2, (levels[:, -1] + levels[:, 0]) / 2))
    return Seasons(
        envelopes=np.stack([envelope for envelope, _ in by_rule], axis=1),
        levels=np.stack([level for _, level in by_rule], axis=1),
    )


def _known_mean(days: Array) -> Array:
    """Return `[w, P]` of `[w, D, P]`: the mean over the days that are known."""
    known = ~np.isnan(days)
    if known.all():
        return days.mean(axis=1)
    total = np.where(known, days, 0).sum(axis=1)
    count = known.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)


def _known_max(days: Array) -> Array:
    return np.fmax.reduce(days, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Live:
    """What the newest minutes tell at each of T columns, that column included."""

    level: Array
    """`[w, T]`: mean of the level window."""

    persistence: Array
    """`[w, P, T]`: recent maxima, and the same part of the last hours."""


def read_live(values: Array, plan: Plan) -> Live:
    """Return what `values[w, T]` tell at each column."""
    highs = np.where(np.isnan(values), -np.inf, values).astype(np.float32)
    recent = [trailing_max(highs, width) for width in plan.persistence_steps]
    targets = trailing_max(highs, plan.target_steps)
    hours = np.stack([_lagged(targets, lag - plan.lead.last_step) for lag in plan.hour_lags])
    persistence = np.stack([*recent, hours.mean(axis=0), hours.max(axis=0)], axis=1)
    return Live(
        level=trailing_mean(values, plan.level_steps),
        persistence=np.where(np.isfinite(persistence), persistence, np.nan),
    )


def _lagged(values: Array, lag: int) -> Array:
    if lag == 0:
        return values
    out = np.full_like(values, -np.inf)
    out[:, lag:] = values[:, :-lag]
    return out


def combine(seasons: Seasons, level: Array, persistence: Array) -> Array:
    """Return the candidates `[w, C, P]` from seasons `[w, S, P]`, level `[w, P]`, persistence `[w, *, P]`."""
    ratio = (level[:, None] + 0.02) / (seasons.levels + 0.02)
    np.clip(ratio, 1 / RATIO_LIMIT, RATIO_LIMIT, out=ratio)
    return np.concatenate([seasons.envelopes, seasons.envelopes * ratio, persistence], axis=1)
