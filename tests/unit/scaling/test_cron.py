"""Cron expressions as masks, in every spelling that people bring along."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import SettingError
from gputide.scaling.cron import CronMask

MONDAY = datetime(2026, 11, 30)  # noqa: DTZ001  # masks are of local clocks


def is_in(text: str, minute: str) -> bool:
    return CronMask.parse(text).is_active(datetime.fromisoformat(minute))


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("* 0-8 ? * MON-FRI", "2026-11-30 08:59", "2026-11-30 09:00"),
        ("* 9-15 ? * MON-FRI", "2026-12-04 09:00", "2026-12-05 09:00"),
        ("* 0-6 ?  * *", "2026-12-05 06:59", "2026-12-05 07:00"),
        ("* * 11-22 ? * MON-FRI", "2026-11-30 22:59", "2026-11-30 23:00"),
        ("0 30 * * * *", "2026-11-30 05:30", "2026-11-30 05:31"),
        ("*/15 * * * *", "2026-11-30 05:45", "2026-11-30 05:46"),
        ("5-59/20 * * * *", "2026-11-30 05:25", "2026-11-30 05:20"),
        ("0,30 8,20 * * *", "2026-11-30 20:30", "2026-11-30 09:00"),
        ("* * 1 JAN,jul ?", "2027-07-01 03:00", "2027-06-01 03:00"),
        ("* * * * 0", "2026-12-06 00:00", "2026-11-30 00:00"),
        ("* * * * 7", "2026-12-06 00:00", "2026-12-05 00:00"),
        ("* * * * 1", "2026-11-30 00:00", "2026-12-06 00:00"),
        ("* * 1 * MON", "2026-12-01 00:00", "2026-12-02 00:00"),
        ("* * L * ?", "2026-11-30 00:00", "2026-11-29 00:00"),
        ("* * * * MON#1", "2026-12-07 00:00", "2026-11-30 00:00"),
        ("\t* 0-8\t?   * mon-fri ", "2026-11-30 08:59", "2026-11-30 09:00"),
    ],
)
def test_a_minute_is_in_or_out(text: str, inside: str, outside: str) -> None:
    assert is_in(text, inside)
    assert not is_in(text, outside)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' has 0 fields; give 5, or 6 with seconds first"),
        ("* * * *", "'* * * *' has 4 fields; give 5, or 6 with seconds first"),
        ("0 * * * * ? 2026", "'0 * * * * ? 2026' has 7 fields; give 5, or 6 with seconds first"),
        ("61 * * * *", "'61 * * * *': '61' is no minute"),
        ("* 24 * * *", "'* 24 * * *': '24' is no hour"),
        ("* * 0 * *", "'* * 0 * *': '0' is no day-of-month"),
        ("* * * FOO *", "'* * * FOO *': 'FOO' is no month"),
        ("* * * * FRI-MON", "'* * * * FRI-MON': 'FRI-MON' is no day-of-week"),
        ("* * * * 8", "'* * * * 8': '8' is no day-of-week"),
        ("99 * * * * ?", "'99 * * * * ?': '99' is no second"),
        ("*/0 * * * *", "'*/0 * * * *': '*/0' is no minute"),
        ("? * * * *", "'? * * * *': '?' stands for any day, not for the minute"),
        ("* * ?/2 * *", "'* * ?/2 * *': '?' stands for any day, not for the day-of-month"),
        ("* * 30 FEB *", "'* * 30 FEB *': '30' is no day-of-month"),
        ("every minute of the day", "'every minute of the day': 'every' is no minute"),
        (
            "* 22-6 * * *",
            "'* 22-6 * * *': hour 22-6 runs backwards; write it as two ranges, as in 22-23,0-6",
        ),
    ],
)
def test_nonsense_is_named_with_its_field(text: str, problem: str) -> None:
    with pytest.raises(SettingError) as caught:
        CronMask.parse(text, setting="spec.x.cron")
    assert str(caught.value) == f"spec.x.cron: {problem}"


fields = st.sampled_from(
    ["*", "?", "0", "5", "1-5", "*/7", "0,3", "MON", "L", "1-2/3", "x", "#", "-", "/"]
)


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(fields, min_size=4, max_size=7))
def test_any_text_is_either_taken_or_refused_by_name(parts: list[str]) -> None:
    with suppress(SettingError):  # and nothing else
        assert CronMask.parse(" ".join(parts)).is_active(MONDAY) in {True, False}


@pytest.mark.parametrize("text", ["* 9-15 ? * MON-FRI", "*/7 3 1 * SAT", "0 0 L * ?", "* * * * *"])
def test_many_minutes_at_once_are_as_one_by_one(text: str) -> None:
    mask = CronMask.parse(text)
    minutes = np.datetime64(MONDAY, "m") + np.arange(0, 40 * 1440, 13)
    single = [mask.is_active(minute) for minute in minutes.tolist()]
    assert mask.mask(minutes).tolist() == single


def test_matches_run_forward_from_a_time_and_end_where_there_are_none() -> None:
    found = CronMask.parse("30 9 ? * SAT").matches(MONDAY + timedelta(seconds=1))
    assert [f"{at:%a %H:%M}" for at in islice(found, 2)] == ["Sat 09:30", "Sat 09:30"]
    assert next(CronMask.parse("* * * * *").matches(MONDAY)) == MONDAY
    late = datetime(9999, 12, 31)  # noqa: DTZ001  # masks are of local clocks
    assert list(CronMask.parse("0 0 1 JAN ?").matches(late)) == []


def test_masks_of_the_same_text_are_equal() -> None:
    assert CronMask.parse("* 1 * * *") == CronMask.parse("* 1 * * *")
    assert CronMask.parse("* 1 * * *") != CronMask.parse("* 2 * * *")
