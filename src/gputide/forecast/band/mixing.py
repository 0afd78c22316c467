"""From many forecasts to one: weights by past loss, the level of the last hours, one factor."""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.calibration import Evidence, best_factors, losses
from gputide.forecast.band.days import Days, Single
from gputide.forecast.band.season import Season

EXPERT_SHARPNESS = 6.0
"""An expert whose loss is a sixth above the best one's weighs 1/e of it."""

LIVE_SHARPNESS = 15.0
LIVE_SHARES = (0.0, 0.5, 1.0)
"""Shares of the last hours' deviation to carry on into the coming day."""

LIVE_PRIORS = (4.0, 1.0, 1.0)
"""The deviation of a few hours is mostly noise until the past days say otherwise."""

LIVE_DECAY_HOURS = np.float32(6.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Live:
    """The last hours' deviation as it fades: logarithms at each bin of the day after them."""

    past: Single
    """[N, D * S] of the known days, at their sampled bins."""

    coming: Single
    """[N, B] of the day to come."""


def live_of(days: Days, season: Season) -> Live:
    """Return how the deviations before each day fade over it."""
    bins = days.mean.shape[2]
    hours = np.arange(bins, dtype=np.float32) * (24 / bins)
    fade = np.exp(-hours / LIVE_DECAY_HOURS)
    past = season.live[:, :-1, None] * fade[days.sampled_bins]
    return Live(past=past.reshape(len(past), -1), coming=season.live[:, -1:] * fade)


def mix(past: Single, coming: Single, evidence: Evidence) -> tuple[Single, Single]:
    """Return the weighted mean of calibrated experts, on the past days and on the coming one.

    `past[K, N, D * S]` and `coming[K, N, B]` are the experts' forecasts; an expert weighs the less,
    the more its loss on the past days exceeds the best one's.
    """
    factors = best_factors(past, evidence)
    past = past * factors[..., None]
    weights = _weights(losses(past, evidence), EXPERT_SHARPNESS)
    return (
        np.einsum("kn,knt->nt", weights, past),
        np.einsum("kn,knb->nb", weights * factors, coming),
    )


def carry_live(past: Single, coming: Single, live: Live, evidence: Evidence) -> Single:
    """Return the coming day `[N, B]`, calibrated, and moved by the deviation of the last hours.

    It is moved as far as that would have paid on the past days.
    """
    moved = np.stack([past * np.exp(share * live.past) for share in LIVE_SHARES])
    factors = best_factors(moved, evidence)
    moved *= factors[..., None]
    weights = _weights(losses(moved, evidence), LIVE_SHARPNESS, np.array(LIVE_PRIORS)[:, None])
    candidates = (np.exp(share * live.coming) for share in LIVE_SHARES)
    move = sum(w[:, None] * c for w, c in zip(weights * factors, candidates, strict=True))
    return np.asarray(coming * move)


def _weights(loss: Single, sharpness: float, prior: float | Single = 1.0) -> Single:
    """Return weights `[K, N]` that fall with the loss relative to the best one, summing to 1."""
    best = np.maximum(loss.min(axis=0), 1e-9)
    weights = prior * np.exp(-sharpness * (loss / best - 1))
    return np.asarray(weights / weights.sum(axis=0), np.float32)
