"""How good a forecast was: pinball loss, coverage, weighted absolute percentage error.

All take `actual[..., T]` against a forecast that broadcasts to it, score over the last axis and
return `[...]`. An unknown (NaN) actual carries no loss; where nothing is known the score is NaN. A
censored actual is a lower bound of the demand: a forecast above it cannot be called wrong.
"""

import numpy as np
from numpy.typing import ArrayLike

from gputide.forecast.model import BoolArray, FloatArray


def pinball_loss(
    actual: ArrayLike, bound: ArrayLike, quantile: float, *, is_censored: BoolArray | None = None
) -> FloatArray:
    """Return the mean pinball loss of a quantile, in the unit of `actual`.

    >>> float(pinball_loss([1.0, 3.0], [2.0, 2.0], 0.9))
    0.5
    """
    shortfall = _shortfall(actual, bound)
    loss = np.maximum(quantile * shortfall, (quantile - 1) * shortfall)
    if is_censored is not None:
        loss = np.where(is_censored & (shortfall < 0), 0.0, loss)
    return _known_mean(loss)


def pinball_loss_ratio(
    actual: ArrayLike, bound: ArrayLike, quantile: float, *, is_censored: BoolArray | None = None
) -> FloatArray:
    """Return the pinball loss divided by the mean of the known actuals; NaN where that is 0."""
    loss = pinball_loss(actual, bound, quantile, is_censored=is_censored)
    return _ratio(loss, _known_mean(np.asarray(actual, float)))


def coverage_ratio(
    actual: ArrayLike, bound: ArrayLike, *, is_censored: BoolArray | None = None
) -> FloatArray:
    """Return the share of known actuals at or below the bound, 0 to 1.

    A censored actual above the bound is a miss; one at or below it decides nothing and is left out.

    >>> float(coverage_ratio([1.0, 3.0, float("nan")], [2.0, 2.0, 2.0]))
    0.5
    """
    shortfall = _shortfall(actual, bound)
    is_covered = np.where(np.isnan(shortfall), np.nan, shortfall <= 0)
    if is_censored is not None:
        is_covered = np.where(is_censored & (shortfall <= 0), np.nan, is_covered)
    return _known_mean(is_covered)


def wape_ratio(actual: ArrayLike, forecast: ArrayLike) -> FloatArray:
    """Return the sum of absolute errors divided by the sum of actuals; NaN where that is 0."""
    error = np.abs(_shortfall(actual, forecast))
    known = np.where(np.isnan(error), np.nan, np.asarray(actual, float))
    return _ratio(_known_mean(error), _known_mean(known))


def _shortfall(actual: ArrayLike, forecast: ArrayLike) -> FloatArray:
    shortfall: FloatArray = np.asarray(actual, float) - np.asarray(forecast, float)
    return shortfall


def _known_mean(values: FloatArray) -> FloatArray:
    """Return the mean over the last axis of what is not NaN, without numpy's warning on nothing."""
    is_known = ~np.isnan(values)
    return _ratio(np.where(is_known, values, 0.0).sum(axis=-1), is_known.sum(axis=-1).astype(float))


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    quotient = np.full(np.broadcast_shapes(np.shape(above), np.shape(below)), np.nan)
    np.divide(above, below, out=quotient, where=np.asarray(below) > 0)
    return quotient
