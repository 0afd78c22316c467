from datetime import datetime

import numpy as np
import pytest

from gputide.forecast import History
from gputide.forecast.band.calibration import best_factors, evidence_of, losses
from gputide.forecast.band.days import cut_days

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone


def _history(marks: bool = False) -> History:  # noqa: FBT001, FBT002 - a test's own switch
    values = np.random.default_rng(1).gamma(3, 2, (3, 7 * 288))
    if not marks:
        return History(values=values, step_seconds=300, start_local=START)
    clipped = np.minimum(values, 8)
    return History(values=clipped, step_seconds=300, start_local=START, is_censored=clipped == 8)


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99])
def test_no_other_factor_has_a_smaller_loss(quantile: float) -> None:
    evidence = evidence_of(cut_days(_history(), slice(None)), quantile)
    bounds = np.random.default_rng(2).uniform(0.5, 3, evidence.values.shape).astype(np.float32)

    best = best_factors(bounds, evidence)[:, None]

    least = losses(bounds * best, evidence)
    for other in (0.8, 0.95, 1.05, 1.3):
        assert (least <= losses(bounds * best * np.float32(other), evidence) * 1.002).all()


def test_the_factor_undoes_any_scale_of_the_bounds() -> None:
    evidence = evidence_of(cut_days(_history(), slice(None)), 0.9)
    bounds = np.ones_like(evidence.values)

    plain, doubled = best_factors(bounds, evidence), best_factors(2 * bounds, evidence)

    assert doubled == pytest.approx(plain / 2, rel=0.02)


def test_censored_samples_do_not_pull_the_factor_down() -> None:
    exact = evidence_of(cut_days(_history(), slice(None)), 0.8)
    marked = _history(marks=True)
    unmarked = History(values=marked.values, step_seconds=300, start_local=START)
    bounds = np.ones_like(exact.values)

    with_marks, without = (
        best_factors(bounds, evidence_of(cut_days(h, slice(None)), 0.8)) for h in (marked, unmarked)
    )

    assert (with_marks >= without - 1e-3).all()


def test_a_bound_above_a_censored_sample_costs_nothing() -> None:
    evidence = evidence_of(cut_days(_history(marks=True), slice(None)), 0.9)
    high = np.full_like(evidence.values, 100)

    assert evidence.is_exact is not None
    cost = losses(high, evidence)
    share_exact = (evidence.weight * evidence.is_exact).sum(axis=1)
    mean = (evidence.weight * evidence.is_exact * evidence.values).sum(axis=1)

    assert cost == pytest.approx(0.1 * (100 * share_exact - mean), rel=1e-3)


def test_recent_days_weigh_more_and_lost_ones_nothing() -> None:
    values = np.ones((1, 4 * 288))
    values[:, 288:576] = np.nan
    history = History(values=values, step_seconds=300, start_local=START)

    weight = evidence_of(cut_days(history, slice(None)), 0.9).weight.reshape(4, -1).sum(axis=1)

    assert weight[1] == 0
    assert weight[0] < weight[2] < weight[3]
    assert weight.sum() == pytest.approx(1)
