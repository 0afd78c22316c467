"""How far to stretch a bound so that the past days would have kept to it."""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.days import Days, Single

MAX_LOG_FACTOR = 3.0
BUCKETS = 256
RECENT_HALF_LIFE_DAYS = 10.0
SMALLEST = np.float32(1e-6)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What came on the past days: `values[N, D * S]` at the sampled bins, 0 where unknown."""

    values: Single
    weight: Single
    """[N, D * S], sums to 1 over each row: recent days weigh more, unknown samples nothing."""

    is_exact: Single | None
    """[N, D * S] 0 where censored: a bound above proves nothing there; None: all are exact."""

    log_values: Single
    """[N, D * S] their logarithms."""

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
    values = np.where(is_known, days.samples, np.float32(0)).reshape(flat)
    return Evidence(
        values=values,
        log_values=np.log(np.maximum(values, SMALLEST)),
        weight=weight.reshape(flat),
        is_exact=is_exact,
        quantile=quantile,
    )


def best_factors(bounds: Single, evidence: Evidence) -> Single:
    """Return for each row of `bounds[..., N, D * S]` the factor with the least pinball loss.

    That is the quantile of value / bound, weighted with the bound, read from a histogram of its
    logarithm. A censored value that is covered counts as covered just as often as asked for.
    """
    bounds = np.maximum(bounds, SMALLEST)
    stake = bounds * evidence.weight
    wanted = evidence.quantile * stake.sum(axis=-1, dtype=np.float64)
    if evidence.is_exact is not None:
        quantile = np.float32(evidence.quantile)
        stake *= quantile + (1 - quantile) * evidence.is_exact
    place = evidence.log_values - np.log(bounds)
    place *= np.float32(BUCKETS / 2 / MAX_LOG_FACTOR)
    place += np.float32(BUCKETS / 2)
    np.clip(place, 0, BUCKETS - 1, out=place)
    bucket = place.astype(np.intp).reshape(-1, place.shape[-1])
    bucket += np.arange(len(bucket))[:, None] * BUCKETS
    mass = np.bincount(bucket.ravel(), stake.ravel(), minlength=len(bucket) * BUCKETS)
    mass = mass.reshape(*wanted.shape, BUCKETS)
    covered = np.cumsum(mass, axis=-1)
    last = np.argmax(covered >= wanted[..., None] * (1 - 1e-9), axis=-1)[..., None]
    inside = np.take_along_axis(mass, last, axis=-1)
    before = np.take_along_axis(covered, last, axis=-1) - inside
    part = (wanted[..., None] - before) / np.maximum(inside, 1e-30)
    logs = ((last + np.clip(part, 0, 1)) / BUCKETS * 2 - 1) * MAX_LOG_FACTOR
    return np.asarray(np.exp(logs[..., 0]), np.float32)


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
