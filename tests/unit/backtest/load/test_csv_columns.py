"""Which column is which, by name and by the person's word."""

from collections.abc import Callable

import pytest

from gputide.backtest.load.csv import CsvOptions
from gputide.backtest.load.csv_columns import find_columns
from gputide.backtest.model import Trace
from gputide.errors import SettingError

Read = Callable[..., Trace]
Refuse = Callable[..., str]

T0 = 1_700_000_040  # a whole minute


def rows(count: int, step: int = 60, first: int = T0) -> list[str]:
    return [f"{first + step * i},{i}" for i in range(count)]


def test_columns_are_found_by_name_in_any_order_and_case(read: Read) -> None:
    trace = read("host,RPS,Time", f"a,1,{T0}", f"a,2,{T0 + 60}")

    assert trace.demand.tolist() == [1, 2]


def test_columns_can_be_named(read: Read) -> None:
    options = CsvOptions(
        time_column="when", value_column="B", unit="GPUs", time_zone="Asia/Shanghai"
    )

    trace = read("A,b,when", f"7,1,{T0}", f"8,2,{T0 + 60}", options=options)

    assert trace.demand.tolist() == [1, 2]
    assert (trace.unit, trace.time_zone) == ("GPUs", "Asia/Shanghai")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (CsvOptions(value_column="rps"), "value-column: column 'rps' is not there in"),
        (CsvOptions(time_column="when"), "time-column: column 'when' is not there in"),
        (CsvOptions(sum_by="pod"), "sum-by: column 'pod' is not there in"),
        (CsvOptions(duration_column="s"), "duration-column: column 's' is not there in"),
        (
            CsvOptions(value_column="timestamp"),
            "load.csv:1: column timestamp cannot play two parts",
        ),
        (CsvOptions(sum_by="timestamp"), "load.csv:1: column timestamp cannot play two parts"),
        (CsvOptions(time_zone="Mars/Olympus"), "time-zone: 'Mars/Olympus' is no time zone"),
        (CsvOptions(time_zone="../../etc/passwd"), "time-zone: '../../etc/passwd' is no time zone"),
    ],
)
def test_a_wrong_option_is_refused_and_says_what_there_is(
    refuse: Refuse, options: CsvOptions, expected: str
) -> None:
    text = refuse("timestamp,value", *rows(3), options=options)

    assert text.startswith(expected)
    if "is not there" in text:
        assert text.endswith("which has timestamp, value")


def test_options_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(SettingError, match="duration-column"):
        CsvOptions(value_column="a", duration_column="b")
    with pytest.raises(SettingError, match="hold-seconds"):
        CsvOptions(hold_seconds=-1)
    with pytest.raises(SettingError, match="saturated-at"):
        CsvOptions(saturated_at=0)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("timestamp,value", (0, 1, False)),
        ("Value,TimeStamp", (1, 0, False)),
        ("created,exec_seconds,status", (0, 1, True)),
        ("start,duration,value", (0, 2, False)),
        ("timestamp,pod,percent", (0, 2, False)),
        ("time,bananas", (0, 1, False)),
        ("created,timestamp,qps", (1, 2, False)),
    ],
)
def test_names_that_people_use_are_known(header: str, expected: tuple[int, int, bool]) -> None:
    found = find_columns("load.csv", header.split(","), CsvOptions())

    assert (found.time, found.value, found.is_duration) == expected
