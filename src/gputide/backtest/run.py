"""The shell of a backtest: size the pods, replay each trace, write the reports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from gputide.backtest.frame import frame_of
from gputide.backtest.model import Trace, TraceReport
from gputide.backtest.ports import Watcher
from gputide.backtest.report import json, page
from gputide.backtest.report.files import check_writable, write_whole
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings, Sized, size
from gputide.backtest.workers import Batch, replay_batches
from gputide.charts import Language, assets
from gputide.errors import SettingError

SIDE_BY_SIDE = 4
"""Traces in one replay: four take little longer than one, more need more memory."""

STDOUT = Path("/dev/stdout")


@dataclass(frozen=True, slots=True, kw_only=True)
class EffortSettings:
    """How much of the machine a backtest takes."""

    workers: Annotated[int, Parameter(validator=Number(gte=0, lte=256))] = 0
    """Processes that replay several traces at the same time; 0: one a core."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Where the report goes beside the terminal."""

    html: Path | None = None
    """Write the report as one HTML page that opens offline."""

    json: Path | None = None
    """Write the report for programs; - prints it, and no table."""

    language: Language = "en"
    """Of the page: en, zh."""

    verbose: bool = False
    """Print every trace in full, where there are several."""

    def __post_init__(self) -> None:
        if self.html is not None and self.html == self.json:
            raise SettingError("html", "and json name the same file")
        for path in (self.html, self.json):
            if path is not None:
                check_writable(path)
        if self.html is not None:
            assets.script()  # a checkout without it fails now, not after the replay

    @property
    def is_stdout_taken(self) -> bool:
        """Whether standard output belongs to another program."""
        return STDOUT in {self.html, self.json}


def run(
    traces: Sequence[Trace],
    pods: PodSettings,
    settings: BacktestSettings,
    watcher: Watcher,
    *,
    workers: int = 1,
) -> tuple[TraceReport, ...]:
    """Replay the traces, a few side by side, on so many processes.

    Raises InputError or SettingError for the first trace that cannot be replayed, before any is.
    """
    sized = [size(trace, pods) for trace in traces]
    for trace, one in zip(traces, sized, strict=True):
        frame_of(trace, one.workload, settings)
    reports = replay_batches(_batches(traces, sized, settings, workers), watcher, workers=workers)
    return tuple(
        replace(report, warnings=(*report.warnings, *one.warnings))
        for report, one in zip(reports, sized, strict=True)
    )


def _batches(
    traces: Sequence[Trace], sized: Sequence[Sized], settings: BacktestSettings, workers: int
) -> list[Batch]:
    """Return equal shares of the traces, at most SIDE_BY_SIDE each and one or more a worker."""
    rounds = ceil(len(traces) / (SIDE_BY_SIDE * workers))
    length = max(ceil(len(traces) / (rounds * workers)), 1) if traces else 1
    return [
        Batch(
            number=number,
            traces=tuple(traces[start : start + length]),
            workloads=tuple(one.workload for one in sized[start : start + length]),
            settings=settings,
        )
        for number, start in enumerate(range(0, len(traces), length), 1)
    ]


def write(reports: Sequence[TraceReport], settings: ReportSettings) -> None:
    """Write the files that are asked for, each whole or not at all; InputError names the file."""
    # Both texts first: where one cannot be made, neither file appears.
    texts = []
    if settings.html is not None:
        texts.append((settings.html, page.render(reports, settings.language)))
    if settings.json is not None:
        texts.append((settings.json, json.render(reports)))
    for path, text in texts:
        write_whole(path, text)
