"""From many forecasts to one: weights by past loss, the level of the last hours, one factor."""

from collections.abc import Mapping, Sequence

import numpy as np

from gputide.forecast.band.calibration import Evidence, best_factors, losses
from gputide.forecast.band.days import Days, Single
from gputide.forecast.band.experts import day_weights

EXPERT_SHARPNESS = 3.0
"""An expert whose loss is a third above the best one's weighs 1/e of it."""

LIVE_SHARPNESS = 15.0
LIVE_HOURS = 3
LIVE_CHOICES = ((0.0, 1.0), (0.5, 3.0), (0.5, 12.0), (1.0, 3.0), (1.0, 12.0))
"""Share of the last hours' deviation that is carried on, and the hours after which 1/e of it is left."""

LIVE_FLOOR = 0.1
MAX_LOG_LIVE = 1.5


def mix(experts: Sequence[Single], evidence: Evidence) -> Single:
    """Return the experts' mean `[N, E + 1, B]`, each calibrated and weighted by its past loss."""
    past = evidence.values.shape[1]
    calibrated = []
    loss = np.empty((len(experts), len(experts[0])), np.float32)
    for at, expert in enumerate(experts):
        fitted = expert * best_factors(expert[:, :past], evidence)[:, None, None]
        loss[at] = losses(fitted[:, :past], evidence)
        calibrated.append(fitted)
    weights = _weights(loss, EXPERT_SHARPNESS)
    return np.asarray(np.einsum("kn,kneb->neb", weights, np.stack(calibrated)), np.float32)


def with_live_level(forecast: Single, deviation: Single, evidence: Evidence) -> Single:
    """Return the coming day `[N, B]` with as much of the live deviation as the past days bear out.

    `deviation[N, E + 1]` is the logarithm of the level of the hours before each forecast day against
    what the season made one expect; the result is calibrated.
    """
    past = evidence.values.shape[1]
    hours = np.arange(forecast.shape[2], dtype=np.float32) * 24 / forecast.shape[2]
    loss = np.empty((len(LIVE_CHOICES), len(forecast)), np.float32)
    days = []
    for at, (share, decay_hours) in enumerate(LIVE_CHOICES):
        carried = np.float32(share) * np.exp(-hours / np.float32(decay_hours))
        moved = forecast * np.exp(deviation[:, :, None] * carried)
        moved *= best_factors(moved[:, :past], evidence)[:, None, None]
        loss[at] = losses(moved[:, :past], evidence)
        days.append(moved[:, past])
    weights = _weights(loss, LIVE_SHARPNESS)
    return np.asarray(np.einsum("kn,knb->nb", weights, np.stack(days)), np.float32)


def live_deviation(days: Days, targets: range) -> Single:
    """Return log of the last hours' level before each target over the season's, `[N, E + 1]`."""
    bins = max(1, days.mean.shape[2] * LIVE_HOURS // 24)
    ending = days.mean[:, :, -bins:].mean(axis=2)
    eve = range(targets[0] - 1, targets[-1])
    weights = day_weights(days.weight, eve, half_life_days=5, weekly=3)
    expected = (weights @ ending[:, :, None])[:, :, 0]
    actual = ending[:, np.array(eve)]
    deviation = np.log((actual + LIVE_FLOOR) / (expected + LIVE_FLOOR))
    deviation = np.where(weights.any(axis=2), deviation, 0)
    return np.asarray(np.clip(deviation, -MAX_LOG_LIVE, MAX_LOG_LIVE), np.float32)


def awake(experts: Mapping[str, Single], names: Sequence[str]) -> list[Single]:
    """Return those of the named experts that could be tried on every past day."""
    return [experts[name] for name in names if not np.isnan(experts[name]).any()]


def _weights(loss: Single, sharpness: float) -> Single:
    """Return weights `[K, N]` that fall with the loss relative to the best one, summing to 1."""
    best = np.maximum(loss.min(axis=0), 1e-9)
    weights = np.exp(-sharpness * (loss / best - 1))
    return np.asarray(weights / weights.sum(axis=0), np.float32)
