"""`gputide backtest`: what each policy would have cost, and where it would have hurt."""

import os
from typing import Annotated

from cyclopts import Group, Parameter
from rich.console import Console

from gputide.backtest import run as shell
from gputide.backtest.load.csv import CsvOptions
from gputide.backtest.report import table
from gputide.backtest.run import EffortSettings, ReportSettings
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings
from gputide.cli.progress import watching
from gputide.cli.source import ReadingOption, ServerOption, Source, SourceOption, read_load
from gputide.clock import SystemClock

PODS = Group("Pods", sort_key=4)
REPLAY = Group("Replay", sort_key=5)
REPORT = Group("Report", sort_key=6)


def backtest(  # noqa: PLR0913 each parameter is a group of flags
    source: SourceOption = Source(),
    *,
    reading: ReadingOption = CsvOptions(),
    server: ServerOption = None,
    pods: Annotated[PodSettings, Parameter(name="*", group=PODS)] = PodSettings(),
    replay: Annotated[BacktestSettings, Parameter(name="*", group=REPLAY)] = BacktestSettings(),
    effort: Annotated[EffortSettings, Parameter(name="*", group=REPLAY)] = EffortSettings(),
    report: Annotated[ReportSettings, Parameter(name="*", group=REPORT)] = ReportSettings(),
) -> None:
    """Replay recorded load: what each policy would have cost, and where it would have hurt."""
    load = read_load(source, reading, server, SystemClock())
    if load.ahpa is not None:
        pods, replay = load.ahpa.fit(pods, replay)
    with watching(Console(stderr=True)) as watcher:
        workers = effort.workers or len(os.sched_getaffinity(0))
        reports = shell.run(load.traces, pods, replay, watcher, workers=workers)
    shell.write(reports, report)
    if not report.is_stdout_taken:
        table.print_reports(reports, Console(), is_verbose=report.verbose)
