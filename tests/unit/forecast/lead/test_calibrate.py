"""Margins reach the wanted quantile; censored outcomes never count as covered."""

import numpy as np
import pytest

from gputide.forecast.lead.calibrate import (
    PERSISTENCE_EXPERTS,
    SEASONAL_EXPERTS,
    Experts,
    Samples,
    calibrate,
)
from gputide.forecast.lead.candidates import SEASONAL_COUNT

CANDIDATES = SEASONAL_COUNT + 6


def samples_of(actual: np.ndarray, is_censored: np.ndarray | None = None) -> Samples:
    """Return samples whose candidates all say 1."""
    candidates = np.ones((CANDIDATES, *actual.shape), dtype=np.float32)
    return Samples(candidates=candidates, actual=actual.astype(np.float32), is_censored=is_censored)


def bound(experts: Experts, quantile: int = 0) -> float:
    return float(experts.gain[quantile, 0, 0] + experts.offset[quantile, 0, 0])


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99])
def test_the_bound_is_exceeded_as_often_as_the_quantile_allows(quantile: float) -> None:
    actual = np.random.default_rng(1).gamma(2, 1, (1, 2000))

    experts = calibrate(samples_of(actual), [quantile])

    assert np.mean(actual <= bound(experts)) == pytest.approx(quantile, abs=0.002)


def test_seasonal_experts_come_first_and_persistence_always_stays() -> None:
    experts = calibrate(samples_of(np.random.default_rng(1).gamma(2, 1, (3, 500))), [0.9])

    assert experts.candidate.shape == (1, SEASONAL_EXPERTS + PERSISTENCE_EXPERTS, 3)
    assert (experts.candidate[:, :SEASONAL_EXPERTS] < SEASONAL_COUNT).all()
    assert (experts.candidate[:, SEASONAL_EXPERTS:] >= SEASONAL_COUNT).all()


def test_the_better_candidate_has_the_lower_loss() -> None:
    actual = np.random.default_rng(1).gamma(2, 1, (1, 1000)).astype(np.float32)
    candidates = np.ones((CANDIDATES, 1, 1000), dtype=np.float32)
    candidates[7] = actual

    experts = calibrate(Samples(candidates=candidates, actual=actual, is_censored=None), [0.9])

    assert experts.candidate[0, 0, 0] == 7
    assert experts.loss[0, 0, 0] == pytest.approx(0, abs=1e-6)


def test_a_candidate_known_too_rarely_is_not_judged() -> None:
    actual = np.ones((1, 1000), dtype=np.float32)
    candidates = np.full((CANDIDATES, 1, 1000), 2, dtype=np.float32)
    candidates[3, 0, :600] = np.nan

    experts = calibrate(Samples(candidates=candidates, actual=actual, is_censored=None), [0.9])

    assert 3 not in experts.candidate[0, np.isfinite(experts.loss[0, :, 0]), 0]


def test_lower_bounds_that_the_forecast_covers_decide_nothing() -> None:
    rng = np.random.default_rng(1)
    demand = rng.gamma(9, 0.1, (1, 4000))
    is_censored = rng.random(demand.shape) < 0.4
    seen = np.where(is_censored, demand / 3, demand)

    plain = bound(calibrate(samples_of(seen), [0.9]))
    aware = bound(calibrate(samples_of(seen, is_censored), [0.9]))

    assert plain < aware
    assert np.mean(demand <= aware) == pytest.approx(0.9, abs=0.01)


def test_uncensored_samples_give_the_same_whether_flagged_or_not() -> None:
    actual = np.random.default_rng(1).gamma(2, 1, (1, 999))

    plain = calibrate(samples_of(actual), [0.9])
    flagged = calibrate(samples_of(actual, np.zeros(actual.shape, dtype=np.bool_)), [0.9])

    assert bound(flagged) == pytest.approx(bound(plain), rel=0.02)
