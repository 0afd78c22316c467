"""`gputide forecast`: the next 24 h of recorded load, and whether to trust them."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter
from rich.console import Console

from gputide.backtest.load.csv import CsvOptions
from gputide.backtest.outlook import json
from gputide.backtest.outlook.look import OutlookSettings, look_ahead
from gputide.backtest.outlook.table import print_outlooks
from gputide.backtest.report.files import check_writable, write_whole
from gputide.cli.arguments import STDOUT
from gputide.cli.source import ReadingOption, ServerOption, Source, SourceOption, read_load
from gputide.clock import SystemClock

FORECAST = Group("Forecast", sort_key=4)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the numbers go."""

    json: Path | None = None
    """Write all numbers, a value a minute, to this file; - prints them and no table."""

    def __post_init__(self) -> None:
        if self.json is not None and not self.is_json_alone:
            check_writable(self.json)

    @property
    def is_json_alone(self) -> bool:
        """Whether standard output belongs to another program."""
        return self.json is not None and str(self.json) in {STDOUT, "-"}


def forecast(
    source: SourceOption = Source(),
    *,
    reading: ReadingOption = CsvOptions(),
    server: ServerOption = None,
    settings: Annotated[OutlookSettings, Parameter(name="*", group=FORECAST)] = OutlookSettings(),
    output: Annotated[Output, Parameter(name="*", group=FORECAST)] = Output(),
) -> None:
    """Forecast recorded load: the next hours as numbers, and whether to trust them."""
    load = read_load(source, reading, server, SystemClock())
    if load.ahpa is not None:
        settings = settings.fit(load.ahpa.autoscaler)
    outlooks = [look_ahead(trace, settings) for trace in load.traces]
    if output.is_json_alone:
        sys.stdout.write(json.render(outlooks))
        return
    if output.json is not None:
        write_whole(output.json, json.render(outlooks))
    print_outlooks(outlooks, Console())
