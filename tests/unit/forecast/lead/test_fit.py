"""A fitted forecaster bounds demand: sane on any history, calibrated on honest ones."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import SettingError
from gputide.forecast import History, Lead
from gputide.forecast.lead import fit_lead
from gputide.forecast.lead.candidates import SEASONAL_COUNT
from gputide.forecast.lead.forecaster import CAP_RATIO, LeadForecaster
from gputide.forecast.model import BoolArray, FloatArray

STEP_SECONDS = 900
DAY = 86_400 // STEP_SECONDS
LEAD = Lead(first_step=1, last_step=2)
QUANTILES = (0.8, 0.95, 0.99)


def fit(values: FloatArray, is_censored: BoolArray | None = None) -> LeadForecaster:
    history = History(
        values=values,
        step_seconds=STEP_SECONDS,
        start_local=datetime(2026, 1, 5),  # noqa: DTZ001  a local time has no zone
        is_censored=is_censored,
    )
    return fit_lead(history, lead=LEAD, quantiles=QUANTILES)


def newest_of(forecaster: LeadForecaster, values: FloatArray) -> FloatArray:
    """Return the newest columns that an issue needs, unknown ones in front of a short history."""
    missing = max(0, forecaster.needed_steps - values.shape[1])
    padded = np.pad(values, ((0, 0), (missing, 0)), constant_values=np.nan)
    return padded[:, -forecaster.needed_steps :]


def issue(values: FloatArray) -> FloatArray:
    forecaster = fit(values)
    return forecaster.issue(newest_of(forecaster, values), steps_since_fit=0)[..., 0]


def office_load(days: float, *, seed: int = 3) -> FloatArray:
    """Return `[1, T]`: 5 at night, 25 in office hours, 10 % noise."""
    steps = round(days * DAY)
    hour = np.arange(steps) % DAY / DAY * 24
    base = np.where((hour >= 8) & (hour < 18), 25.0, 5.0)
    return (base * np.random.default_rng(seed).normal(1, 0.1, steps).clip(0.5))[None]


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    days=st.floats(0.2, 15),
    lost_ratio=st.sampled_from([0, 0.05, 0.6]),
    kind=st.sampled_from(["gamma", "counts", "bursts"]),
)
def test_bounds_are_finite_not_negative_rising_and_capped(
    seed: int, days: float, lost_ratio: float, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    shape = (1, round(days * DAY))
    values = rng.gamma(2, 1, shape) if kind == "gamma" else rng.poisson(0.7, shape).astype(float)
    if kind == "bursts":
        values = np.where(rng.random(shape) < 0.01, 1e6, values)
    values[rng.random(shape) < lost_ratio] = np.nan
    values[0, -2:] = 1.0

    upper = issue(values)

    assert np.isfinite(upper).all()
    assert (upper >= 0).all()
    assert (np.diff(upper) >= 0).all()
    assert (upper <= CAP_RATIO * np.nanmax(values) * (1 + 1e-6)).all()


@pytest.mark.parametrize("scale", [1e-6, 3.7, 1e9])
def test_the_bound_scales_with_the_demand(scale: float) -> None:
    values = office_load(10)

    np.testing.assert_allclose(issue(values * scale), scale * issue(values), rtol=1e-3)


def test_a_constant_load_is_bounded_by_itself() -> None:
    np.testing.assert_allclose(issue(np.full((1, 8 * DAY), 3.0)), 3.0, rtol=1e-5)


def test_no_load_is_bounded_by_none() -> None:
    np.testing.assert_array_equal(issue(np.zeros((1, 8 * DAY))), 0.0)


def test_one_spike_in_a_week_leaves_the_other_minutes_alone() -> None:
    values = np.full((1, 8 * DAY), 3.0)
    values[0, 4 * DAY + 7] = 3000.0

    assert issue(values)[1] == pytest.approx(3.0, rel=0.1)


def test_a_jump_that_comes_every_day_is_bounded_before_it_comes() -> None:
    values = office_load(14)
    forecaster = fit(values)
    at = 8 * DAY // 24  # 08:00, when the office opens
    coming = office_load(1, seed=9)[:, :at]
    newest = newest_of(forecaster, np.concatenate([values, coming], axis=1))

    upper = forecaster.issue(newest, steps_since_fit=at)

    assert upper[1, 0] > 25
    assert forecaster.is_seasonal[1, 0]
    assert forecaster.seasonal_share[1, 0] > 0.9
    assert forecaster.leaders[1, 0] < SEASONAL_COUNT


def test_a_random_walk_rests_on_its_newest_minutes() -> None:
    walk = np.exp(np.cumsum(np.random.default_rng(5).normal(0, 0.05, 14 * DAY)))[None]
    forecaster = fit(walk)

    assert not forecaster.is_seasonal.any()
    assert (forecaster.seasonal_gain < 0.1).all()


def test_a_level_eighty_times_as_high_is_bounded_within_the_hour() -> None:
    values = office_load(14)
    forecaster = fit(values)
    risen = 80 * office_load(0.5, seed=9)
    newest = newest_of(forecaster, np.concatenate([values, risen], axis=1))

    upper = forecaster.issue(newest, steps_since_fit=risen.shape[1])

    assert upper[1, 0] >= 80 * 25
    assert upper[1, 0] <= 80 * 25 * 2


def test_unknown_newest_minutes_leave_the_bound_to_the_season() -> None:
    values = office_load(14)
    forecaster = fit(values)
    at = DAY // 2
    newest = np.full((1, forecaster.needed_steps), np.nan)

    upper = forecaster.issue(newest, steps_since_fit=at)

    assert 25 < upper[1, 0] < 40


def test_a_bound_is_unknown_only_where_nothing_is_known() -> None:
    values = np.concatenate([office_load(14), np.full((1, 14 * DAY), np.nan)])
    forecaster = fit(values)
    newest = newest_of(forecaster, values)

    upper = forecaster.issue(newest, steps_since_fit=3)

    assert np.isfinite(upper[:, 0]).all()
    assert np.isnan(upper[:, 1]).all()


def test_workloads_do_not_touch_each_other() -> None:
    rng = np.random.default_rng(2)
    values = np.concatenate([office_load(9), rng.gamma(2, 1, (40, 9 * DAY))])
    together = fit(values)

    joint = together.issue(newest_of(together, values), steps_since_fit=0)

    np.testing.assert_allclose(joint[:, 0], issue(values[:1]), rtol=1e-4)
    np.testing.assert_allclose(joint[:, 33], issue(values[33:34]), rtol=1e-4)


def test_columns_older_than_two_weeks_change_nothing() -> None:
    values = office_load(20)
    changed = values.copy()
    changed[:, : 6 * DAY] = 999

    np.testing.assert_array_equal(issue(values), issue(changed))


def test_censored_demand_is_bounded_higher_than_the_same_demand_uncensored() -> None:
    values = np.minimum(office_load(14), 26)
    is_censored = values >= 26

    plain, aware = fit(values), fit(values, is_censored)
    newest = newest_of(plain, values)
    noon = [f.issue(newest, steps_since_fit=DAY // 2)[0, 0] for f in (plain, aware)]

    assert noon[1] >= noon[0]


def test_a_history_of_any_step_can_be_fitted() -> None:
    for step_seconds in (15, 3600):
        steps = 3 * 86_400 // step_seconds
        values = np.random.default_rng(1).gamma(2, 1, (1, steps))
        history = History(
            values=values,
            step_seconds=step_seconds,
            start_local=datetime(2026, 1, 5),  # noqa: DTZ001  a local time has no zone
        )
        forecaster = fit_lead(history, lead=LEAD, quantiles=(0.95,))

        upper = forecaster.issue(newest_of(forecaster, values), steps_since_fit=1)

        assert 1 < upper[0, 0] < 15


@pytest.mark.parametrize("quantiles", [(), (0.9, 0.8), (0.0,), (1.0,), (0.5, 0.5)])
def test_quantiles_that_do_not_ascend_within_0_and_1_are_refused(
    quantiles: tuple[float, ...],
) -> None:
    history = History(
        values=office_load(8),
        step_seconds=STEP_SECONDS,
        start_local=datetime(2026, 1, 5),  # noqa: DTZ001  a local time has no zone
    )
    with pytest.raises(SettingError, match="quantiles"):
        fit_lead(history, lead=LEAD, quantiles=quantiles)


def test_too_few_newest_columns_are_refused() -> None:
    forecaster = fit(office_load(8))

    with pytest.raises(SettingError, match="newest: must have the shape"):
        forecaster.issue(np.ones((1, 3)), steps_since_fit=0)


def test_no_workloads_give_no_bounds() -> None:
    forecaster = fit(np.empty((0, 3 * DAY)))

    upper = forecaster.issue(np.empty((0, forecaster.needed_steps)), steps_since_fit=0)

    assert upper.shape == (len(QUANTILES), 0)


def test_a_history_of_minutes_is_not_yet_seasonal() -> None:
    forecaster = fit(np.full((1, 3), 2.0))

    assert not forecaster.is_seasonal.any()
    assert (forecaster.seasonal_gain == -np.inf).all()
