"""Fit once a day or hour, issue every minute: the quantile of the maximum demand over a lead."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError
from gputide.forecast.lead.calibrate import Mixture, calibrate, mix
from gputide.forecast.lead.candidates import (
    DayTables,
    Seasons,
    combine,
    look_up_seasons,
    read_live,
    tabulate_days,
)
from gputide.forecast.lead.plan import CALIBRATION_DAYS, WEEK_DAYS, Plan
from gputide.forecast.lead.windows import trailing_max
from gputide.forecast.model import BoolArray, FloatArray, History, Lead

Array = NDArray[np.float32]

CAP_RATIO = 1.25
"""No bound is above this many times the largest value of the recent week and of now."""

CHUNK_WORKLOADS = 16
HALF_LIFE_DAYS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeadForecaster:
    """Bounds the maximum demand over a lead of W workloads from their newest minutes.

    Stable: `lead`, `quantiles`, `needed_steps`, `issue`, `is_seasonal`, `seasonal_share`. The rest is
    how the fit keeps what it found.
    """

    plan: Plan
    quantiles: tuple[float, ...]
    seasons: Seasons
    mixture: Mixture
    scale: Array
    """[W]: mean demand that all tables are divided by."""

    highest: Array
    """[W]: largest value of the recent week, in units of `scale`."""

    @property
    def lead(self) -> Lead:
        """The steps that are bounded."""
        return self.plan.lead

    @property
    def needed_steps(self) -> int:
        """How many of the newest columns `issue` reads."""
        return self.plan.needed_steps

    @property
    def seasonal_share(self) -> FloatArray:
        """`[Q, W]`: how much of the bound rests on other days, 0 to 1; the rest is persistence."""
        seasonal = 2 * self.seasons.envelopes.shape[1]
        return self.mixture.share[..., :seasonal].sum(axis=-1).astype(np.float64)

    @property
    def is_seasonal(self) -> BoolArray:
        """`[Q, W]`: whether the season leads."""
        return self.seasonal_share > 0.5

    def issue(self, newest: FloatArray, *, steps_since_fit: int) -> FloatArray:
        """Return `upper[Q, W]` from `newest[W, R]`, R = `needed_steps`, `steps_since_fit` columns later.

        An unknown newest minute is NaN; the bound is NaN only where neither the season nor the
        newest minutes tell anything: hold then.
        """
        if newest.shape[1] != self.needed_steps:
            raise SettingError(
                "newest", f"has {newest.shape[1]} columns, needs {self.needed_steps}"
            )
        phase = steps_since_fit % self.plan.day_steps
        return self.issue_span(newest, slice(phase, phase + 1))[..., 0]

    def issue_span(self, values: FloatArray, phases: slice) -> FloatArray:
        """Return `upper[Q, W, P]` for consecutive phases; `values[W, *]` ends at the last one's newest."""
        count = phases.stop - phases.start
        scaled = (values / self.scale[:, None]).astype(np.float32)
        live = read_live(scaled, self.plan)
        seasons = Seasons(
            envelopes=self.seasons.envelopes[..., phases], levels=self.seasons.levels[..., phases]
        )
        candidates = combine(seasons, live.level[:, -count:], live.persistence[..., -count:])
        upper = np.maximum(mix(self.mixture, candidates), 0)
        recent = np.fmax(live.persistence[:, len(self.plan.persistence_steps) - 1, -count:], 0)
        highest = np.fmax(self.highest[:, None], recent)
        upper = np.minimum(np.maximum.accumulate(upper, axis=0), CAP_RATIO * highest)
        return upper.astype(np.float64) * self.scale[:, None]


def fit_lead(history: History, *, lead: Lead, quantiles: Sequence[float]) -> LeadForecaster:
    """Learn to bound the maximum over `lead` at each of `quantiles` (ascending fractions)."""
    check_quantiles(quantiles)
    plan = Plan(step_seconds=history.step_seconds, lead=lead)
    parts = [
        _fit_chunk(history.values[rows], plan, tuple(quantiles))
        for rows in _chunks(history.values.shape[0])
    ]
    return _join(parts)


