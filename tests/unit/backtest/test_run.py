"""The shell around the replay, on a load that takes a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from fakes.trace_reports import trace_report
from gputide.backtest.model import PolicyName, Trace
from gputide.backtest.run import SIDE_BY_SIDE, ReportSettings, run, write
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings
from gputide.charts.assets import MissingChartsError
from gputide.errors import InputError, SettingError

QUICK = BacktestSettings(
    history_days=1, evaluated_days=1, tuning_days=1, policies=(PolicyName.FIXED, PolicyName.HPA)
)


class Watching:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int, int]] = []
        self.shares: list[float] = []

    @contextmanager
    def trace(self, name: str, *, number: int, count: int) -> Iterator[Callable[[float], None]]:
        self.begun.append((name, number, count))
        yield self.shares.append


def load(name: str, *, minutes: int = 2 * 1440) -> Trace:
    hours = np.arange(minutes) / 60
    return Trace(
        name=name,
        demand=20 + 10 * np.sin(2 * np.pi * hours / 24),
        start_utc=datetime(2026, 1, 1, tzinfo=UTC),
        time_zone="UTC",
    )


def test_reports_come_in_the_order_of_the_traces_and_say_what_was_assumed() -> None:
    watcher = Watching()
    traces = [load(f"load-{at}") for at in range(SIDE_BY_SIDE + 1)]

    reports = run(traces, PodSettings(), QUICK, watcher)

    assert [report.trace.name for report in reports] == [trace.name for trace in traces]
    assert all(report.workload.capacity_per_pod == pytest.approx(1) for report in reports)
    assert all("capacity-per-pod is not given" in report.warnings[-1] for report in reports)
    assert [(number, count) for _, number, count in watcher.begun] == [(1, 2), (2, 2)]
    assert watcher.begun[1][0] == "load-3, load-4"
    assert all(0 <= share <= 1 for share in watcher.shares)


def test_a_trace_that_cannot_be_replayed_is_refused_before_any_is() -> None:
    watcher = Watching()

    with pytest.raises(InputError, match="short"):
        run([load("long"), load("short", minutes=30)], PodSettings(), QUICK, watcher)

    assert watcher.begun == []


def test_both_files_appear(tmp_path: Path) -> None:
    settings = ReportSettings(html=tmp_path / "a.html", json=tmp_path / "a.json")

    write([trace_report()], settings)

    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "a.json").read_text().startswith('{"format"')


def test_nothing_is_written_where_nothing_is_asked_for(tmp_path: Path) -> None:
    write([trace_report()], ReportSettings())

    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def without_charts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what takes the browser files away."""

    def missing() -> str:
        raise MissingChartsError("uPlot.iife.min.js")

    return lambda: monkeypatch.setattr("gputide.charts.assets.script", missing)


def test_where_the_page_cannot_be_made_the_json_does_not_appear_either(
    tmp_path: Path, without_charts: Callable[[], None]
) -> None:
    settings = ReportSettings(html=tmp_path / "a.html", json=tmp_path / "a.json")
    without_charts()

    with pytest.raises(MissingChartsError):
        write([trace_report()], settings)

    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_made_is_refused_before_the_work(
    tmp_path: Path, without_charts: Callable[[], None]
) -> None:
    without_charts()

    ReportSettings(json=tmp_path / "a.json")
    with pytest.raises(MissingChartsError, match="make run"):
        ReportSettings(html=tmp_path / "a.html")


def test_one_file_cannot_hold_both(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="same file"):
        ReportSettings(html=tmp_path / "a", json=tmp_path / "a")


def test_standard_output_belongs_to_whoever_was_given_it() -> None:
    assert ReportSettings(json=Path("/dev/stdout")).is_stdout_taken
    assert not ReportSettings().is_stdout_taken
    assert replace(ReportSettings(), language="zh").language == "zh"
