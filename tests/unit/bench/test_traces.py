import gzip
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from bench.traces import load_of, load_traces

from gputide.backtest.model import Trace
from gputide.errors import InputError

START = 1_700_000_040


def test_a_folder_is_read_and_what_cannot_be_is_named(tmp_path: Path) -> None:
    rows = "".join(f"{START + 60 * minute},{minute}\n" for minute in range(1, 60))
    (tmp_path / "plain.csv").write_text("timestamp,value\n" + rows)
    with gzip.open(tmp_path / "packed.csv.gz", "wt") as file:
        file.write("timestamp,value\n" + rows)
    (tmp_path / "bad.csv").write_text(f"timestamp,value\n{START},one\n{START + 60},2\n")
    (tmp_path / "notes.txt").write_text("nothing")
    traces, skipped = load_traces(tmp_path)
    assert [trace.name for trace in traces] == ["packed", "plain"]
    reasons = {one.name: one.reason for one in skipped}
    assert set(reasons) == {"bad.csv", "notes.txt"}
    assert "one" in reasons["bad.csv"]
    assert str(tmp_path) not in reasons["bad.csv"]


def test_many_pods_and_many_rows_a_time_are_added_up(tmp_path: Path) -> None:
    lines = [f"{START + 60 * m},{pod},{p + m}\n" for m in range(1, 9) for p, pod in enumerate("ab")]
    (tmp_path / "pods.csv").write_text("timestamp,pod,percent\n" + "".join(lines))
    (tmp_path / "types.csv").write_text("timestamp,kind,qps\n" + "".join(lines))
    traces, skipped = load_traces(tmp_path)
    assert skipped == []
    for trace in traces:
        assert trace.demand[:3].tolist() == [3, 5, 7]


def test_a_log_of_requests_is_read_as_busy_gpus(tmp_path: Path) -> None:
    lines = [f"{START + 60 * minute},30,SUCCEED\n" for minute in range(1, 9)]
    (tmp_path / "log.csv").write_text("created,exec_seconds,status\n" + "".join(lines))
    [trace], skipped = load_traces(tmp_path)
    assert skipped == []
    assert set(trace.demand.tolist()) == {0.5}


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        load_traces(tmp_path / "absent")


def test_a_load_lies_on_its_local_clock() -> None:
    trace = Trace(
        name="spring",
        demand=np.arange(300.0),
        start_utc=datetime(2024, 3, 31, tzinfo=UTC),
        time_zone="Europe/Berlin",
    )
    load = load_of(trace)
    assert load.start_local.isoformat() == "2024-03-31T01:00:00"
    assert np.isnan(load.values[60:120]).all()
