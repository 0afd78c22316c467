from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gputide.forecast import DayBand, History
from gputide.forecast.band import forecast_day
from gputide.forecast.score import coverage_ratio, pinball_loss

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone
Values = NDArray[np.float64]


def _history(values: Values, step_seconds: int = 300, *, marks: Values | None = None) -> History:
    is_censored = None if marks is None else marks.astype(bool)
    return History(
        values=np.atleast_2d(values),
        step_seconds=step_seconds,
        start_local=START,
        is_censored=is_censored,
    )


def _load(days: int, *, rows: int = 1, step_seconds: int = 300, seed: int = 1) -> Values:
    """A daily wave with noise, weekends and a level that drifts, [rows, T]."""
    rng = np.random.default_rng(seed)
    hours = np.arange(days * 86_400 // step_seconds) * step_seconds / 3600
    weekend = np.where(hours // 24 % 7 >= 5, 0.6, 1.0)
    drift = np.repeat(rng.lognormal(0, 0.08, (rows, days)), 86_400 // step_seconds, axis=1)
    wave = 10 + 6 * np.sin((hours - rng.uniform(0, 24, (rows, 1))) / 24 * 2 * np.pi)
    noisy = wave * weekend * drift + rng.normal(0, 0.6, wave.shape)
    return np.maximum(noisy, 0)


def _assert_sane(band: DayBand, values: Values) -> None:
    assert np.isfinite(band.median).all()
    assert np.isfinite(band.upper).all()
    assert (band.median >= 0).all()
    assert (band.upper >= band.median).all()
    assert band.upper.max() <= 1.5 * np.nanmax(values, initial=0) + 1e-6


def test_the_band_covers_the_next_day_about_as_often_as_asked() -> None:
    values = _load(22, rows=40)
    past, future = values[:, :-288], values[:, -288:]

    for quantile in (0.8, 0.95):
        band = forecast_day(_history(past), quantile=quantile)
        assert coverage_ratio(future, band.upper).mean() == pytest.approx(quantile, abs=0.05)


def test_the_band_beats_the_maximum_of_past_days_and_the_day_before() -> None:
    values = _load(15, rows=40)
    past, future = values[:, :-288], values[:, -288:]
    by_day = past.reshape(40, 14, 288)

    loss = pinball_loss(future, forecast_day(_history(past)).upper, 0.95).mean()

    assert loss < 0.9 * pinball_loss(future, by_day.max(axis=1), 0.95).mean()
    assert loss < 0.7 * pinball_loss(future, by_day[:, -1], 0.95).mean()


def test_the_band_starts_where_the_history_ends_and_lasts_a_day() -> None:
    band = forecast_day(_history(_load(3)), quantile=95)

    assert band.start_local == datetime(2026, 1, 8)  # noqa: DTZ001 - as above
    assert band.upper.shape == band.median.shape == (1, 288)
    assert band.quantile == 0.95
    assert band.step_seconds == 300


@pytest.mark.parametrize("step_seconds", [15, 60, 90, 96, 300, 600, 3600])
def test_any_step_that_divides_a_day_is_taken(step_seconds: int) -> None:
    values = _load(8, step_seconds=step_seconds)

    band = forecast_day(_history(values, step_seconds))

    assert band.upper.shape == (1, 86_400 // step_seconds)
    _assert_sane(band, values)


@pytest.mark.parametrize("days", [2, 3, 4, 6, 8, 14, 40])
def test_from_two_days_on_the_band_follows_the_day(days: int) -> None:
    values = _load(days + 1, rows=8)
    past, future = values[:, :-288], values[:, -288:]

    band = forecast_day(_history(past))

    _assert_sane(band, past)
    assert coverage_ratio(future, band.upper).mean() > 0.75
    assert np.ptp(band.upper, axis=1).min() > 5


def test_below_two_days_the_band_is_flat() -> None:
    values = _load(1)[:, :200]

    band = forecast_day(_history(values))

    assert np.ptp(band.upper) == 0
    assert band.upper[0, 0] == values.max()
    assert band.median[0, 0] == np.median(values)


@pytest.mark.parametrize("length", [0, 1, 100, 3 * 288, 14 * 288])
def test_nothing_known_is_forecast_as_nothing_and_never_nan(length: int) -> None:
    band = forecast_day(_history(np.full((2, length), np.nan)))

    assert (band.upper == 0).all()
    assert (band.median == 0).all()


def test_an_idle_workload_stays_idle_and_a_constant_one_constant() -> None:
    values = np.array([[0.0], [3.0]]) * np.ones((2, 14 * 288))

    band = forecast_day(_history(values))

    assert (band.upper[0] == 0).all()
    assert band.upper[1] == pytest.approx(np.full(288, 3.0), rel=0.02)
    assert band.median[1] == pytest.approx(np.full(288, 3.0), rel=0.02)


def test_one_spike_long_ago_does_not_lift_the_band_for_good() -> None:
    values = np.ones((1, 14 * 288))
    values[0, 1000] = 1000

    band = forecast_day(_history(values))

    _assert_sane(band, values)
    assert np.median(band.upper) < 2


def test_a_lost_day_and_short_gaps_cost_little() -> None:
    rng = np.random.default_rng(3)
    values = _load(15, rows=30, step_seconds=60)
    past, future = values[:, :-1440], values[:, -1440:]
    torn = np.where(rng.random(past.shape) < 0.05, np.nan, past)
    torn[:, 9 * 1440 + 600 : 9 * 1440 + 800] = np.nan
    lost = past.copy()
    lost[:, 11 * 1440 : 12 * 1440] = np.nan

    whole, *damaged = (
        pinball_loss(future, forecast_day(_history(h, 60)).upper, 0.95).mean()
        for h in (past, torn, lost)
    )

    assert max(damaged) < 1.1 * whole


def test_values_known_only_as_lower_bounds_do_not_pull_the_bound_down() -> None:
    values = np.minimum(_load(15, rows=20), 12.0)
    marks = values >= 12.0

    plain = forecast_day(_history(values))
    censored = forecast_day(_history(values, marks=marks))

    assert (censored.upper >= plain.upper - 1e-6).mean() > 0.95
    assert censored.upper.mean() > plain.upper.mean()


def test_a_higher_quantile_lies_higher() -> None:
    history = _history(_load(14, rows=10))

    means = [forecast_day(history, quantile=q).upper.mean() for q in (0.5, 0.8, 0.95, 0.99)]

    assert means == sorted(means)


def test_nothing_is_known_of_the_future() -> None:
    values = _load(16, rows=3)
    cut = 14 * 288
    changed = values.copy()
    changed[:, cut:] = 1000

    before, after = (forecast_day(_history(v[:, :cut])) for v in (values, changed))

    assert (before.upper == after.upper).all()
    assert (before.median == after.median).all()


@given(factor=st.floats(1e-6, 1e6))
@settings(deadline=None, max_examples=15)
def test_the_unit_does_not_matter(factor: float) -> None:
    values = _load(9, step_seconds=3600)

    band, scaled = (forecast_day(_history(v, 3600)) for v in (values, values * factor))

    assert scaled.upper == pytest.approx(band.upper * factor, rel=1e-3)
    assert scaled.median == pytest.approx(band.median * factor, rel=1e-3)


def test_each_row_of_a_batch_is_forecast_as_if_alone() -> None:
    values = _load(9, rows=40)
    values[3] = np.nan
    values[5, 300:700] = np.nan
    values[17] = 0

    batch = forecast_day(_history(values))

    for row in (0, 3, 4, 5, 17, 39):
        alone = forecast_day(_history(values[row]))
        assert batch.upper[row] == pytest.approx(alone.upper[0], rel=1e-4, abs=1e-6)
        assert batch.median[row] == pytest.approx(alone.median[0], rel=1e-4, abs=1e-6)


WILD = st.sampled_from([0.0, 0.0, 1e-9, 1.0, 3.0, 1e9, float("nan")])


@given(
    days=st.integers(0, 16),
    extra=st.integers(0, 23),
    cells=st.lists(WILD, min_size=1, max_size=60),
    quantile=st.floats(0.05, 0.995),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_whatever_the_history_the_band_is_finite_and_ordered(
    days: int, extra: int, cells: list[float], quantile: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice(np.array(cells), (2, days * 24 + extra))

    _assert_sane(forecast_day(_history(values, 3600), quantile=quantile), values)


def test_a_holiday_a_week_ago_does_not_make_the_coming_day_one() -> None:
    values = _load(22, rows=10)
    values[:, 14 * 288 : 15 * 288] *= 0.2
    past, future = values[:, : 21 * 288], values[:, 21 * 288 :]

    assert coverage_ratio(future, forecast_day(_history(past)).upper).mean() > 0.85


def test_a_weekend_is_known_from_two_weeks_and_so_is_the_monday_after_it() -> None:
    values = _load(22, rows=30)
    saturday, monday = 19 * 288, 21 * 288

    quiet = forecast_day(_history(values[:, :saturday])).median.mean()
    busy = forecast_day(_history(values[:, :monday])).median.mean()

    assert quiet == pytest.approx(values[:, saturday : saturday + 288].mean(), rel=0.1)
    assert busy == pytest.approx(values[:, monday:].mean(), rel=0.1)


def test_jobs_on_the_hour_are_expected_on_the_hour() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(1, 0.05, (4, 14 * 1440)).clip(0)
    values[:, ::60] += rng.uniform(4, 6, (4, 14 * 24))

    upper = forecast_day(_history(values, 60)).upper.reshape(4, 24, 60)

    assert upper[:, :, 0].min() > 4
    assert upper[:, :, 20].max() < 2


def test_what_rises_week_by_week_gets_room_to_rise() -> None:
    flat = _load(14, rows=10)
    rising = flat * np.repeat(1.05 ** np.arange(14), 288)

    room = [
        (band.upper / np.maximum(band.median, 1)).mean()
        for band in (forecast_day(_history(v)) for v in (flat, rising))
    ]

    assert room[1] > 1.03 * room[0]


def test_a_glitch_of_a_minute_costs_nearly_nothing() -> None:
    values = _load(15, rows=10, step_seconds=60)
    past, future = values[:, :-1440], values[:, -1440:]
    glitched = past.copy()
    glitched[:, 5000] = 50 * past.max()

    plain, hurt = (
        pinball_loss(future, forecast_day(_history(h, 60)).upper, 0.95).mean()
        for h in (past, glitched)
    )

    assert hurt < 1.05 * plain
