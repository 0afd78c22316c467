"""Files as people have them, good and bad."""

import gzip
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.backtest.load.csv import CsvOptions, read_traces
from gputide.backtest.model import Trace
from gputide.errors import GputideError

Read = Callable[..., Trace]
Refuse = Callable[..., str]

T0 = 1_700_000_040  # a whole minute


def rows(count: int, step: int = 60, first: int = T0) -> list[str]:
    return [f"{first + step * i},{i}" for i in range(count)]


def test_a_plain_file_becomes_its_minutes(read: Read) -> None:
    trace = read("timestamp,value", *rows(5))

    assert trace.name == "load"
    assert trace.demand.tolist() == [0, 1, 2, 3, 4]
    assert trace.start_utc.timestamp() == T0
    assert (trace.time_zone, trace.step_seconds, trace.recorded_step_seconds) == ("UTC", 60, 60)
    assert trace.warnings == ()


def test_an_empty_cell_and_a_missing_row_are_unknown_not_zero(read: Read) -> None:
    trace = read("timestamp,value", f"{T0},1", f"{T0 + 60},", f"{T0 + 120},3", f"{T0 + 300},6")

    np.testing.assert_array_equal(trace.demand, [1, np.nan, 3, np.nan, np.nan, 6])
    assert trace.warnings == ("2 gaps, 3 minutes in all (50 %): unknown",)


@pytest.mark.parametrize("digits", [3, 6, 9])
def test_finer_unix_times_are_told_by_their_size(read: Read, digits: int) -> None:
    trace = read("timestamp,value", *(line.replace(",", "0" * digits + ",") for line in rows(3)))

    assert trace.start_utc.timestamp() == T0
    assert trace.demand.tolist() == [0, 1, 2]


def test_values_that_could_grow_no_more_are_marked_as_lower_bounds(read: Read) -> None:
    lines = ("timestamp,value", f"{T0},94", f"{T0 + 60},", f"{T0 + 120},95", f"{T0 + 180},100")

    trace = read(*lines, options=CsvOptions(saturated_at=95))

    assert trace.is_censored is not None
    assert trace.is_censored.tolist() == [False, False, True, True]
    assert read(*lines).is_censored is None


# --- rows and numbers


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"{T0 + 60},high", "load.csv:3: value 'high' is no number"),
        (f"{T0 + 60},NaN", "load.csv:3: value is 'NaN': leave the cell empty where it is unknown"),
        (f"{T0 + 60},inf", "load.csv:3: value is 'inf': leave the cell empty where it is unknown"),
        (f"{T0 + 60},1e999", "load.csv:3: value is '1e999': leave the cell empty"),
        (f"{T0 + 60},-1", "load.csv:3: value '-1' is negative"),
        (f"{T0 + 60},1e16", "load.csv:3: value '1e16' is above 1e+15"),
        (f"{T0 + 60}", "load.csv:3: 1 fields where the header has 2"),
        (f"{T0 + 60},1,2", "load.csv:3: 3 fields where the header has 2"),
        (f"{T0},1", "load.csv:3: time 2023-11-14 22:14:00Z occurs twice (first on line 2)"),
        (f"{T0 - 60},1", "load.csv:3: time 2023-11-14 22:13:00Z lies before the one on line 2"),
        (f'{T0 + 60},"1', "load.csv"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(refuse: Refuse, line: str, expected: str) -> None:
    assert refuse("timestamp,value", f"{T0},1", line, f"{T0 + 120},1").startswith(expected)


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


ODD_CELLS = """
|0|1.5|-1|nan|inf|1e300|1e400|"|a,b|1700000040|1700000100000|1700000160|4102444799|1_000|=1+1|é|\u0661
|2026-01-05 10:00:00|2026-03-29 02:30|9999-12-31|0001-01-01|2026-01-05T10:00:00+23:59|\x00
"""
CELLS = st.one_of(
    st.sampled_from(ODD_CELLS.split("|")),
    st.text(max_size=12),
    st.integers(-(10**20), 10**20).map(str),
)


@given(
    header=st.sampled_from(
        ["time,value", "created,exec_seconds", "timestamp,pod,percent", "t", ""]
    ),
    lines=st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=12),
    options=st.sampled_from(
        [CsvOptions(), CsvOptions(sum=True), CsvOptions(sum_by="pod", time_zone="Europe/Berlin")]
    ),
)
@settings(deadline=None, max_examples=200)
def test_any_text_is_load_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, header: str, lines: list[str], options: CsvOptions
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes("\n".join([header, *lines]).encode(errors="replace"))

    try:
        (trace,) = read_traces(path, options)
    except GputideError as error:
        assert str(error)  # noqa: PT017 both outcomes are right
    else:
        assert 0 <= np.nanmin(trace.demand) <= np.nanmax(trace.demand) < np.inf


PIECES = st.sampled_from(
    [b"time,value", b"1700000040,1", b"1700000100,2", b"\r", b"\n", b'"', b"\x00"]
)
CONTENT = st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=20).map(b"".join))


@given(content=CONTENT, is_packed=st.booleans())
@settings(deadline=None, max_examples=100)
def test_any_bytes_are_load_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, *, content: bytes, is_packed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    packed = gzip.compress(b"time,value\n" + content)
    path.write_bytes(packed[:-9] + content if is_packed else content)

    with suppress(GputideError):
        read_traces(path)
