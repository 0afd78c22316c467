"""Local clocks, also on the days on which they change."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from gputide.errors import SettingError
from gputide.scaling.zone import local_clock, local_minutes, to_utc, zone_named

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ["UTC", "Asia/Shanghai", "Asia/Kolkata", "Europe/Berlin", "America/New_York"]


@pytest.mark.parametrize("zone", [*ZONES, "Australia/Lord_Howe"])
def test_local_minutes_are_what_the_zones_clock_shows(zone: str) -> None:
    minutes = np.datetime64("2026-01-01T00:00") + np.arange(0, 366 * 1440, 97)
    expected = [
        np.datetime64(local_clock(at.replace(tzinfo=UTC), ZoneInfo(zone)), "m")
        for at in minutes.tolist()
    ]
    assert (local_minutes(minutes, ZoneInfo(zone)) == np.array(expected)).all()


def test_every_minute_of_a_day_with_a_clock_change_is_right() -> None:
    spring = np.datetime64("2026-03-29T00:00") + np.arange(120)
    autumn = np.datetime64("2026-10-25T00:00") + np.arange(120)

    forward = local_minutes(spring, BERLIN)
    assert [str(forward[59]), str(forward[60])] == ["2026-03-29T01:59", "2026-03-29T03:00"]
    back = local_minutes(autumn, BERLIN)
    assert [str(back[59]), str(back[60])] == ["2026-10-25T02:59", "2026-10-25T02:00"]


def test_no_minutes_give_none() -> None:
    assert len(local_minutes(np.array([], "datetime64[m]"), BERLIN)) == 0


@pytest.mark.parametrize(
    ("text", "is_end", "expected"),
    [
        ("2026-07-01 12:00", False, "2026-07-01 10:00"),
        ("2026-07-01 12:00+00:00", False, "2026-07-01 12:00"),
        ("2026-10-25 02:30", False, "2026-10-25 00:30"),
        ("2026-10-25 02:30", True, "2026-10-25 01:30"),
        ("2026-03-29 02:30", False, "2026-03-29 01:30"),
        ("2026-03-29 02:30", True, "2026-03-29 01:30"),
        ("0001-01-01 00:00", False, "0001-01-01 00:00"),
    ],
)
def test_a_local_time_becomes_utc(*, text: str, is_end: bool, expected: str) -> None:
    found = to_utc(datetime.fromisoformat(text), BERLIN, is_end=is_end)
    assert found == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_the_end_of_the_calendar_is_no_error() -> None:
    forever = datetime.fromisoformat("9999-12-31 23:59:59")
    assert to_utc(forever, ZoneInfo("America/New_York"), is_end=True).year == 9999
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert local_clock(last, ZoneInfo("Asia/Shanghai")).year == 9999


@pytest.mark.parametrize("name", ["", "Mars/Base", "../etc/passwd", "Europe", "/etc/localtime"])
def test_a_zone_that_does_not_exist_is_named(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        zone_named(name, setting="spec.timeZone")
    assert str(caught.value) == (
        f"spec.timeZone: '{name}' is no time zone; give an IANA name, as in Asia/Shanghai or UTC"
    )


def test_a_zone_that_exists_is_found() -> None:
    assert zone_named("Asia/Shanghai").key == "Asia/Shanghai"
