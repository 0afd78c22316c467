import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.forecast.score import coverage_ratio, pinball_loss, pinball_loss_ratio, wape_ratio

DEMAND = st.lists(st.floats(0, 1e6), min_size=1, max_size=30)


def test_a_shortfall_costs_the_quantile_and_an_excess_its_complement() -> None:
    assert pinball_loss([10.0], [8.0], 0.95) == pytest.approx(1.9)
    assert pinball_loss([8.0], [10.0], 0.95) == pytest.approx(0.1)


def test_scores_are_per_row_and_forecasts_broadcast() -> None:
    actual = np.array([[1.0, 3.0], [5.0, 5.0]])

    assert pinball_loss(actual, 3.0, 0.5).tolist() == [0.5, 1.0]
    assert coverage_ratio(actual, np.array([2.0, 6.0])).tolist() == [1.0, 0.5]
    assert wape_ratio(actual, 4.0) == pytest.approx([1.0, 0.2])


def test_unknown_actuals_carry_no_loss() -> None:
    actual = [np.nan, 4.0, np.nan]

    assert pinball_loss(actual, 2.0, 0.9) == pytest.approx(1.8)
    assert coverage_ratio(actual, 2.0) == 0
    assert wape_ratio(actual, 2.0) == pytest.approx(0.5)
    assert pinball_loss_ratio(actual, 2.0, 0.9) == pytest.approx(0.45)


def test_nothing_known_scores_nan() -> None:
    actual = [np.nan, np.nan]

    assert np.isnan(pinball_loss(actual, 2.0, 0.9))
    assert np.isnan(coverage_ratio(actual, 2.0))
    assert np.isnan(wape_ratio(actual, 2.0))
    assert np.isnan(pinball_loss_ratio([0.0, 0.0], 2.0, 0.9))


def test_a_bound_above_a_censored_value_is_neither_right_nor_wrong() -> None:
    actual, is_censored = np.array([5.0, 5.0]), np.array([True, False])

    assert pinball_loss(actual, 7.0, 0.9, is_censored=is_censored) == pytest.approx(0.1)
    assert pinball_loss(actual, 4.0, 0.9, is_censored=is_censored) == pytest.approx(0.9)
    assert coverage_ratio(actual, 7.0, is_censored=is_censored) == 1
    assert coverage_ratio(actual, 4.0, is_censored=is_censored) == 0
    assert np.isnan(coverage_ratio(actual[:1], 7.0, is_censored=is_censored[:1]))


@given(actual=DEMAND, quantile=st.floats(0.01, 0.99))
def test_no_constant_beats_the_empirical_quantile(actual: list[float], quantile: float) -> None:
    best = np.quantile(actual, quantile, method="inverted_cdf")

    least = pinball_loss(actual, best, quantile)

    for other in (*actual, float(np.mean(actual))):
        assert least <= pinball_loss(actual, other, quantile) + 1e-6 * (1 + best)


@given(actual=DEMAND, bound=st.floats(0, 1e6))
def test_half_the_absolute_error_is_the_pinball_loss_of_the_median(
    actual: list[float], bound: float
) -> None:
    error = np.mean(np.abs(np.array(actual) - bound))

    assert pinball_loss(actual, bound, 0.5) == pytest.approx(error / 2)
