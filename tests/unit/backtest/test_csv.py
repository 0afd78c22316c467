"""Files as people have them, good and bad."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gputide.backtest.csv import CsvOptions, read_folder, read_traces
from gputide.backtest.model import Trace
from gputide.errors import GputideError, InputError, SettingError

Read = Callable[..., Trace]
Refuse = Callable[..., str]

T0 = 1_700_000_040  # a whole minute


def rows(count: int, step: int = 60, first: int = T0) -> list[str]:
    return [f"{first + step * i},{i}" for i in range(count)]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(*lines: str, options: CsvOptions | None = None, name: str = "load.csv") -> Trace:
        path = tmp_path / name
        path.write_bytes("\n".join(lines).encode())
        (trace,) = read_traces(path, options)
        return trace

    return read_text


@pytest.fixture
def refuse(read: Read, tmp_path: Path) -> Refuse:
    def message(*lines: str, options: CsvOptions | None = None, name: str = "load.csv") -> str:
        with pytest.raises(GputideError) as caught:
            read(*lines, options=options, name=name)
        text = str(caught.value)
        assert caught.value.exit_code == 2
        assert len(text.splitlines()) == 1
        return text.replace(f"{tmp_path}/", "")

    return message


def test_a_plain_file_becomes_its_minutes(read: Read) -> None:
    trace = read("timestamp,value", *rows(5))

    assert trace.name == "load"
    assert trace.demand.tolist() == [0, 1, 2, 3, 4]
    assert trace.start_utc.timestamp() == T0
    assert (trace.time_zone, trace.step_seconds, trace.recorded_step_seconds) == ("UTC", 60, 60)
    assert trace.warnings == ()


def test_blank_lines_quotes_windows_ends_and_a_byte_order_mark_are_taken(read: Read) -> None:
    trace = read('\ufeff"Timestamp","Value"\r', "", f'"{T0}","1.5"\r', f"{T0 + 60},2\r", "")

    assert trace.demand.tolist() == [1.5, 2]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_semicolons_and_tabs_separate_too(read: Read, separator: str) -> None:
    lines = [line.replace(",", separator) for line in ("time,value", *rows(3))]

    assert read(*lines).demand.tolist() == [0, 1, 2]


def test_an_empty_cell_and_a_missing_row_are_unknown_not_zero(read: Read) -> None:
    trace = read("timestamp,value", f"{T0},1", f"{T0 + 60},", f"{T0 + 120},3", f"{T0 + 300},6")

    np.testing.assert_array_equal(trace.demand, [1, np.nan, 3, np.nan, np.nan, 6])
    assert trace.warnings == ("2 gaps, 3 minutes in all (50 %): unknown",)


@pytest.mark.parametrize("digits", [3, 6, 9])
def test_finer_unix_times_are_told_by_their_size(read: Read, digits: int) -> None:
    trace = read("timestamp,value", *(line.replace(",", "0" * digits + ",") for line in rows(3)))

    assert trace.start_utc.timestamp() == T0
    assert trace.demand.tolist() == [0, 1, 2]


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


def test_a_gzip_file_is_told_by_its_bytes(tmp_path: Path) -> None:
    text = "\n".join(["timestamp,value", *rows(3)]).encode()
    for name in ("load.csv.gz", "load.csv"):
        (tmp_path / name).write_bytes(gzip.compress(text))

        (trace,) = read_traces(tmp_path / name)

        assert (trace.name, trace.demand.tolist()) == ("load", [0, 1, 2])


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(["timestamp,value", *rows(3)]).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))

    (trace,) = read_traces("-")

    assert (trace.name, trace.demand.tolist()) == ("stdin", [0, 1, 2])


def test_a_folder_is_read_by_name(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "notes.txt"):
        (tmp_path / name).write_text("\n".join(["timestamp,value", *rows(3)]))

    assert [trace.name for trace in read_folder(tmp_path)] == ["a", "b"]


# --- times


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


# --- rows and numbers


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"{T0 + 60},high", "load.csv:3: value 'high' is no number"),
        (f"{T0 + 60},NaN", "load.csv:3: value is 'NaN': leave the cell empty where it is unknown"),
        (f"{T0 + 60},inf", "load.csv:3: value is 'inf': leave the cell empty where it is unknown"),
        (f"{T0 + 60},1e999", "load.csv:3: value is '1e999': leave the cell empty"),
        (f"{T0 + 60},-1", "load.csv:3: value '-1' is negative"),
        (f"{T0 + 60}", "load.csv:3: 1 fields where the header has 2"),
        (f"{T0 + 60},1,2", "load.csv:3: 3 fields where the header has 2"),
        (f"{T0},1", "load.csv:3: time 2023-11-14 22:14:00Z occurs twice (first on line 2)"),
        (f"{T0 - 60},1", "load.csv:3: time 2023-11-14 22:13:00Z lies before the one on line 2"),
        (f'{T0 + 60},"1', "load.csv"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(refuse: Refuse, line: str, expected: str) -> None:
    assert refuse("timestamp,value", f"{T0},1", line, f"{T0 + 120},1").startswith(expected)


def test_the_line_of_a_bad_row_counts_blank_and_quoted_lines(refuse: Refuse) -> None:
    text = refuse("timestamp,value,note", f'{T0},1,"two\nlines"', "", f"{T0 + 60},x,", "")

    assert text.startswith("load.csv:5: value 'x'")


def test_a_long_or_odd_cell_is_shortened_to_one_line(refuse: Refuse) -> None:
    text = refuse("timestamp,value", f'{T0},"a\nb\x1b{"c" * 5000}"', f"{T0 + 60},1")

    assert len(text) < 100


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "load.csv: is empty"),
        (["", " "], "load.csv: is empty"),
        (["timestamp,value"], "load.csv: has no row below its header"),
        (["timestamp,value", f"{T0},1"], "load.csv: has one row below its header"),
        (["timestamp,value", f"{T0},", f"{T0 + 60},"], "load.csv: holds no value"),
        (rows(3), "load.csv:1: no header"),
        (["2026-01-05 10:00:00,3", "2026-01-05 10:01:00,4"], "load.csv:1: no header"),
        (
            ["a,b", "1,2"],
            "load.csv:1: no column could be the time; there are a, b: choose with --time",
        ),
        (["time,ts,value", "1,2,3"], "load.csv:1: several columns could be the time"),
        (["time,cpu,gpu", "1,2,3"], "load.csv:1: several columns could be the value"),
        (["time", "1"], "load.csv:1: no column could be the value"),
    ],
)
def test_a_file_without_what_it_takes_is_refused(
    refuse: Refuse, lines: list[str], expected: str
) -> None:
    assert refuse(*lines).startswith(expected)


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
        (CsvOptions(time_zone="Mars/Olympus"), "time-zone: 'Mars/Olympus' is no IANA zone"),
        (CsvOptions(time_zone="../../etc/passwd"), "time-zone: '../../etc/passwd' is no IANA zone"),
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


def test_what_is_no_text_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_bytes(b"timestamp,value\n\xff\xfe1,2\n")

    with pytest.raises(InputError, match=r"load\.csv:2: no UTF-8 text"):
        read_traces(path)


def test_a_line_without_end_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_bytes(b"timestamp,value\n" + b"1" * (1 << 21))

    with pytest.raises(InputError, match=r"load\.csv:2: the line is longer than 1 MiB"):
        read_traces(path)


def test_a_gz_that_is_no_gzip_is_refused(refuse: Refuse) -> None:
    text = refuse("timestamp,value", *rows(3), name="load.csv.gz")

    assert text == "load.csv.gz: is no gzip file, whatever its name says"


@pytest.mark.parametrize("harm", ["cut", "changed"])
def test_a_broken_gzip_is_refused(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "load.csv.gz"
    packed = bytearray(gzip.compress("\n".join(["timestamp,value", *rows(5000)]).encode()))
    if harm == "changed":
        packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed[: len(packed) // 2] if harm == "cut" else packed)

    with pytest.raises(InputError, match=r"load\.csv\.gz") as caught:
        read_traces(path)

    assert len(str(caught.value).splitlines()) == 1


def test_a_folder_a_missing_and_an_unreadable_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        read_traces(tmp_path)
    with pytest.raises(InputError, match="no such file or directory"):
        read_traces(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"permission denied|input/output error|invalid argument"):
        read_traces("/proc/self/mem")
    with pytest.raises(InputError, match="is no folder"):
        read_folder(tmp_path / "none")
    with pytest.raises(InputError, match="holds no"):
        read_folder(tmp_path)


# --- many series, and requests


def test_several_rows_at_one_time_need_a_word_from_the_person(refuse: Refuse) -> None:
    lines = ("timestamp,pod,percent", f"{T0},a,1", f"{T0},b,2", f"{T0 + 60},a,3")

    assert refuse(*lines) == (
        "load.csv:3: time 2023-11-14 22:14:00Z occurs twice (first on line 2):"
        " add series up with --sum-by pod, or all rows with --sum"
    )


def test_series_one_after_another_need_a_word_from_the_person_too(refuse: Refuse) -> None:
    text = refuse("timestamp,pod,percent", f"{T0},a,1", f"{T0 + 60},a,1", f"{T0},b,2")

    assert text.startswith("load.csv:4: time")
    assert "--sum-by pod" in text


@pytest.mark.parametrize("options", [CsvOptions(sum_by="pod"), CsvOptions(sum=True)])
def test_rows_of_one_time_are_added_up_when_asked_for(read: Read, options: CsvOptions) -> None:
    by_time = [
        f"{T0 + 60 * t},{pod},{value}" for t in range(3) for pod, value in (("a", 1), ("b", t))
    ]
    by_pod = sorted(by_time, key=lambda line: line.split(",")[1])

    for lines in (by_time, by_pod):
        trace = read("timestamp,pod,percent", *lines, options=options)

        assert trace.demand.tolist() == [1, 2, 3]
        assert (trace.replicas is not None) == (options.sum_by == "pod")


def test_a_pod_that_misses_samples_is_held_so_that_the_sum_does_not_dip(read: Read) -> None:
    lines = [f"{T0 + 60 * t},a,10" for t in range(20)]
    lines += [
        f"{T0 + 60 * t},b,5" for t in range(20) if t not in {3, 4, 10, 11, 12, 13, 14, 15, 16}
    ]

    trace = read("timestamp,pod,percent", *lines, options=CsvOptions(sum_by="pod"))

    assert trace.demand.tolist() == [15] * 10 + [10] * 7 + [15] * 3
    assert trace.replicas is not None
    assert trace.replicas.tolist() == [2] * 10 + [1] * 7 + [2] * 3


def test_where_no_pod_has_a_sample_the_sum_is_unknown(read: Read) -> None:
    lines = [f"{T0 + 60 * t},{pod},5" for pod in "ab" for t in (0, 1, 3, 4)]

    trace = read("timestamp,pod,percent", *lines, options=CsvOptions(sum_by="pod"))

    np.testing.assert_array_equal(trace.demand, [10, 10, np.nan, 10, 10])


def test_requests_become_how_many_ran_at_once(read: Read) -> None:
    trace = read(
        "created,exec_seconds,status",
        f"{T0 + 30},60.0,OK",  # half of the first minute, half of the second
        f"{T0 + 90},,PENDING",
        f"{T0 + 60},120.0,OK",  # logs are written at the end of a request: order does not matter
        f"{T0 + 240},5,OK",
    )

    assert trace.demand.tolist() == [0.5, 1.5, 1, 0]
    assert trace.unit == "requests in flight"
    assert trace.warnings == ("1 requests without a duration: left out",)


def test_a_request_log_can_name_its_columns(read: Read) -> None:
    options = CsvOptions(time_column="at", duration_column="took")

    trace = read("at,took,value", f"{T0},30,9", f"{T0 + 60},30,9", options=options)

    assert trace.demand.tolist() == [0.5]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([f"{T0},-3", f"{T0 + 90},1"], "load.csv:2: exec_seconds '-3' is negative"),
        ([f"{T0},x", f"{T0 + 90},1"], "load.csv:2: exec_seconds 'x' is no number"),
        ([f"{T0},3", f"{T0 + 1},1"], "load.csv: too short"),
        ([f"{T0},", f"{T0 + 90},"], "load.csv: too short"),
        (["700000000,3", "1700000000,1"], "load.csv:3: the log spans 11,574 days up to here"),
    ],
)
def test_a_bad_request_log_is_refused(refuse: Refuse, lines: list[str], expected: str) -> None:
    assert refuse("created,exec_seconds", *lines).startswith(expected)


def test_a_long_silence_in_a_request_log_is_said(read: Read) -> None:
    lines = [f"{T0 + 10 * i},1" for i in range(5000)]
    lines += [f"{T0 + 200_000 + 10 * i},1" for i in range(5000)]

    (warning,) = read("created,exec_seconds", *lines).warnings

    assert warning == "no request for 41.7 h until 2023-11-17 05:47Z: read as no demand"


def test_a_hundred_thousand_rows_are_read_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text("\n".join(["timestamp,value", *rows(100_000)]))

    (trace,) = read_traces(path)

    assert len(trace.demand) == 100_000
