from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import SettingError
from gputide.forecast.calendar import DayKind, day_kinds, day_weights, to_local_grid
from gputide.forecast.model import FloatArray, History

HOUR = 3600
MONDAY = datetime.fromisoformat("2024-01-01")


def test_the_hour_that_spring_skips_is_unknown() -> None:
    values = np.arange(6.0)[None]  # 00:00 to 05:00 UTC on the day when Berlin skips 02:00
    grid = to_local_grid(values, datetime(2024, 3, 31, tzinfo=UTC), "Europe/Berlin", HOUR)
    assert grid.start_local.isoformat() == "2024-03-31T01:00:00"
    np.testing.assert_array_equal(grid.values, [[0, np.nan, 1, 2, 3, 4, 5]])


def test_the_hour_that_autumn_doubles_is_averaged() -> None:
    values = np.arange(6.0)[None]  # 22:00 UTC on, Berlin shows 02:00 twice (00:00 and 01:00 UTC)
    grid = to_local_grid(values, datetime(2024, 10, 26, 22, tzinfo=UTC), "Europe/Berlin", HOUR)
    assert grid.start_local.isoformat() == "2024-10-27T00:00:00"
    np.testing.assert_array_equal(grid.values, [[0, 1, 2.5, 4, 5]])


def test_a_doubled_hour_known_once_keeps_what_is_known() -> None:
    values = np.array([[0, 1, np.nan, 3, 4.0]])
    grid = to_local_grid(values, datetime(2024, 10, 26, 22, tzinfo=UTC), "Europe/Berlin", HOUR)
    np.testing.assert_array_equal(grid.values, [[0, 1, 3, 4]])


def test_the_minute_of_the_change_is_exact() -> None:
    values = np.arange(120.0)[None]  # 00:07 UTC on: the clock changes at 01:00, column 53
    start = datetime(2024, 3, 31, 0, 7, tzinfo=UTC)
    grid = to_local_grid(values, start, "Europe/Berlin", 60)
    gap = np.flatnonzero(np.isnan(grid.values[0]))
    assert (gap[0], gap[-1], len(gap)) == (53, 112, 60)


@settings(max_examples=30, deadline=None)
@given(
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"]),
    start=st.datetimes(datetime(2023, 1, 1), datetime(2025, 1, 1)),  # noqa: DTZ001 - made UTC below
    days=st.integers(1, 200),
)
def test_a_load_that_follows_local_clocks_repeats_on_the_local_grid(
    zone: str, start: datetime, days: int
) -> None:
    begin = start.replace(minute=0, second=0, microsecond=0, tzinfo=UTC)
    hours = [begin + timedelta(hours=hour) for hour in range(24 * days)]
    local = [hour.astimezone(ZoneInfo(zone)) for hour in hours]
    values = np.array([[at.hour + at.minute / 60 for at in local]])
    grid = to_local_grid(values, begin, zone, HOUR)
    clock = (np.arange(grid.values.shape[1]) + grid.start_local.hour) % 24
    is_known = ~np.isnan(grid.values[0])
    np.testing.assert_array_equal(grid.values[0][is_known], clock[is_known])
    assert (~is_known).sum() <= 1 + days // 180


@pytest.mark.parametrize(
    ("start", "zone", "step", "setting"),
    [
        (MONDAY, "UTC", 60, "start-utc"),
        (MONDAY.replace(tzinfo=UTC), "Mars/Olympus", 60, "time-zone"),
        (MONDAY.replace(tzinfo=UTC), "../etc/passwd", 60, "time-zone"),
        (MONDAY.replace(tzinfo=UTC), "UTC", 7, "step-seconds"),
    ],
)
def test_a_wrong_setting_is_named(start: datetime, zone: str, step: int, setting: str) -> None:
    with pytest.raises(SettingError, match=setting):
        to_local_grid(np.zeros((1, 10)), start, zone, step)


def test_a_zone_of_half_hours_moves_by_half_hours() -> None:
    grid = to_local_grid(np.ones((1, 4)), MONDAY.replace(tzinfo=UTC), "Asia/Kolkata", 1800)
    assert grid.start_local.isoformat() == "2024-01-01T05:30:00"


def test_no_columns_stay_no_columns() -> None:
    grid = to_local_grid(np.zeros((2, 0)), MONDAY.replace(tzinfo=UTC), "Europe/Berlin", 60)
    assert grid.values.shape == (2, 0)


def test_a_day_is_what_most_of_it_is() -> None:
    friday_noon = datetime.fromisoformat("2024-01-05T13:00")
    assert day_kinds(friday_noon, 2) == (DayKind.WEEKEND, DayKind.WEEKEND)
    assert day_kinds(MONDAY, 2, {date(2024, 1, 1)}) == (DayKind.SPECIAL, DayKind.WORKING)


def history_of(days: FloatArray, *, first: datetime = MONDAY) -> History:
    """A load of hourly values, the same all day."""
    return History(values=np.repeat(days, 24)[None], step_seconds=HOUR, start_local=first)


def test_a_load_of_the_week_looks_to_the_same_weekday() -> None:
    week = np.array([5, 6, 7, 6, 5, 1, 1.0])
    weights = day_weights(history_of(np.tile(week, 2)))  # tomorrow is a Monday
    assert weights.sum() == pytest.approx(1)
    assert weights[0].argmax() == 7
    assert weights[0, [5, 6, 12, 13]].sum() < 0.05, "weekends say little about a Monday"


def test_a_load_that_drifts_looks_to_yesterday() -> None:
    weights = day_weights(history_of(np.arange(1.0, 15.0)))
    assert weights[0].argmax() == 13


def test_a_first_holiday_looks_to_weekends() -> None:
    week = np.array([5, 6, 7, 6, 5, 1, 1.0])
    holiday = {date(2024, 1, 15)}
    weights = day_weights(history_of(np.tile(week, 2)), special_days=holiday)
    assert weights[0, [5, 6, 12, 13]].sum() > 0.9


def test_lost_days_weigh_nothing() -> None:
    week = np.array([5, 6, 7, 6, 5, 1, 1.0])
    load = np.tile(week, 2)
    load[7] = np.nan
    weights = day_weights(history_of(load))
    assert weights[0, 7] == 0
    assert weights.sum() == pytest.approx(1)


def test_nothing_known_weighs_nothing() -> None:
    assert day_weights(history_of(np.full(9, np.nan))).tolist() == [[0] * 9]
