"""Times as people write them, and those that cannot be."""

from collections.abc import Callable

import pytest

from gputide.backtest.load.csv import CsvOptions
from gputide.backtest.model import Trace

Read = Callable[..., Trace]
Refuse = Callable[..., str]

T0 = 1_700_000_040  # a whole minute


def test_times_without_a_zone_are_utc_and_it_says_so(read: Read) -> None:
    trace = read("time,value", "2026-01-05 10:00:00,1", "2026-01-05T10:01,2")

    assert trace.start_utc.isoformat() == "2026-01-05T10:00:00+00:00"
    assert trace.warnings == ("times name no zone: read as UTC (--time-zone names another)",)


def test_times_without_a_zone_take_the_one_given(read: Read) -> None:
    options = CsvOptions(time_zone="Asia/Shanghai")

    trace = read("time,value", "2026/01/05 10:00:00,1", "2026/01/05 10:01:00,2", options=options)

    assert trace.start_utc.isoformat() == "2026-01-05T02:00:00+00:00"
    assert trace.warnings == ()


def test_times_with_a_zone_are_taken_as_written(read: Read) -> None:
    trace = read("time,value", "2026-01-05T10:00:00+08:00,1", "2026-01-05T02:01:00Z,2")

    assert trace.start_utc.isoformat() == "2026-01-05T02:00:00+00:00"
    assert trace.demand.tolist() == [1, 2]


def test_the_hour_that_clocks_repeat_is_read_twice(read: Read) -> None:
    autumn = [
        f"2026-10-25 {h}:{m:02}:00,{i}" for i, h in enumerate(("02", "02")) for m in range(60)
    ]
    options = CsvOptions(time_zone="Europe/Berlin")

    trace = read(
        "time,value", "2026-10-25 01:59:00,9", *autumn, "2026-10-25 03:00:00,9", options=options
    )

    assert trace.demand.tolist() == [9] + [0] * 60 + [1] * 60 + [9]


def test_the_repeated_hour_is_told_apart_in_each_of_several_series(read: Read) -> None:
    hours = [f"2026-10-25 02:{m:02}:00" for m in range(60)] * 2
    lines = [f"{at},{pod},1" for pod in "ab" for at in [*hours, "2026-10-25 03:00:00"]]
    options = CsvOptions(sum_by="pod", time_zone="Europe/Berlin")

    assert read("time,pod,value", *lines, options=options).demand.tolist() == [2] * 121


def test_the_hour_that_clocks_skip_is_refused(refuse: Refuse) -> None:
    options = CsvOptions(time_zone="Europe/Berlin")

    text = refuse("time,value", "2026-03-29 01:59:00,1", "2026-03-29 02:00:00,1", options=options)

    assert text.startswith("load.csv:3: time '2026-03-29 02:00:00' does not exist in Europe/Berlin")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("2026-01-05 10:00:00", "2026-01-05T10:01:00Z", "differs in form: the first row has none"),
        (
            "2026-01-05T10:00:00Z",
            "2026-01-05 10:01:00",
            "differs in form: the first row has a zone",
        ),
        (str(T0), "2026-01-05 10:01:00", "is no number, but the first row's is"),
        (str(T0), str((T0 + 60) * 1000), "lies outside 1990-2100 in seconds, like the first"),
        (str(T0 * 1000), str(T0 + 60), "lies outside 1990-2100 in milliseconds, like the first"),
        ("2026-01-05", "yesterday", "is neither Unix time nor ISO 8601"),
        ("01/31/2026 10:00", "01/31/2026 10:01", "is neither Unix time nor ISO 8601"),
        ("1889-01-05", "1889-01-06", "lies outside 1990-2100"),
        ("2101-01-05", "2101-01-06", "lies outside 1990-2100"),
        ("45123.5", "45123.6", "is no Unix time of 1990-2100"),
        ("-5", "5", "is no Unix time of 1990-2100"),
        ("", str(T0), "is neither Unix time nor ISO 8601"),
        (str(T0), "", "is no number"),
        (str(T0), "nan", "lies outside 1990-2100"),
        (str(T0), "inf", "lies outside 1990-2100"),
    ],
)
def test_a_time_that_cannot_be_is_refused_with_its_line(
    refuse: Refuse, first: str, second: str, expected: str
) -> None:
    text = refuse("time,value", f"{first},1", f"{second},1")

    assert text.startswith("load.csv:")
    assert expected in text
