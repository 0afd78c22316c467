"""Experts forecast each day from the others alone, and each is right for its kind of load."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.forecast import History
from gputide.forecast.band.days import Days, Single, cut_days
from gputide.forecast.band.experts import FULL_DAYS, centre_experts, upper_experts
from gputide.forecast.band.season import relate
from gputide.forecast.band.view import View, look
from gputide.forecast.model import FloatArray

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone
BINS = 288
FEW, FULL = 4, 8
SECOND, HOURLY, LAST_DAY, LAST_WEEK = range(4)
"""Places of some upper experts where there are enough days."""


def _cut(values: FloatArray) -> Days:
    history = History(values=values, step_seconds=300, start_local=START)
    return cut_days(history, slice(None))


def _noise(count: int, *, seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).gamma(5, 1, (2, count * BINS))


def _levels(levels: list[float]) -> Days:
    """Return days of one level each; what comes back is in units of their mean."""
    return _cut(np.repeat(np.array(levels), BINS)[None] / np.mean(levels))


def _views(days: Days) -> tuple[View, View]:
    return look(days, relate(days))


def _experts(view: View) -> list[Single]:
    return [upper_experts(view), centre_experts(view)]


@pytest.mark.parametrize(("count", "uppers"), [(2, FEW), (9, FEW), (FULL_DAYS, FULL), (16, FULL)])
def test_every_known_day_is_forecast_at_sampled_bins_and_the_coming_one_at_all(
    count: int, uppers: int
) -> None:
    days = _cut(_noise(count))
    past, coming = _views(days)

    for view, targets, bins in ((past, count, len(days.sampled_bins)), (coming, 1, BINS)):
        assert upper_experts(view).shape == (uppers, 2, targets, bins)
        assert centre_experts(view).shape == (5, 2, targets, bins)


@settings(deadline=None, max_examples=20)
@given(count=st.integers(2, 16), target=st.integers(0, 15), factor=st.sampled_from([0, 0.5, 7]))
def test_no_expert_uses_the_day_that_it_forecasts(count: int, target: int, factor: float) -> None:
    days = _cut(_noise(count, seed=count))
    target %= count
    season = relate(days)
    # Bins beside midnight are neighbours of other days; the rest is the target's own.
    own = (slice(None), target, slice(1, BINS - 1))
    peak, mean = days.peak.copy(), days.mean.copy()
    peak[own] *= factor
    mean[own] *= factor

    # The season is held: it is tested where it is made.
    views = [look(seen, season)[0] for seen in (days, replace(days, peak=peak, mean=mean))]

    # What the hour does in any day is divided by the held levels: those of other days only.
    for before, after in zip(*map(_experts, views), strict=True):
        np.testing.assert_allclose(after[:, :, target], before[:, :, target], rtol=1e-5)


@settings(deadline=None, max_examples=20)
@given(count=st.integers(2, 16), seed=st.integers(0, 1000))
def test_forecasts_are_finite_and_not_negative(count: int, seed: int) -> None:
    values = _noise(count, seed=seed)
    values[np.random.default_rng(seed).random(values.shape) < 0.3] = 0
    values[1] = 0

    for view in _views(_cut(values)):
        for experts in _experts(view):
            assert np.isfinite(experts).all()
            assert (experts >= 0).all()


@pytest.mark.parametrize("count", [3, 9, 10, 16])
def test_days_that_repeat_are_forecast_as_they_are(count: int) -> None:
    day = np.repeat(np.random.default_rng(3).uniform(1, 2, 24), BINS // 24)
    days = _cut(np.tile(day, count)[None])
    coming = _views(days)[1]

    for expert in upper_experts(coming):
        assert (expert[0, 0] >= days.peak[0, 0] * 0.94).all()
        assert expert[0, 0] == pytest.approx(days.peak[0, 0], rel=1.0)
    assert centre_experts(coming)[0, 0, 0] == pytest.approx(days.mean[0, 0], rel=1e-3)


def test_few_days_are_bounded_by_their_highest_and_their_second_highest() -> None:
    coming = upper_experts(_views(_levels([1, 4, 2, 3]))[1])

    assert coming[1] == pytest.approx(np.full((1, 1, BINS), 4 / 2.5), rel=1e-5)
    assert coming[2] == pytest.approx(np.full((1, 1, BINS), 3 / 2.5), rel=1e-5)


def test_a_bound_is_the_higher_the_more_days_differ() -> None:
    steady, varied = (_views(_levels(levels))[1] for levels in ([2.0, 2, 2, 2], [1.0, 3, 1, 3]))

    assert upper_experts(steady)[0] == pytest.approx(centre_experts(steady)[0], rel=1e-3)
    assert (upper_experts(varied)[0] > 1.3 * centre_experts(varied)[0]).all()


def test_a_known_day_is_bounded_by_the_highest_two_of_the_others() -> None:
    past = upper_experts(_views(_levels([1, 4, 2, 3]))[0])[..., 0] * 2.5

    assert past[1, 0] == pytest.approx([4, 3, 4, 4], rel=1e-5)
    assert past[2, 0] == pytest.approx([3, 2, 3, 2], rel=1e-5)


def test_of_two_days_each_is_bounded_by_the_other_and_the_coming_one_by_both() -> None:
    past, coming = map(upper_experts, _views(_levels([1, 3])))

    for expert in past[1:3]:
        assert expert[0, :, 0] * 2 == pytest.approx([3, 1], rel=1e-5)
    assert coming[1:3, 0, 0, 0] * 2 == pytest.approx([3, 1], rel=1e-5)


def test_days_of_equal_peaks_bound_each_other_by_it() -> None:
    for view in _views(_levels([2, 2, 1])):
        assert upper_experts(view)[1, 0, :, 0] * 5 / 3 == pytest.approx(2, rel=1e-5)


def test_the_last_day_and_the_last_week_are_repeated() -> None:
    levels = [float(n) for n in range(10, 24)]
    coming = upper_experts(_views(_levels(levels))[1])[:, 0, 0, BINS // 2] * np.mean(levels)

    assert coming[LAST_DAY] == pytest.approx(23, rel=1e-4)
    # Days one and two weeks before the coming one are 17 and 10; the nearer counts twice.
    assert coming[LAST_WEEK] == pytest.approx((2 * 17 + 10) / 3, rel=1e-4)
    assert coming[SECOND] == pytest.approx(22, rel=1e-4)


def test_jobs_on_the_hour_are_expected_on_each_hour() -> None:
    hour = np.array([5.0] + [1.0] * 11)
    coming = upper_experts(_views(_cut(np.tile(hour, 24 * 12)[None]))[1])[HOURLY, 0, 0]
    by_hour = coming.reshape(24, 12)

    assert by_hour[:, 0] / by_hour[:, 1] == pytest.approx(np.full(24, 5), rel=0.01)


def test_a_weekend_is_bounded_by_weekends_rather_than_by_workdays() -> None:
    week = [10.0] * 5 + [2.0] * 2
    levels = np.tile(week, 3)[:19]  # ends on a Friday
    days = _levels([*levels])
    saturday = upper_experts(_views(days)[1])[:, 0, 0].mean(axis=1) * levels.mean()

    alike = saturday[[LAST_WEEK, 4, 5]]
    assert alike == pytest.approx([2, 2, 2], rel=0.1)
    assert saturday[LAST_DAY] == pytest.approx(10, rel=1e-3)


def test_a_level_that_grew_is_carried_on() -> None:
    levels = [10.0] * 13 + [15.0]
    days = _levels(levels)
    grown = centre_experts(_views(days)[1])[4, 0, 0].mean() * np.mean(levels)
    usual = centre_experts(_views(days)[1])[1, 0, 0].mean() * np.mean(levels)

    bound = upper_experts(_views(days)[1])[6, 0, 0].mean() * np.mean(levels)

    assert grown > 1.3 * usual
    assert bound > 1.3 * usual
