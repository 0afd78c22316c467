"""The shell of a backtest: size the pods, replay each trace, write the reports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gputide.backtest.frame import frame_of
from gputide.backtest.model import Trace, TraceReport
from gputide.backtest.ports import Watcher
from gputide.backtest.replay import replay_all
from gputide.backtest.report import json, page
from gputide.backtest.report.files import check_writable, write_whole
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings, size
from gputide.charts import Language, assets
from gputide.errors import SettingError

SIDE_BY_SIDE = 4
"""Traces in one replay: four take little longer than one, more need more memory."""

STDOUT = Path("/dev/stdout")


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
    traces: Sequence[Trace], pods: PodSettings, settings: BacktestSettings, watcher: Watcher
) -> tuple[TraceReport, ...]:
    """Replay the traces, a few side by side.

    Raises InputError or SettingError for the first trace that cannot be replayed, before any is.
    """
    sized = [size(trace, pods) for trace in traces]
    for trace, one in zip(traces, sized, strict=True):
        frame_of(trace, one.workload, settings)
    reports: list[TraceReport] = []
    starts = range(0, len(traces), SIDE_BY_SIDE)
    for number, start in enumerate(starts, 1):
        some = slice(start, start + SIDE_BY_SIDE)
        names = ", ".join(trace.name for trace in traces[some])
        with watcher.trace(names, number=number, count=len(starts)) as on_progress:
            reports += replay_all(
                traces[some],
                [one.workload for one in sized[some]],
                settings,
                on_progress=on_progress,
            )
    return tuple(
        replace(report, warnings=(*report.warnings, *one.warnings))
        for report, one in zip(reports, sized, strict=True)
    )


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
