"""How far to stretch a bound so that the past days would have kept to it."""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.days import Days, Single

MAX_LOG_FACTOR = 3.0
BISECTIONS = 11
RECENT_HALF_LIFE_DAYS = 8.0
SMALLEST_BOUND = np.float32(1e-6)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What came on the past days: `values[N, D * S]` at the sampled bins, 0 where unknown."""

    values: Single
    weight: Single
    """[N, D * S], sums to 1 over each row: recent days weigh more, unknown samples nothing."""

    is_exact: Single | None
    """[N, D * S] 0 where censored: a bound above proves nothing there; None: all are exact."""

    quantile: float


def evidence_of(days: Days, quantile: float) -> Evidence:
    """Return the known days as what bounds are held against."""
    is_known = ~np.isnan(days.samples)
    age = np.arange(days.count, 0, -1)
    by_day = (0.5 ** (age / RECENT_HALF_LIFE_DAYS) * (days.trust > 0)).astype(np.float32)
    weight = by_day[:, :, None] * is_known
    weight /= np.maximum(weight.sum(axis=(1, 2), keepdims=True), np.float32(1e-9))
    flat = (len(weight), -1)
    is_exact = None
    if days.is_censored is not None and days.is_censored.any():
        is_exact = 1 - days.is_censored.reshape(flat).astype(np.float32)
    return Evidence(
        values=np.where(is_known, days.samples, np.float32(0)).reshape(flat),
        weight=weight.reshape(flat),
        is_exact=is_exact,
        quantile=quantile,
    )


def best_factors(bounds: Single, evidence: Evidence) -> Single:
    """Return for each row of `bounds[..., N, D * S]` the factor with the least pinball loss.

    That is the quantile of value / bound, weighted with the bound; found by halving intervals of
    its logarithm, since the covered share only grows with the factor. A censored value that is
    covered counts as covered just as often as asked for.
    """
    bounds = np.maximum(bounds, SMALLEST_BOUND)
    ratio = evidence.values / bounds
    stake = bounds * evidence.weight
    wanted = np.float32(evidence.quantile) * stake.sum(axis=-1)
    if evidence.is_exact is not None:
        quantile = np.float32(evidence.quantile)
        stake *= quantile + (1 - quantile) * evidence.is_exact
    low = np.full(wanted.shape, -MAX_LOG_FACTOR, np.float32)
    step = np.float32(MAX_LOG_FACTOR)
    is_covered = np.empty(ratio.shape, bool)
    covered = np.empty_like(stake)
    for _ in range(BISECTIONS):
        np.less_equal(ratio, np.exp(low + step)[..., None], out=is_covered)
        np.multiply(stake, is_covered, out=covered)
        low += np.where(covered.sum(axis=-1) < wanted, step, 0)
        step /= 2
    return np.exp(low + 2 * step)


def losses(bounds: Single, evidence: Evidence) -> Single:
    """Return the pinball loss of each row of `bounds[..., N, D * S]` on the past days."""
    shortfall = evidence.values - bounds
    spare = np.minimum(shortfall, 0)
    if evidence.is_exact is not None:
        spare *= evidence.is_exact
    # the pinball loss is quantile * shortfall where missed, and (1 - quantile) * spare elsewhere
    np.maximum(shortfall, 0, out=shortfall)
    shortfall *= np.float32(evidence.quantile)
    spare *= np.float32(evidence.quantile - 1)
    shortfall += spare
    return np.asarray(np.einsum("...nt,nt->...n", shortfall, evidence.weight))