def check_quantiles(quantiles: Sequence[float]) -> None:
    """Raise SettingError unless the quantiles ascend within (0, 1)."""
    ascending = all(a < b for a, b in zip(quantiles, quantiles[1:], strict=False))
    if not quantiles or not ascending or not 0 < quantiles[0] <= quantiles[-1] < 1:
        raise SettingError("quantiles", "must be ascending fractions between 0 and 1")


def _chunks(count: int) -> Iterator[slice]:
    return (slice(at, at + CHUNK_WORKLOADS) for at in range(0, count, CHUNK_WORKLOADS))


def _fit_chunk(values: FloatArray, plan: Plan, quantiles: tuple[float, ...]) -> LeadForecaster:
    days, scale = cut_days(values, plan)
    tables = tabulate_days(days, plan)
    blocks = range(days.shape[1] - CALIBRATION_DAYS, days.shape[1])
    candidates, actual = _walk_forward(days, tables, plan, blocks)
    age = np.repeat(np.arange(len(blocks))[::-1], actual.shape[1] // len(blocks))
    weight = (0.5 ** (age / HALF_LIFE_DAYS)).astype(np.float32)
    coming = look_up_seasons(tables, days.shape[1], slice(None))
    recent = days[:, -WEEK_DAYS:].reshape(len(days), -1)
    return LeadForecaster(
        plan=plan,
        quantiles=quantiles,
        seasons=coming,
        mixture=calibrate(candidates, actual, weight, quantiles),
        scale=scale,
        highest=np.fmax.reduce(recent, axis=1, initial=0),
    )


def cut_days(values: FloatArray, plan: Plan) -> tuple[Array, Array]:
    """Return the newest whole days `[w, D, n]` in units of the mean, unknown in front, and the mean `[w]`."""
    count = (CALIBRATION_DAYS + WEEK_DAYS) * plan.day_steps
    newest = values[:, -count:]
    days = np.full((len(values), count), np.nan, dtype=np.float32)
    known = np.isfinite(newest)
    total = np.where(known, newest, 0).sum(axis=1)
    scale = total / np.maximum(known.sum(axis=1), 1)
    scale = np.where(scale > 0, scale, 1.0)
    days[:, count - newest.shape[1] :] = newest / scale[:, None]
    return days.reshape(len(values), -1, plan.day_steps), scale


def _walk_forward(days: Array, tables: DayTables, plan: Plan, blocks: range) -> tuple[Array, Array]:
    """Return candidates `[w, C, N]` and what came `[w, N]` at the origins of past days."""
    series = days.reshape(len(days), -1)
    n = plan.day_steps
    live = read_live(series, plan)
    highs = np.where(np.isnan(series), -np.inf, series).astype(np.float32)
    reach = plan.lead.last_step
    targets = np.full_like(series, np.nan)
    maxima = trailing_max(highs, plan.target_steps)[:, reach:]
    targets[:, :-reach] = np.where(np.isfinite(maxima), maxima, np.nan)
    candidates, actual = [], []
    for block in blocks:
        offset = (2 * block) % plan.stride
        seasons = look_up_seasons(tables, block, slice(offset, None, plan.stride))
        at = slice(block * n + offset - 1, (block + 1) * n - 1, plan.stride)
        candidates.append(combine(seasons, live.level[:, at], live.persistence[..., at]))
        actual.append(targets[:, at])
    return np.concatenate(candidates, axis=-1), np.concatenate(actual, axis=-1)


def _join(parts: list[LeadForecaster]) -> LeadForecaster:
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return LeadForecaster(
        plan=first.plan,
        quantiles=first.quantiles,
        seasons=Seasons(
            envelopes=np.concatenate([p.seasons.envelopes for p in parts]),
            levels=np.concatenate([p.seasons.levels for p in parts]),
        ),
        mixture=Mixture(
            gain=np.concatenate([p.mixture.gain for p in parts], axis=1),
            offset=np.concatenate([p.mixture.offset for p in parts], axis=1),
            share=np.concatenate([p.mixture.share for p in parts], axis=1),
            loss=np.concatenate([p.mixture.loss for p in parts], axis=1),
        ),
        scale=np.concatenate([p.scale for p in parts]),
        highest=np.concatenate([p.highest for p in parts]),
    )
