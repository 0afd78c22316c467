"""How far to stretch a bound so that the past days would have kept to it."""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.days import Days, Single

MAX_LOG_FACTOR = 3.0
BISECTIONS = 12
RECENT_HALF_LIFE_DAYS = 5.0
SAME_WEEKDAY = 3.0
"""How much more the day a week before the coming one says about it than its age tells."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What really came on the past days that were forecast: `values[N, E, B, S]`, 0 where unknown."""

    values: Single
    weight: Single
    """[N, E, B, S], sums to 1 over each row: recent days weigh more, unknown samples nothing."""

    covered_weight: Single
    """`weight`, but quantile times it where censored: what lies above such a sample proves nothing."""

    quantile: float


def evidence_of(days: Days, past: int, quantile: float) -> Evidence:
    """Return the last `past` days as what bounds are held against."""
    samples = days.samples[:, -past:]
    is_known = ~np.isnan(samples)
    age = np.arange(past, 0, -1)
    by_age = 0.5 ** (age / RECENT_HALF_LIFE_DAYS) * np.where(age % 7 == 0, SAME_WEEKDAY, 1)
    by_day = by_age * (days.weight[:, -past:] > 0)
    weight = by_day[:, :, None, None] * is_known
    weight /= np.maximum(weight.sum(axis=(1, 2, 3), keepdims=True), 1e-9)
    weight = weight.astype(np.float32)
    covered = weight
    if days.is_censored is not None:
        covered = np.where(days.is_censored[:, -past:], np.float32(quantile) * weight, weight)
    return Evidence(
        values=np.where(is_known, samples, np.float32(0)),
        weight=weight,
        covered_weight=covered,
        quantile=quantile,
    )


def best_factors(bounds: Single, evidence: Evidence) -> Single:
    """Return the factor for each row of `bounds[N, E, B]` with the least pinball loss, `[N]`.

    That is the quantile of value / bound, weighted with the bound: found by halving intervals of the
    logarithm, since the share covered only grows with the factor.
    """
    stake = bounds[..., None] * evidence.weight
    covered_stake = bounds[..., None] * evidence.covered_weight
    wanted = evidence.quantile * stake.sum(axis=(1, 2, 3))
    low = np.full(len(bounds), -MAX_LOG_FACTOR, np.float32)
    high = -low
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        stretched = bounds * np.exp(middle)[:, None, None]
        is_covered = evidence.values <= stretched[..., None]
        enough = np.einsum("nebs,nebs->n", covered_stake, is_covered) >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.exp(high)


def losses(bounds: Single, evidence: Evidence) -> Single:
    """Return the pinball loss of each row of `bounds[N, E, B]` on the past days, `[N]`."""
    shortfall = evidence.values - bounds[..., None]
    quantile = np.float32(evidence.quantile)
    missed = quantile * np.einsum("nebs,nebs->n", evidence.weight, np.maximum(shortfall, 0))
    spare = np.where(
        evidence.covered_weight == evidence.weight, np.maximum(-shortfall, 0), np.float32(0)
    )
    return missed + (1 - quantile) * np.einsum("nebs,nebs->n", evidence.weight, spare)
