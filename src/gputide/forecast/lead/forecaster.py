"""What a fit learnt, and the bounds that it issues from the newest minutes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gputide.errors import SettingError
from gputide.forecast.lead.calibrate import SEASONAL_EXPERTS, Experts, join_experts
from gputide.forecast.lead.candidates import (
    HIGHEST_OF_ALL_DAYS,
    Live,
    Seasons,
    combine,
    read_live,
)
from gputide.forecast.lead.guard import raise_to_days
from gputide.forecast.lead.mix import (
    blend_losses,
    bound_by,
    known_shares,
    lift_by,
    mix,
    pinball,
    shares_of,
    shortfall,
)
from gputide.forecast.lead.plan import PERSISTENCE_SECONDS, RECENT_STRIDE_SECONDS, Plan
from gputide.forecast.lead.windows import Array, IndexArray
from gputide.forecast.model import BoolArray, FloatArray, Lead

CAP_RATIO = 1.25
"""No bound is above this many times the largest value of the recent week and of the last hour."""


GATE_RATIO = 0.1
"""Part of persistence' loss that a season must save on the trailing days to lead."""

SHORTFALL_QUANTILE = 0.05
"""A bound meant to be missed more often than this is raised less."""

SHORTFALL_LIMIT = np.float32(2)
"""The bound is raised by what it lacked in the last hours, at most by this part of itself."""

READ_WORKLOADS = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Outlook:
    """Candidates `[C, P, W]` at some origins, what came after, and the hour before, `[P, W]`."""

    candidates: Array
    actual: Array
    last_hour: Array


