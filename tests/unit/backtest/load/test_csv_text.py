"""Files and streams before anybody knows what their rows mean."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gputide.backtest.load.csv import read_traces
from gputide.backtest.model import Trace
from gputide.errors import InputError

Read = Callable[..., Trace]
Refuse = Callable[..., str]

T0 = 1_700_000_040  # a whole minute


def rows(count: int, step: int = 60, first: int = T0) -> list[str]:
    return [f"{first + step * i},{i}" for i in range(count)]


def test_blank_lines_quotes_windows_ends_and_a_byte_order_mark_are_taken(read: Read) -> None:
    trace = read('\ufeff"Timestamp","Value"\r', "", f'"{T0}","1.5"\r', f"{T0 + 60},2\r", "")

    assert trace.demand.tolist() == [1.5, 2]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_semicolons_and_tabs_separate_too(read: Read, separator: str) -> None:
    lines = [line.replace(",", separator) for line in ("time,value", *rows(3))]

    assert read(*lines).demand.tolist() == [0, 1, 2]


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


def test_the_line_of_a_bad_row_counts_blank_and_quoted_lines(refuse: Refuse) -> None:
    text = refuse("timestamp,value,note", f'{T0},1,"two\nlines"', "", f"{T0 + 60},x,", "")

    assert text.startswith("load.csv:5: value 'x'")


def test_a_long_or_odd_cell_is_shortened_to_one_line(refuse: Refuse) -> None:
    text = refuse("timestamp,value", f'{T0},"a\nb\x1b{"c" * 5000}"', f"{T0 + 60},1")

    assert len(text) < 100


@pytest.mark.parametrize("text", ["time,value\r1,2\r3,4\r", f"time,value\n{T0},1\r{T0 + 60},2\r"])
def test_lines_that_end_in_cr_alone_are_refused(refuse: Refuse, text: str) -> None:
    assert "no CSV: new-line character seen in unquoted field" in refuse(text)


def test_a_field_longer_than_any_number_is_refused(refuse: Refuse) -> None:
    assert "no CSV: field larger than field limit" in refuse(f"time,{'v' * 200_000}", "1,2")


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
