"""The load that is measured on: a folder of recorded traces, or those that the project makes."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from gputide.backtest.load.csv import CsvOptions, read_traces
from gputide.backtest.load.generate import generated_traces
from gputide.backtest.model import Trace
from gputide.errors import GputideError, InputError
from gputide.forecast.calendar import to_local_grid
from gputide.forecast.model import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that was left out, and why."""

    name: str
    reason: str


def load_traces(folder: Path | None) -> tuple[list[Trace], list[Skipped]]:
    """Return the traces of a folder of .csv and .csv.gz files, or the generated ones without it.

    A file that cannot be read is skipped and named; InputError where the folder cannot be.
    """
    if folder is None:
        return list(generated_traces()), []
    if not folder.is_dir():
        raise InputError(str(folder), "is no folder")
    traces: list[Trace] = []
    skipped: list[Skipped] = []
    for file in sorted(folder.iterdir()):
        if not file.name.endswith((".csv", ".csv.gz")):
            skipped.append(Skipped(name=file.name, reason="is no .csv or .csv.gz"))
            continue
        try:
            traces += _read(file)
        except GputideError as error:
            reason = str(error).removeprefix(str(file)).lstrip(": ")
            skipped.append(Skipped(name=file.name, reason=reason))
    return traces, skipped


def _read(file: Path) -> list[Trace]:
    """Read a file as it stands; where that fails, as series to add up: by pod, else by time."""
    try:
        return read_traces(file)
    except InputError as error:
        for options in (CsvOptions(sum_by="pod"), CsvOptions(sum=True)):
            try:
                return read_traces(file, options)
            except GputideError:
                continue
        raise error from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Load:
    """A trace on its local clock: `values[T]`, NaN where unknown."""

    name: str
    values: FloatArray
    start_local: datetime
    step_seconds: int

    @property
    def steps_per_day(self) -> int:
        """Columns in 24 h."""
        return 86_400 // self.step_seconds


def load_of(trace: Trace) -> Load:
    """Return the trace on the clock that its users live by."""
    grid = to_local_grid(
        np.asarray(trace.demand, float)[None], trace.start_utc, trace.time_zone, trace.step_seconds
    )
    return Load(
        name=trace.name,
        values=grid.values[0],
        start_local=grid.start_local,
        step_seconds=trace.step_seconds,
    )
