from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.forecast.model import FloatArray, History
from gputide.forecast.period import Period, find_periods

HOUR = 3600
DAY = 24 * HOUR
WEEK = 7 * DAY
MONDAY = datetime.fromisoformat("2024-01-01")


def seasons(values: FloatArray, *, step_seconds: int = 60) -> tuple[tuple[int, ...], ...]:
    history = History(values=values, step_seconds=step_seconds, start_local=MONDAY)
    return tuple(tuple(period.seconds for period in row) for row in find_periods(history))


@dataclass(frozen=True)
class Load:
    """A load with one season under white noise; what makes life hard is switched on by fields."""

    days: int = 14
    noise: float = 0.6
    seed: int = 0

    def clock(self) -> FloatArray:
        return np.arange(self.days * 1440) * 60.0

    def wave(self, period_seconds: float) -> FloatArray:
        return np.asarray(np.sin(2 * np.pi * self.clock() / period_seconds), float)

    def noisy(self, signal: FloatArray) -> FloatArray:
        rng = np.random.default_rng(self.seed)
        return np.maximum(5 + signal + self.noise * rng.normal(size=len(signal)), 0)[None]


@pytest.mark.parametrize("period", [HOUR // 2, HOUR, 6 * HOUR, 8 * HOUR, 12 * HOUR, DAY])
def test_a_noisy_wave_has_its_own_period_and_no_other(period: int) -> None:
    load = Load(noise=1.0)
    assert seasons(load.noisy(load.wave(period))) == ((period,),)


def test_a_daily_load_with_a_dip_after_noon_is_daily_not_twice_daily() -> None:
    load = Load()
    assert seasons(load.noisy(load.wave(DAY) + 1.5 * load.wave(DAY / 2))) == ((DAY,),)


def test_narrow_daily_peaks_are_a_day_although_their_harmonics_are_strong() -> None:
    load = Load(noise=0.2)
    minute = load.clock() % DAY / 60
    peaks = np.where((minute > 540) & (minute < 600), 4.0, 0.0)
    assert seasons(load.noisy(peaks)) == ((DAY,),)


def test_an_hourly_job_beside_a_daily_wave_is_found_too() -> None:
    load = Load(noise=0.3)
    hourly = np.where(load.clock() % HOUR < 600, 1.5, 0.0)
    assert set(seasons(load.noisy(load.wave(DAY) + hourly))[0]) == {DAY, HOUR}


def test_a_working_week_has_day_and_week() -> None:
    load = Load(days=21, noise=0.3)
    is_working = load.clock() // DAY % 7 < 5
    assert seasons(load.noisy(np.where(is_working, 1 + load.wave(DAY), 0.3))) == ((DAY, WEEK),)


def test_a_week_on_ten_days_is_a_weak_claim() -> None:
    load = Load(days=10, noise=0.2)
    is_working = load.clock() // DAY % 7 < 5
    values = load.noisy(np.where(is_working, 1 + load.wave(DAY), 0.3) * 2)
    [found] = find_periods(History(values=values, step_seconds=60, start_local=MONDAY))
    assert {period.seconds: period.is_weak for period in found} == {DAY: False, WEEK: True}


def test_a_week_needs_eight_days() -> None:
    load = Load(days=7, noise=0.2)
    is_working = load.clock() // DAY % 7 < 5
    assert seasons(load.noisy(np.where(is_working, 1 + load.wave(DAY), 0.3))) == ((DAY,),)


def test_one_day_is_too_short_for_any_period() -> None:
    load = Load(days=1)
    assert seasons(load.noisy(load.wave(HOUR))) == ((),)


def test_strengths_fall_with_the_noise() -> None:
    calm, loud = Load(noise=0.1), Load(noise=3.0)
    both = np.vstack([calm.noisy(calm.wave(DAY)), loud.noisy(loud.wave(DAY))])
    found = find_periods(History(values=both, step_seconds=60, start_local=MONDAY))
    strengths = [periods[0].strength_ratio for periods in found]
    assert 0.9 < strengths[0] <= 1
    assert 0.1 < strengths[1] < 0.6


def noise_of(kind: str, rng: np.random.Generator, count: int) -> FloatArray:
    steps = rng.normal(size=count)
    if kind == "white":
        return steps
    if kind == "walk":
        return np.cumsum(steps)
    if kind == "bursts":
        return np.where(rng.random(count) < 0.01, rng.exponential(50, count), 0.0)
    memory = 0.999 ** np.arange(5000)  # an AR(1) that forgets within a day
    return np.convolve(steps, memory)[:count]


@pytest.mark.parametrize(
    ("kind", "limit_ratio"), [("white", 0.0), ("bursts", 0.0), ("red", 0.03), ("walk", 0.06)]
)
def test_noise_of_any_colour_hardly_ever_has_a_period(kind: str, limit_ratio: float) -> None:
    # A random walk does look like a day now and then; over a fixed sample it may do so rarely.
    found = []
    for days in (3, 7, 14, 21):
        rows = [noise_of(kind, np.random.default_rng(seed), days * 1440) for seed in range(40)]
        noise = np.vstack(rows)
        found += seasons(noise - noise.min(axis=1, keepdims=True))

    assert np.mean([bool(periods) for periods in found]) <= limit_ratio


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    period=st.sampled_from([HOUR, 8 * HOUR, 12 * HOUR, DAY]),
    days=st.sampled_from([7, 10, 14]),
)
def test_gaps_outliers_drift_a_shift_and_a_lost_day_hide_no_period(
    seed: int, period: int, days: int
) -> None:
    rng = np.random.default_rng(seed)
    load = Load(days=days, seed=seed)
    count = days * 1440
    drift = np.linspace(0, 1.5, count) + np.where(np.arange(count) > 0.6 * count, 1.0, 0.0)
    values = load.noisy(load.wave(period) + drift)
    values[0, rng.random(count) < 0.005] *= 10
    values[0, rng.random(count) < 0.2] = np.nan
    values[0, 2880:4320] = np.nan
    assert seasons(values) == ((period,),)


@given(scale=st.floats(1e-6, 1e9))
@settings(max_examples=20, deadline=None)
def test_the_unit_does_not_matter(scale: float) -> None:
    load = Load(days=7)
    assert seasons(load.noisy(load.wave(DAY)) * scale) == ((DAY,),)


def test_workloads_do_not_see_each_other() -> None:
    load = Load(days=7)
    rows = [load.noisy(load.wave(period)) for period in (DAY, HOUR, 8 * HOUR)] * 15
    alone = [found for row in rows for found in seasons(row)]
    assert list(seasons(np.vstack(rows))) == alone


@pytest.mark.parametrize("step_seconds", [30, 300, 450, 1800, 3600, 7200])
def test_any_cadence_finds_the_day(step_seconds: int) -> None:
    rng = np.random.default_rng(1)
    clock = np.arange(0, 7 * DAY, step_seconds)
    values = 5 + np.sin(2 * np.pi * clock / DAY) + 0.3 * rng.normal(size=len(clock))
    assert seasons(values[None], step_seconds=step_seconds) == ((DAY,),)


@pytest.mark.parametrize("value", [0.0, 7.0, np.nan])
def test_flat_and_unknown_have_no_period(value: float) -> None:
    values = np.full((2, 7 * 1440), value)
    values[1, 5000:5003] = 9
    assert seasons(values) == ((), ())


@pytest.mark.parametrize("shape", [(0, 1440 * 3), (2, 0), (2, 100)])
def test_next_to_nothing_has_no_period(shape: tuple[int, int]) -> None:
    assert seasons(np.ones(shape)) == ((),) * shape[0]


def test_seen_twice_is_not_weak() -> None:
    week = Period(seconds=WEEK, strength_ratio=0.5, cycles_seen=2)
    assert not week.is_weak
    assert replace(week, cycles_seen=1.9).is_weak
