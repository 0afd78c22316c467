"""From candidates to quantiles: how far above each the demand went, and which to trust.

Each candidate is taken twice: with a margin in proportion to it, and with a constant one. Trust is
the pinball loss at the wanted quantile over the trailing days; persistence always stays among the
trusted, so that the newest minutes can turn to it when the season breaks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gputide.forecast.lead.candidates import SEASONAL_COUNT
from gputide.forecast.lead.windows import Array

FLOOR = 0.1
"""A margin in proportion is relative to the candidate plus this part of the mean demand."""

JUDGED_RATIO = 0.55
"""A candidate must have been known for this part of the origins to be trusted."""

SEASONAL_EXPERTS = 9
PERSISTENCE_EXPERTS = 4
"""Half of them with a margin in proportion, which alone stays right when the level changes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experts:
    """The trusted candidates of each quantile, `[Q, K, w]`; those on the season come first.

    Each bounds the demand by `gain * candidate + offset`, in units of the mean demand.
    """

    candidate: NDArray[np.intp]
    gain: Array
    offset: Array
    loss: Array
    """Mean pinball loss over the trailing days; infinite where never judged."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """What candidates `[C, w, N]` said at past origins and what came, `[w, N]`; NaN unknown."""

    candidates: Array
    actual: Array
    is_censored: NDArray[np.bool_] | None
    """`[w, N]`: the demand was at least `actual`."""


def calibrate(samples: Samples, quantiles: Sequence[float]) -> Experts:
    """Return the experts of each quantile."""
    in_proportion = _measure(samples, samples.candidates + np.float32(FLOOR), quantiles)
    constant = _measure(samples, None, quantiles)
    chosen = [_choose(*rows) for rows in zip(in_proportion, constant, strict=True)]
    return join_experts(chosen, axis=0)


def join_experts(parts: Sequence[Experts], *, axis: int) -> Experts:
    """Return experts joined along the axis of quantiles (0) or workloads (2)."""
    return Experts(
        candidate=np.concatenate([part.candidate for part in parts], axis=axis),
        gain=np.concatenate([part.gain for part in parts], axis=axis),
        offset=np.concatenate([part.offset for part in parts], axis=axis),
        loss=np.concatenate([part.loss for part in parts], axis=axis),
    )


class _Margin:
    """Residuals of all candidates, in units of `base` if there is one, and their quantiles."""

    def __init__(self, samples: Samples, base: Array | None) -> None:
        self.base = base
        self.residuals = samples.actual - samples.candidates
        if base is not None:
            self.residuals /= base
        self.ordered = np.sort(self.residuals, axis=-1)  # unknown ones go last
        self.has_gaps = bool(np.isnan(self.ordered[..., -1]).any())
        self.counts = np.full(self.residuals.shape[:-1], self.residuals.shape[-1])
        if self.has_gaps:
            self.counts -= np.isnan(self.residuals).sum(axis=-1)
        self.is_censored = samples.is_censored

    def quantile(self, quantile: float) -> Array:
        """Return the margin `[C, w]` that the residuals exceed with probability 1 - quantile."""
        margin = self._at_rank(np.ceil(quantile * (self.counts + 1)))
        if self.is_censored is None:
            return margin
        # A lower bound below the forecast decides nothing, one above it is a miss: the misses
        # allowed are a part of what was decided. Two rounds settle it.
        for _ in range(2):
            undecided = (self.is_censored & (self.residuals <= margin[..., None])).sum(axis=-1)
            misses = np.floor((1 - quantile) * (self.counts + 1 - undecided))
            margin = self._at_rank(self.counts - misses)
        return margin

    def _at_rank(self, rank: NDArray[np.floating]) -> Array:
        index = np.clip(rank - 1, 0, np.maximum(self.counts - 1, 0)).astype(np.intp)
        margin: Array = np.take_along_axis(self.ordered, index[..., None], axis=-1)[..., 0]
        return np.nan_to_num(margin)

    def loss(self, margin: Array, quantile: float) -> Array:
        """Return the mean pinball loss `[C, w]` with that margin; infinite where hardly known."""
        miss = self.residuals - margin[..., None]
        if self.has_gaps:
            np.nan_to_num(miss, copy=False)
        above = np.maximum(miss, 0)
        if self.is_censored is not None:
            miss = np.where(self.is_censored, above, miss)
        # Pinball loss is (q - 1) * miss + max(miss, 0).
        loss = (quantile - 1) * self._total(miss) + self._total(above)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = loss / self.counts
        is_judged = self.counts > JUDGED_RATIO * self.counts.max(axis=0)
        return np.where(is_judged, mean, np.float32(np.inf)).astype(np.float32)

    def _total(self, miss: Array) -> Array:
        if self.base is None:
            total: Array = miss.sum(axis=-1)
            return total
        base = np.nan_to_num(self.base) if self.has_gaps else self.base
        weighted: Array = np.einsum("cwn,cwn->cw", miss, base)
        return weighted


class _Measured(NamedTuple):
    """The margin of every candidate for one quantile, and its loss, `[C, w]`."""

    margin: Array
    loss: Array


def _measure(samples: Samples, base: Array | None, quantiles: Sequence[float]) -> list[_Measured]:
    margins = _Margin(samples, base)
    measured = []
    for quantile in quantiles:
        margin = margins.quantile(quantile)
        measured.append(_Measured(margin, margins.loss(margin, quantile)))
    return measured


def _choose(proportional: _Measured, fixed: _Measured) -> Experts:
    in_proportion, constant = proportional.margin, fixed.margin
    loss = np.concatenate([proportional.loss, fixed.loss])
    gain = np.concatenate([1 + in_proportion, np.ones_like(constant)])
    offset = np.concatenate([np.float32(FLOOR) * in_proportion, constant])
    count = len(in_proportion)
    candidate = np.concatenate([np.arange(count), np.arange(count)])
    is_seasonal = candidate < SEASONAL_COUNT
    is_proportional = np.arange(len(candidate)) < count
    rows = np.concatenate(
        [
            _least(loss, np.flatnonzero(is_seasonal), SEASONAL_EXPERTS),
            *(
                _least(loss, np.flatnonzero(~is_seasonal & kind), PERSISTENCE_EXPERTS // 2)
                for kind in (is_proportional, ~is_proportional)
            ),
        ]
    )
    return Experts(
        candidate=candidate[rows][None],
        gain=np.take_along_axis(gain, rows, axis=0)[None],
        offset=np.take_along_axis(offset, rows, axis=0)[None],
        loss=np.take_along_axis(loss, rows, axis=0)[None],
    )


def _least(loss: Array, among: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the rows `[count, w]` of least loss among some, the best first."""
    order = np.argsort(loss[among], axis=0, kind="stable")[:count]
    chosen: NDArray[np.intp] = among[order]
    return chosen
