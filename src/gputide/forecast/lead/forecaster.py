"""What a fit learnt, and the bounds that it issues from the newest minutes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gputide.errors import SettingError
from gputide.forecast.lead.calibrate import SEASONAL_EXPERTS, Experts, join_experts
from gputide.forecast.lead.candidates import Live, Seasons, combine, read_live, read_outcome
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
from gputide.forecast.lead.plan import PERSISTENCE_SECONDS, Plan
from gputide.forecast.lead.windows import Array, IndexArray
from gputide.forecast.model import BoolArray, FloatArray, Lead

CAP_RATIO = 1.25
"""No bound is above this many times the largest value of the recent week and of the last hour."""


GATE_RATIO = 0.1
"""Part of persistence' loss that a season must save on the trailing days to lead."""

SHORTFALL_LIMIT = 2.0
"""The bound is raised by what it lacked in the last hours, at most by this part of itself."""

READ_WORKLOADS = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Outlook:
    """Candidates `[C, P, W]` at some origins, what came after, and the hour before, `[P, W]`."""

    candidates: Array
    actual: Array
    last_hour: Array


class _Recent(NamedTuple):
    """What experts said at recent origins and how wrong they were, `[K, P, W]`; what came."""

    bounds: Array
    losses: Array
    actual: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeadForecaster:
    """Bounds the maximum demand over a lead of W workloads from their newest minutes.

    Stable: `lead`, `quantiles`, `needed_steps`, `issue`, `seasonal_share`, `seasonal_gain`,
    `is_seasonal`. The rest is how the fit keeps what it found.
    """

    plan: Plan
    quantiles: tuple[float, ...]
    seasons: Seasons
    """`[..., phases, W]` from `plan.lookback_phases` before the fit to a day after it."""

    experts: Experts
    lift: Array
    """`[Q, W]`: what the mixture lacks, or has too much, relative to it and to `FLOOR`."""

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
    def seasonal_share(self) -> FloatArray:
        """`[Q, W]`: how much the bound rests on other days at the fit, 0 to 1; the rest on now."""
        shares = shares_of(self.experts.loss.transpose(1, 0, 2))
        seasonal: FloatArray = shares[:SEASONAL_EXPERTS].sum(axis=0, dtype=np.float64)
        return seasonal

    @property
    def seasonal_gain(self) -> FloatArray:
        """`[Q, W]`: part of persistence' pinball loss that the season saves; negative: adds."""
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
        upper = []
        for quantile, bounds, losses in self._judge(outlook):
            at = [slice(k, k + 1) for k in range(count - 1, -1, -1)]
            recent = [_Recent(bounds[:, k], losses[:, k], outlook.actual[k]) for k in at]
            upper.append(self._mix(bounds[:, count:], recent, quantile))
        return self._limit(upper, outlook, 1)[..., 0, :]

    def issue_span(self, values: FloatArray, *, count: int) -> FloatArray:
        """Return `upper[Q, W, count]`: what `issue` returns 0 to count - 1 steps after the fit.

        `values[W, needed_steps + count - 1]` end with the newest column of the last one.
        """
        self._check_newest(values, self.needed_steps + count - 1)
        reach = self.plan.recent_origins[-1]
        phases = np.arange(-reach, count)
        outlook = self._look(values, columns=self.needed_steps - 1 + phases, phases=phases)
        upper = []
        for quantile, bounds, losses in self._judge(outlook):
            at = [slice(reach - ago, reach - ago + count) for ago in self.plan.recent_origins]
            recent = [_Recent(bounds[:, k], losses[:, k], outlook.actual[k]) for k in at]
            upper.append(self._mix(bounds[:, reach:], recent, quantile))
        return self._limit(upper, outlook, count).transpose(0, 2, 1)

    def _check_newest(self, newest: FloatArray, steps: int) -> None:
        expected = (len(self.scale), steps)
        if newest.shape != expected:
            raise SettingError("newest", f"must have the shape {expected}, has {newest.shape}")

    def _look(self, values: FloatArray, *, columns: IndexArray, phases: IndexArray) -> _Outlook:
        """Return the candidates at origins, given as columns of `values` and phases of the fit."""
        scaled = (values / self.scale[:, None]).astype(np.float32)
        rows = phases + self.plan.lookback_phases
        is_known = rows >= 0
        rows = np.maximum(rows, 0)
        envelopes, levels = self.seasons.envelopes[:, rows], self.seasons.levels[:, rows]
        envelopes[:, ~is_known] = np.nan
        live, actual = self._read(scaled, columns)
        return _Outlook(
            candidates=combine(Seasons(envelopes=envelopes, levels=levels), live),
            actual=actual,
            last_hour=live.persistence[len(PERSISTENCE_SECONDS) - 1],
        )

    def _read(self, scaled: Array, columns: IndexArray) -> tuple[Live, Array]:
        """Return what the newest minutes say, `[..., P, W]`, and what came, `[P, W]`."""
        level = np.empty((len(columns), len(scaled)), dtype=np.float32)
        actual = np.empty_like(level)
        persistence = np.empty((self.plan.persistence_count, *level.shape), dtype=np.float32)
        for at in range(0, len(scaled), READ_WORKLOADS):  # few enough to stay in the cache
            rows = slice(at, at + READ_WORKLOADS)
            live = read_live(scaled[rows], self.plan, columns)
            level[:, rows] = live.level.T
            persistence[..., rows] = live.persistence.transpose(0, 2, 1)
            actual[:, rows] = read_outcome(scaled[rows], self.plan, columns).T
        return Live(level=level, persistence=persistence), actual

    def _judge(self, outlook: _Outlook) -> Iterator[tuple[int, Array, Array]]:
        """Yield for each quantile its index, the experts' bounds and their losses `[K, P, W]`."""
        for index, quantile in enumerate(self.quantiles):
            bounds = bound_by(self.experts, index, outlook.candidates, workload_axis=2)
            yield index, bounds, pinball(outlook.actual, bounds, quantile)

    def _mix(self, bounds: Array, recent: Sequence[_Recent], quantile: int) -> Array:
        """Return `[P, W]` from bounds `[K, P, W]` and what came of recent ones, newest first."""
        total, weight = np.zeros_like(bounds), np.zeros_like(bounds)
        for share, origin in zip(self.plan.recent_weights, recent, strict=True):
            is_known = ~np.isnan(origin.losses)
            total += np.where(is_known, np.float32(share) * origin.losses, np.float32(0))
            weight += np.float32(share) * is_known
        past = self.experts.loss[quantile][:, None]
        shares = known_shares(bounds, blend_losses(past, total, weight, self.plan))
        lift = self.lift[quantile]
        short = np.zeros_like(bounds[0])
        for share, origin in zip(self.plan.recent_weights, recent, strict=True):
            said = lift_by(mix(origin.bounds, shares), lift)
            short += np.float32(share) * shortfall(origin.actual, said)
        mixture = lift_by(mix(bounds, shares), lift)
        return lift_by(mixture, np.minimum(short, np.float32(SHORTFALL_LIMIT)))

    def _limit(self, upper: list[Array], outlook: _Outlook, count: int) -> FloatArray:
        """Return `[Q, P, W]` in the unit of the demand: at least 0, rising with q, capped."""
        rising = np.maximum.accumulate(np.maximum(np.stack(upper), 0), axis=0)
        highest = np.fmax(self.highest, np.nan_to_num(outlook.last_hour[-count:]))
        capped = np.minimum(rising, np.float32(CAP_RATIO) * highest)
        return capped.astype(np.float64) * self.scale


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
        scale=np.concatenate([part.scale for part in parts]),
        highest=np.concatenate([part.highest for part in parts]),
    )
