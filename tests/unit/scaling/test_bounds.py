"""Bounds in windows: which one is in force, through both clock changes, and what does nothing."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from gputide.errors import SettingError
from gputide.scaling.bounds import Bound, Bounds, BoundsProblem, Window
from gputide.scaling.cron import CronMask

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")


def bound(cron: str, low: int, high: int = 50) -> Bound:
    return Bound(cron=CronMask.parse(cron), min_replicas=low, max_replicas=high)


def local(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def bounds(
    *entries: Bound, zone: ZoneInfo = SHANGHAI, start: str | None = None, end: str | None = None
) -> Bounds:
    window = Window(start=local(start), end=local(end), bounds=entries)
    return Bounds(min_replicas=0, max_replicas=100, zone=zone, windows=(window,))


def low_at(found: Bounds, text: str, zone: ZoneInfo = SHANGHAI, *, fold: int = 0) -> int:
    at = datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)
    return found.at(at).min_replicas


TUTORIAL = bounds(
    bound("* 0-8 ? * MON-FRI", 4),
    bound("* 9-15 ? * MON-FRI", 10),
    bound("* 16-23 ? * MON-FRI", 12),
    start="2021-12-16 00:00:00",
    end="2022-12-16 00:00:00",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2022-03-01 00:00", (4, 50, "spec.instanceBounds[0].bounds[0]")),
        ("2022-03-01 08:59:59", (4, 50, "spec.instanceBounds[0].bounds[0]")),
        ("2022-03-01 09:00", (10, 50, "spec.instanceBounds[0].bounds[1]")),
        ("2022-03-01 23:59", (12, 50, "spec.instanceBounds[0].bounds[2]")),
        ("2022-03-05 09:00", (0, 100, "spec")),
        ("2021-12-15 23:59", (0, 100, "spec")),
        ("2021-12-16 00:00", (4, 50, "spec.instanceBounds[0].bounds[0]")),
        ("2022-12-15 23:59", (12, 50, "spec.instanceBounds[0].bounds[2]")),
        ("2022-12-16 00:00", (0, 100, "spec")),
    ],
)
def test_the_tutorials_bounds_hold_to_the_minute(text: str, expected: tuple[int, int, str]) -> None:
    found = TUTORIAL.at(datetime.fromisoformat(text).replace(tzinfo=SHANGHAI))
    assert (found.min_replicas, found.max_replicas, found.path) == expected


def test_the_later_entry_wins_within_a_window_and_across_windows() -> None:
    first = Window(bounds=(bound("* * * * *", 5), bound("* 9 * * *", 7)))
    second = Window(bounds=(bound("30-59 9 * * *", 2),))
    found = Bounds(min_replicas=0, max_replicas=9, zone=SHANGHAI, windows=(first, second))
    times = ("2026-06-01 08:00", "2026-06-01 09:00", "2026-06-01 09:30")
    assert [low_at(found, text) for text in times] == [5, 7, 2]


def test_many_minutes_at_once_are_as_one_by_one() -> None:
    minutes = np.datetime64("2021-12-10T00:00") + np.arange(0, 20 * 1440, 41)
    together = TUTORIAL.over(minutes)
    single = [TUTORIAL.at(at.replace(tzinfo=UTC)) for at in minutes.tolist()]

    assert together.min_replicas.tolist() == [one.min_replicas for one in single]
    assert together.max_replicas.tolist() == [one.max_replicas for one in single]
    assert [TUTORIAL.paths[entry] for entry in together.entry] == [one.path for one in single]


def test_an_hour_that_the_clock_skips_is_never_in_force() -> None:
    found = bounds(bound("* 2 * * *", 7), zone=BERLIN)
    day = np.datetime64("2026-03-29T00:00") + np.arange(-60, 23 * 60 - 60)
    assert (found.over(day).min_replicas == 7).sum() == 0


def test_an_hour_that_the_clock_shows_twice_is_in_force_both_times() -> None:
    found = bounds(bound("* 2 * * *", 7), zone=BERLIN)
    day = np.datetime64("2026-10-25T00:00") + np.arange(-120, 25 * 60 - 120)
    assert (found.over(day).min_replicas == 7).sum() == 120


def test_a_window_ends_after_the_second_of_two_equal_local_times() -> None:
    found = bounds(bound("* * * * *", 7), zone=BERLIN, end="2026-10-25 02:30:00")
    assert low_at(found, "2026-10-25 02:29", BERLIN, fold=1) == 7
    assert low_at(found, "2026-10-25 02:30", BERLIN, fold=1) == 0


def test_a_time_with_a_zone_is_not_read_on_the_local_clock() -> None:
    found = bounds(bound("* * * * *", 7), start="2026-06-01T00:00:00+00:00")
    assert low_at(found, "2026-06-01 07:59") == 0
    assert low_at(found, "2026-06-01 08:00") == 7


def test_a_start_within_a_minute_counts_from_the_next_one() -> None:
    found = bounds(bound("* * * * *", 7), start="2026-06-01 00:00:30", end="2026-06-01 23:59:59")
    assert [low_at(found, f"2026-06-01 {t}") for t in ("00:00", "00:01", "23:59")] == [0, 7, 7]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: bounds(bound("* * * * *", 1), bound("* 1 * * *", 60)),
            "spec.instanceBounds[0].bounds[1].minReplicas: 60 is more than maxReplicas 50",
        ),
        (
            lambda: bounds(bound("* * * * *", -1)),
            "spec.instanceBounds[0].bounds[0].minReplicas: must be at least 0, is -1",
        ),
        (
            lambda: bounds(bound("* * * * *", 0, 0)),
            "spec.instanceBounds[0].bounds[0].maxReplicas: must be at least 1, is 0",
        ),
        (
            lambda: bounds(bound("* * * * *", 0, 10**12)),
            (
                "spec.instanceBounds[0].bounds[0].maxReplicas: "
                "must be at most 2147483647, is 1000000000000"
            ),
        ),
        (
            lambda: bounds(bound("* * * * *", 1), start="2026-06-01", end="2026-05-01"),
            (
                "spec.instanceBounds[0].startTime: "
                "2026-06-01 00:00:00 is not before endTime 2026-05-01 00:00:00"
            ),
        ),
        (
            lambda: Bounds(min_replicas=5, max_replicas=4, zone=SHANGHAI),
            "spec.minReplicas: 5 is more than maxReplicas 4",
        ),
    ],
)
def test_what_cannot_be_is_named_by_its_path(make: object, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        make()
    assert str(caught.value) == message


def problems(found: Bounds, now: str) -> list[tuple[BoundsProblem, str]]:
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    return [(condition.problem, condition.path) for condition in found.conditions(at)]


def test_an_expired_window_is_a_condition_and_says_what_counts_instead() -> None:
    (condition,) = TUTORIAL.conditions(datetime(2026, 12, 1, tzinfo=UTC))
    assert condition.problem is BoundsProblem.EXPIRED
    assert condition.path == "spec.instanceBounds[0]"
    assert condition.text == "ended 2022-12-16 00:00:00; 0 to 100 replicas count instead"
    assert problems(TUTORIAL, "2022-01-01") == []


def test_a_window_that_has_not_begun_is_a_condition() -> None:
    where = [(BoundsProblem.NOT_STARTED, "spec.instanceBounds[0]")]
    assert problems(TUTORIAL, "2021-01-01") == where


def test_an_entry_that_never_matches_is_a_condition() -> None:
    weekend = bounds(
        bound("* * ? * MON-FRI", 1),
        bound("* * ? * SAT", 1),
        start="2026-12-05 00:00:00",
        end="2026-12-07 00:00:00",
    )
    where = [(BoundsProblem.NEVER_MATCHES, "spec.instanceBounds[0].bounds[0]")]
    assert problems(weekend, "2026-12-06") == where


def test_an_entry_for_an_hour_that_the_clock_skips_never_matches() -> None:
    night = bounds(
        bound("30 2 * * *", 1), zone=BERLIN, start="2026-03-29 00:00:00", end="2026-03-30 00:00:00"
    )
    where = [(BoundsProblem.NEVER_MATCHES, "spec.instanceBounds[0].bounds[0]")]
    assert problems(night, "2026-03-29") == where


def test_a_window_open_at_both_ends_is_always_on() -> None:
    found = bounds(bound("* * * * *", 7))
    assert problems(found, "2026-06-01") == []
    assert low_at(found, "1999-01-01 00:00") == 7


def test_for_ever_is_written_as_the_end_of_the_calendar() -> None:
    found = bounds(bound("* * * * *", 7), end="9999-12-31 23:59:59", zone=BERLIN)
    assert problems(found, "2026-06-01") == []
    assert low_at(found, "2026-06-01 00:00") == 7
