"""Mix the experts: the lower one's loss, on past days and in the last hours, the more it counts."""

import numpy as np

from gputide.forecast.lead.calibrate import FLOOR, Experts
from gputide.forecast.lead.plan import Plan
from gputide.forecast.lead.windows import Array

SHARPNESS = 15.0
"""How strongly a lower loss is preferred: a loss 1/15 above the least counts e times less."""

RECENT_WEIGHT = 0.3
"""What the last hours count beside the trailing days, at a short lead."""

FADING_SECONDS = 3 * 3600
"""The longer the lead, the less: at this one half as much."""


def bound_by(experts: Experts, quantile: int, candidates: Array, *, workload_axis: int) -> Array:
    """Return each expert's bound `[K, ...]` from `candidates[C, ...]`, for one of the quantiles."""
    count, workloads = experts.candidate.shape[1:]
    shape = [count, *[1] * (candidates.ndim - 1)]
    shape[workload_axis] = workloads
    index = experts.candidate[quantile].reshape(shape)
    bounds = np.take_along_axis(candidates, index, axis=0)
    bounds *= experts.gain[quantile].reshape(shape)
    bounds += experts.offset[quantile].reshape(shape)
    at_least_0: Array = np.maximum(bounds, 0, out=bounds)
    return at_least_0


def pinball(actual: Array, bounds: Array, quantile: float) -> Array:
    """Return the pinball loss of each bound; NaN where either is unknown."""
    miss = actual - bounds
    loss: Array = np.maximum(np.float32(quantile) * miss, np.float32(quantile - 1) * miss)
    return loss


def recent_weight(plan: Plan) -> float:
    """Return what the last hours count beside the trailing days."""
    return RECENT_WEIGHT / (1 + plan.lead.last_step * plan.step_seconds / FADING_SECONDS)


def blend_losses(past: Array, recent: Array, weight: Array, plan: Plan) -> Array:
    """Return the loss of each expert now, `[K, ...]`, from past days and the last hours.

    `recent` is the weighted sum of the known recent losses, `weight` that of their weights, 0 to 1.
    """
    share = np.float32(recent_weight(plan))
    blended: Array = (past + share * recent) / (1 + share * weight)
    return blended


def mix(bounds: Array, shares: Array) -> Array:
    """Return the mixture `[...]` of `bounds[K, ...]`; NaN where a share meets an unknown bound."""
    with np.errstate(invalid="ignore"):
        mixture = np.where(shares > 0, shares * bounds, 0).sum(axis=0)
    return np.where(shares.sum(axis=0) > 0, mixture, np.float32(np.nan))


def known_shares(bounds: Array, losses: Array) -> Array:
    """Return the shares `[K, ...]` of those experts that know a bound."""
    return shares_of(np.where(np.isnan(bounds), np.float32(np.inf), losses))


def lift_by(mixture: Array, lift: Array) -> Array:
    """Return the mixture raised by a part of it and of `FLOOR`."""
    lifted: Array = mixture + lift * (mixture + np.float32(FLOOR))
    return lifted


def shortfall(actual: Array, mixture: Array) -> Array:
    """Return how far the mixture fell short, in the measure of `lift_by`; 0 where unknown."""
    ratio = (actual - mixture) / (mixture + np.float32(FLOOR))
    short: Array = np.where(ratio > 0, ratio, np.float32(0))
    return short


def shares_of(losses: Array) -> Array:
    """Return shares `[K, ...]` that fall with the loss and sum to 1; all 0 where none is finite."""
    least = losses.min(axis=0)
    least = np.where(np.isfinite(least), least, np.float32(0))
    shares = np.exp(-np.float32(SHARPNESS) * (losses - least) / (least + np.float32(1e-6)))
    total = shares.sum(axis=0)
    normalised: Array = np.divide(shares, total, out=shares, where=total > 0)
    return normalised
