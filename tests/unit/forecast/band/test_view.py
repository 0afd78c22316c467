"""What experts may look at: the same days twice, and what lies beside a bin."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from gputide.forecast import History
from gputide.forecast.band.days import Days, Single, cut_days
from gputide.forecast.band.season import relate
from gputide.forecast.band.view import View, look

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone
DAYS = 4


def _days(step_seconds: int = 300) -> Days:
    steps = 86_400 // step_seconds
    values = np.random.default_rng(1).gamma(3, 2, (2, DAYS * steps))
    history = History(values=values, step_seconds=step_seconds, start_local=START)
    return cut_days(history, slice(None))


def _look(days: Days) -> tuple[View, View]:
    return look(days, relate(days))


def _spike(at: int) -> Days:
    """Return days of nothing with one bin of 9, counted over all days."""
    days = _days()
    peak = np.zeros_like(days.peak)
    peak.reshape(len(peak), -1)[:, at] = 9
    return replace(days, peak=peak, mean=peak.copy())


def test_the_past_is_seen_at_the_sampled_bins_and_the_coming_day_at_all() -> None:
    days = _days()

    past, coming = _look(days)

    assert np.array_equal(past.bins, days.sampled_bins)
    assert np.array_equal(coming.bins, np.arange(288))
    for name in ("mean", "smooth", "peak", "jitter"):
        whole: Single = getattr(coming, name)
        assert whole.shape == (2, DAYS, 288)
        assert np.array_equal(getattr(past, name), whole[:, :, days.sampled_bins])


def test_the_past_has_every_known_day_as_target_and_the_coming_view_one() -> None:
    past, coming = _look(_days())

    assert not past.is_of_coming_day
    assert coming.is_of_coming_day
    for name in ("near", "alike", "weeks"):
        assert getattr(past, name).shape == (2, DAYS, DAYS)
        assert getattr(coming, name).shape == (2, 1, DAYS)


def test_the_day_before_is_the_one_before_and_of_the_first_day_the_one_after() -> None:
    days = _days()
    numbers = np.broadcast_to(np.arange(DAYS, dtype=np.float32)[None, :, None], (2, DAYS, 3))

    past, coming = _look(days)

    assert past.day_before(numbers)[0, :, 0].tolist() == [1, 0, 1, 2]
    assert coming.day_before(numbers)[0, :, 0].tolist() == [DAYS - 1]


@pytest.mark.parametrize("at", [100, 288, 287])
def test_a_jump_may_come_a_bin_early_or_late_also_across_midnight(at: int) -> None:
    jitter = _look(_spike(at))[1].jitter.reshape(2, -1)

    assert np.flatnonzero(jitter[0]).tolist() == [at - 1, at, at + 1]
    assert jitter.max() == 9


@pytest.mark.parametrize(("at", "reached"), [(0, [0, 1]), (DAYS * 288 - 1, [1150, 1151])])
def test_the_ends_of_the_history_are_not_each_others_neighbours(
    at: int, reached: list[int]
) -> None:
    coming = _look(_spike(at))[1]

    assert np.flatnonzero(coming.jitter[0]).tolist() == reached
    assert np.flatnonzero(coming.smooth[0]).tolist() == reached


def test_smoothing_spreads_a_bin_over_its_neighbours_and_keeps_the_sum() -> None:
    smooth = _look(_spike(288))[1].smooth.reshape(2, -1)

    assert smooth[0, 287:290] == pytest.approx([3, 3, 3])
    assert smooth[0].sum() == pytest.approx(9)


def test_looking_changes_no_day() -> None:
    days = _days()
    mean, peak = days.mean.copy(), days.peak.copy()

    _look(days)

    assert np.array_equal(days.mean, mean)
    assert np.array_equal(days.peak, peak)


def test_minutes_of_an_hour_are_relative_to_its_level() -> None:
    days = _days()
    rhythm = np.tile([3.0] + [1.0] * 11, DAYS * 24)  # a job at each full hour
    day = np.repeat(np.where(np.arange(DAYS * 24) % 24 < 12, 1.0, 5.0), 12)
    load = np.broadcast_to((rhythm * day).astype(np.float32).reshape(DAYS, 288), days.mean.shape)

    minutes = _look(replace(days, mean=load, peak=load))[1].minutes

    assert minutes is not None
    mean, square = minutes
    assert mean.shape == square.shape == (2, DAYS, 12)
    assert mean[..., 0] / mean[..., 1] == pytest.approx(np.full((2, DAYS), 3), rel=1e-4)
    assert (square >= np.square(mean) - 1e-5).all()


def test_bins_longer_than_an_hour_make_no_minutes() -> None:
    assert _look(_days(step_seconds=7200))[1].minutes is None