class _Recent(NamedTuple):
    """What experts said at J recent origins and how wrong they were, `[K, P, W, J]`; what came.

    The oldest origin comes first.
    """

    bounds: Array
    losses: Array
    actual: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeadForecaster:
    """Bounds the maximum demand over a lead of W workloads from their newest minutes.

    Stable: `lead`, `quantiles`, `needed_steps`, `issue`, `issue_span`, `leaders`, `is_seasonal`,
    `seasonal_gain`, `seasonal_share`. The rest is how the fit keeps what it found.
    """

    plan: Plan
    quantiles: tuple[float, ...]
    seasons: Seasons
    """`[..., phases, W]` from `plan.lookback_phases` before the fit to a day after it."""

    experts: Experts
    lift: Array
    """`[Q, W]`: what the mixture lacks, or has too much, relative to it and to `FLOOR`."""

    guard: Array
    """`[Q, W]`: the part of the way up to the maximum of days that a bound is raised."""

    scale: FloatArray
    """`[W]`: mean demand; all else is in units of it."""

    highest: Array
    """`[W]`: largest value of the recent week."""

    @property
    def lead(self) -> Lead:
        """The steps that are bounded."""
        return self.plan.lead

    @property
    def needed_steps(self) -> int:
        """How many of the newest columns `issue` reads."""
        return self.plan.needed_steps

    @property
    def leaders(self) -> IndexArray:
        """`[Q, W]`: the candidate of least loss at the fit, an index of `CANDIDATE_NAMES`."""
        best = self.experts.loss.argmin(axis=1)[:, None]
        leading: IndexArray = np.take_along_axis(self.experts.candidate, best, axis=1)[:, 0]
        return leading

    @property
    def seasonal_share(self) -> FloatArray:
        """`[Q, W]`: how much the bound rests on other days at the fit, 0 to 1; the rest on now."""
        shares = shares_of(self.experts.loss.transpose(1, 0, 2))
        seasonal: FloatArray = shares[:SEASONAL_EXPERTS].sum(axis=0, dtype=np.float64)
        return seasonal

    @property
    def seasonal_gain(self) -> FloatArray:
        """`[Q, W]`: part of persistence' pinball loss that the season saves.

        Negative where it adds to it, -inf where no season could be judged yet.
        """
        least_seasonal = self.experts.loss[:, :SEASONAL_EXPERTS].min(axis=1)
        least_live = self.experts.loss[:, SEASONAL_EXPERTS:].min(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            gain: FloatArray = 1 - least_seasonal.astype(np.float64) / least_live
        gain[np.isnan(gain)] = 0  # neither errs, or neither could be judged
        return gain

    @property
    def is_seasonal(self) -> BoolArray:
        """`[Q, W]`: whether the season leads: it saves enough to be more than chance."""
        return self.seasonal_gain > GATE_RATIO

    def issue(self, newest: FloatArray, *, steps_since_fit: int) -> FloatArray:
        """Return `upper[Q, W]` from `newest[W, R]`, R = `needed_steps`, so long after the fit.

        The fit's own newest column is 0 steps after it. An unknown minute is NaN; the bound is NaN
        only where neither the season nor the newest minutes tell anything: hold then.
        """
        self._check_newest(newest, self.needed_steps)
        phase = steps_since_fit % self.plan.day_steps
        ago = np.array([*self.plan.recent_origins[::-1], 0])
        outlook = self._look(newest, columns=self.needed_steps - 1 - ago, phases=phase - ago)
        count = len(ago) - 1
        highest = outlook.candidates[HIGHEST_OF_ALL_DAYS, count:]
        upper = []
        for quantile, bounds, losses in self._judge(outlook):
            recent = _Recent(
                _origins_last(bounds[:, :count]),
                _origins_last(losses[:, :count]),
                _origins_last(outlook.actual[:count]),
            )
            mixture = self._mix(bounds[:, count:], recent, quantile)
            upper.append(raise_to_days(mixture, highest, self.guard[quantile]))
        return self._limit(upper, outlook, 1)[..., 0, :]

    def issue_span(self, values: FloatArray, *, count: int) -> FloatArray:
        """Return `upper[Q, W, count]`: what `issue` returns 0 to count - 1 steps after the fit.

        `values[W, needed_steps + count - 1]` end with the newest column of the last one.
        """
        self._check_newest(values, self.needed_steps + count - 1)
        reach = self.plan.recent_origins[-1]
        phases = np.arange(-reach, count)
        outlook = self._look(values, columns=self.needed_steps - 1 + phases, phases=phases)
        highest = outlook.candidates[HIGHEST_OF_ALL_DAYS, reach:]
        upper = []
        for quantile, bounds, losses in self._judge(outlook):
            recent = _Recent(
                self._recent(bounds), self._recent(losses), self._recent(outlook.actual)
            )
            mixture = self._mix(bounds[:, reach:], recent, quantile)
            upper.append(raise_to_days(mixture, highest, self.guard[quantile]))
        return self._limit(upper, outlook, count).transpose(0, 2, 1)

    def _check_newest(self, newest: FloatArray, steps: int) -> None:
        expected = (len(self.scale), steps)
        if newest.shape != expected:
            raise SettingError("newest", f"must have the shape {expected}, has {newest.shape}")

    def _look(self, values: FloatArray, *, columns: IndexArray, phases: IndexArray) -> _Outlook:
        """Return the candidates at origins, given as columns of `values` and phases of the fit."""
        scaled = np.empty(values.shape, dtype=np.float32)
        np.divide(values, self.scale[:, None], out=scaled, casting="same_kind")
        rows = phases + self.plan.lookback_phases
        is_known = rows >= 0
        rows = np.maximum(rows, 0)
        envelopes, levels = self.seasons.envelopes[:, rows], self.seasons.levels[:, rows]
        envelopes[:, ~is_known] = np.nan
        live = self._read(scaled, columns)
        return _Outlook(
            candidates=combine(Seasons(envelopes=envelopes, levels=levels), live),
            actual=live.outcome,
            last_hour=live.persistence[len(PERSISTENCE_SECONDS) - 1],
        )

    def _read(self, scaled: Array, columns: IndexArray) -> Live:
        """Return what the newest minutes say, `[..., P, W]`."""
        level = np.empty((len(columns), len(scaled)), dtype=np.float32)
        outcome = np.empty_like(level)
        persistence = np.empty((self.plan.persistence_count, *level.shape), dtype=np.float32)
        for at in range(0, len(scaled), READ_WORKLOADS):  # few enough to stay in the cache
            rows = slice(at, at + READ_WORKLOADS)
            live = read_live(scaled[rows], self.plan, columns)
            level[:, rows] = live.level.T
            outcome[:, rows] = live.outcome.T
            persistence[..., rows] = live.persistence.transpose(0, 2, 1)
        return Live(level=level, persistence=persistence, outcome=outcome)

    def _judge(self, outlook: _Outlook) -> Iterator[tuple[int, Array, Array]]:
        """Yield for each quantile its index, the experts' bounds and their losses `[K, P, W]`."""
        for index, quantile in enumerate(self.quantiles):
            bounds = bound_by(self.experts, index, outlook.candidates, workload_axis=2)
            yield index, bounds, pinball(outlook.actual, bounds, quantile)

    def _recent(self, history: Array) -> Array:
        """Return `[..., P, W, J]`, the J recent origins of each phase, of `[..., J + P, W]`."""
        newest, oldest = self.plan.recent_origins[0], self.plan.recent_origins[-1]
        stride = self.plan.steps(RECENT_STRIDE_SECONDS)
        windows = np.lib.stride_tricks.sliding_window_view(
            history[..., : history.shape[-2] - newest, :], oldest - newest + 1, axis=-2
        )
        return windows[..., ::stride]

    def _mix(self, bounds: Array, recent: _Recent, quantile: int) -> Array:
        """Return `[P, W]` from bounds `[K, P, W]` and what came of recent ones."""
        is_known = ~np.isnan(recent.losses)
        ages = np.array(self.plan.recent_weights[::-1], dtype=np.float32)
        total = np.einsum("kpwj,j->kpw", np.where(is_known, recent.losses, np.float32(0)), ages)
        weight = np.einsum("kpwj,j->kpw", is_known.astype(np.float32), ages)
        past = self.experts.loss[quantile][:, None]
        shares = known_shares(bounds, blend_losses(past, total, weight, self.plan))
        lift = self.lift[quantile]
        said = lift_by(mix(recent.bounds, shares[..., None]), lift[:, None])
        short = np.einsum("pwj,j->pw", shortfall(recent.actual, said), ages)
        mixture = lift_by(mix(bounds, shares), lift)
        strength = min(1.0, SHORTFALL_QUANTILE / (1 - self.quantiles[quantile]))
        return lift_by(mixture, np.minimum(np.float32(strength) * short, SHORTFALL_LIMIT))

    def _limit(self, upper: list[Array], outlook: _Outlook, count: int) -> FloatArray:
        """Return `[Q, P, W]` in the unit of the demand: at least 0, rising with q, capped."""
        rising = np.maximum.accumulate(np.maximum(np.stack(upper), 0), axis=0)
        highest = np.fmax(self.highest, np.nan_to_num(outlook.last_hour[-count:]))
        capped = np.minimum(rising, np.float32(CAP_RATIO) * highest)
        return capped.astype(np.float64) * self.scale


def _origins_last(history: Array) -> Array:
    """Return `[..., 1, W, J]` of `[..., J, W]`."""
    return np.moveaxis(history, -2, -1)[..., None, :, :]


def join_forecasters(parts: Sequence[LeadForecaster]) -> LeadForecaster:
    """Return one forecaster for the workloads of all parts, in their order."""
    first = parts[0]
    return LeadForecaster(
        plan=first.plan,
        quantiles=first.quantiles,
        seasons=Seasons(
            envelopes=np.concatenate([part.seasons.envelopes for part in parts], axis=-1),
            levels=np.concatenate([part.seasons.levels for part in parts], axis=-1),
        ),
        experts=join_experts([part.experts for part in parts], axis=2),
        lift=np.concatenate([part.lift for part in parts], axis=-1),
        guard=np.concatenate([part.guard for part in parts], axis=-1),
        scale=np.concatenate([part.scale for part in parts]),
        highest=np.concatenate([part.highest for part in parts]),
    )
