"""Guard a short history: until a whole week was judged, past days' maximum holds a bound up.

With a week of history the trailing days that can judge a season are three or four. If they are a
weekend, whatever bounds low looks best, and nothing in the record tells that Monday comes. What
does tell is the plain maximum of the days seen: it has no margin that so few days could fool.
"""

from collections.abc import Sequence

import numpy as np

from gputide.forecast.lead.calibrate import SEASONAL_EXPERTS, Experts, Samples
from gputide.forecast.lead.candidates import HIGHEST_OF_ALL_DAYS
from gputide.forecast.lead.mix import FADING_SECONDS, pinball
from gputide.forecast.lead.plan import CALIBRATION_DAYS, WEEK_DAYS, Plan
from gputide.forecast.lead.windows import Array
from gputide.forecast.model import BoolArray

BEST_LIMIT = 3.0
"""The maximum of days is trusted less where it lost more than this many times the best expert."""


def guard_share(
    experts: Experts, samples: Samples, days: Array, plan: Plan, quantiles: Sequence[float]
) -> Array:
    """Return `[Q, w]`: which part of the way up to the maximum of days a bound is raised.

    `days[w, D, n]` are those of the fit. The share falls with each judged day that had a full week
    to look back on, to 0 after a week of them; at short leads, where the newest minutes say more;
    and with what the maximum lost on the judged days beside persistence and the best expert.
    """
    rows = zip(experts.loss, quantiles, strict=True)
    trust = np.stack([_trust(loss, samples, quantile) for loss, quantile in rows])
    return (trust * _unjudged(days) * _lead_weight(plan)).astype(np.float32)


def raise_to_days(mixture: Array, highest: Array, share: Array) -> Array:
    """Return the mixture raised a part of the way to the maximum of days, where that is higher."""
    raised: Array = mixture + share * np.fmax(highest - mixture, np.float32(0))
    return raised


def _unjudged(days: Array) -> Array:
    """Return `[w]`: 1 with a week of history or less, 0 with another week to judge it on.

    A day lost in between makes a history no younger.
    """
    is_seen: BoolArray = np.isfinite(days).max(axis=2)
    oldest = np.where(is_seen.any(axis=1), is_seen.argmax(axis=1), is_seen.shape[1])
    judged = np.clip(is_seen.shape[1] - oldest - WEEK_DAYS, 0, CALIBRATION_DAYS)
    unjudged: Array = 1 - judged / CALIBRATION_DAYS
    return unjudged


def _lead_weight(plan: Plan) -> float:
    lead_seconds = plan.lead.last_step * plan.step_seconds
    return 1 / (1 + (FADING_SECONDS / lead_seconds) ** 2)


def _trust(loss: Array, samples: Samples, quantile: float) -> Array:
    """Return `[w]`, 0 to 1: the square of what others lost over what the maximum of days lost."""
    rival = np.minimum(loss[SEASONAL_EXPERTS:].min(axis=0), BEST_LIMIT * loss.min(axis=0))
    own = _loss_of_highest(samples, quantile)
    with np.errstate(invalid="ignore", divide="ignore"):
        trust: Array = np.clip(np.nan_to_num(rival / own), 0, 1) ** 2
    return trust


def _loss_of_highest(samples: Samples, quantile: float) -> Array:
    """Return its mean pinball loss `[w]` without any margin; NaN where never known."""
    highest = samples.candidates[HIGHEST_OF_ALL_DAYS]
    loss = pinball(samples.actual, highest, quantile)
    if samples.is_censored is not None:
        loss = np.where(samples.is_censored & (samples.actual < highest), 0, loss)
    is_known = ~np.isnan(loss)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(is_known, loss, 0).sum(axis=1) / is_known.sum(axis=1)
    return mean
