"""Load from CSV files: samples, samples of many series, or one row a request.

Every file becomes a `Trace` on a regular grid of minutes, or one `InputError` that names the line.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gputide.backtest.load.concurrency import MINUTE_SECONDS, busy_by_minute
from gputide.backtest.load.csv_columns import POD_NAMES, Columns, CsvOptions, find_columns
from gputide.backtest.load.csv_text import Row, RowReader, open_rows, shown
from gputide.backtest.load.csv_time import TimeParser
from gputide.backtest.load.grid import MAX_SPAN_SECONDS, to_minute_grid
from gputide.backtest.load.samples import Samples, in_order
from gputide.backtest.model import FloatArray, Trace
from gputide.clock import utc_from_unix
from gputide.errors import InputError
from gputide.scaling.zone import zone_named

__all__ = ["CsvOptions", "read_traces"]

MAX_KEYS = 100_000
MAX_VALUE = 1e15
"""No load is larger, and sums of those keep their precision."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    """One file as it stands: `[N]` each, in the file's order."""

    name: str
    columns: Columns
    header: Sequence[str]
    times: FloatArray
    values: FloatArray
    keys: NDArray[np.int64]
    lines: NDArray[np.int64]
    warnings: tuple[str, ...]


def read_traces(path: Path | str, options: CsvOptions | None = None) -> list[Trace]:
    """Read one .csv or .csv.gz file, `-` for standard input; raise InputError or SettingError."""
    options = options or CsvOptions()
    read = _read(path, options)
    trace = (
        _request_trace(read, options) if read.columns.is_duration else _level_trace(read, options)
    )
    return [trace]


def _level_trace(read: _Read, options: CsvOptions) -> Trace:
    """Return the trace of a file whose rows are levels of one series or of many."""
    samples = in_order(
        Samples(
            name=read.name,
            times=read.times,
            values=read.values,
            keys=read.keys,
            lines=read.lines,
            is_keyed=read.columns.key is not None,
        ),
        is_summed=options.sum or read.columns.key is not None,
        others=read.columns.others,
    )
    grid = to_minute_grid(samples, hold_seconds=options.hold_seconds)
    key = read.columns.key
    is_of_pods = key is not None and read.header[key].lower() in POD_NAMES
    return Trace(
        name=_trace_name(read.name),
        demand=grid.values,
        start_utc=utc_from_unix(grid.start_seconds),
        time_zone=options.time_zone or "UTC",
        unit=options.unit,
        recorded_step_seconds=grid.recorded_step_seconds,
        replicas=np.rint(grid.series) if is_of_pods and grid.series is not None else None,
        is_censored=_saturated(grid.values, options),
        warnings=read.warnings + grid.warnings,
    )


def _request_trace(read: _Read, options: CsvOptions) -> Trace:
    """Return the trace of a log of requests: a minute without any is 0, for a log is complete.

    It ends with the last whole minute before the last start: nobody knows what started later.
    """
    first = int(read.times.min() // MINUTE_SECONDS) * MINUTE_SECONDS
    minutes = int((read.times.max() - first) // MINUTE_SECONDS)
    if minutes * MINUTE_SECONDS > MAX_SPAN_SECONDS:
        row = int(np.argmax(read.times))
        days = minutes * MINUTE_SECONDS / 86_400
        raise InputError(
            f"{read.name}:{read.lines[row]}",
            f"the log spans {days:,.0f} days up to here, at most {MAX_SPAN_SECONDS // 86_400:,}",
        )
    is_known = ~np.isnan(read.values)
    if not minutes or not is_known.any():
        raise InputError(read.name, "too short: no request with a duration and a minute after it")
    warnings = [*read.warnings]
    if not is_known.all():
        warnings.append(f"{(~is_known).sum():,} requests without a duration: left out")
    demand = busy_by_minute(
        read.times[is_known], read.values[is_known], first_seconds=first, minutes=minutes
    )
    return Trace(
        name=_trace_name(read.name),
        demand=demand,
        start_utc=utc_from_unix(first),
        time_zone=options.time_zone or "UTC",
        unit=options.unit or "requests in flight",
        is_censored=_saturated(demand, options),
        warnings=(*warnings, *_silence_warnings(read.times)),
    )


def _saturated(demand: FloatArray, options: CsvOptions) -> NDArray[np.bool_] | None:
    """Return which minutes are only a lower bound; an unknown one is none."""
    return None if options.saturated_at is None else demand >= options.saturated_at


def _silence_warnings(starts: FloatArray) -> list[str]:
    """Return a warning where a log falls silent so long that it may have lost something."""
    ordered = np.sort(starts)
    silences = np.diff(ordered)
    longest = int(np.argmax(silences))
    if silences[longest] < max(6 * 3600, 100 * float(silences.mean())):
        return []
    until = utc_from_unix(float(ordered[longest + 1])).strftime("%Y-%m-%d %H:%MZ")
    return [f"no request for {silences[longest] / 3600:.1f} h until {until}: read as no demand"]


def _read(path: Path | str, options: CsvOptions) -> _Read:
    zone = zone_named(options.time_zone or "UTC")
    with open_rows(path) as reader:
        columns = find_columns(reader.name, reader.header, options)
        times, values, lines, keys = array("d"), array("d"), array("q"), array("q")
        parser, codes = TimeParser(reader, zone), dict[str, int]()
        for numbers, rows in reader.chunks():
            lines.extend(numbers)
            times.extend(parser.parse([row[columns.time] for row in rows], numbers))
            values.extend(_numbers(reader, columns, rows, numbers))
            if columns.key is not None:
                keys.extend(codes.setdefault(row[columns.key], len(codes)) for row in rows)
                if len(codes) > MAX_KEYS:
                    raise reader.problem(f"more than {MAX_KEYS:,} series in one file")
        if len(times) < 2:
            count = "one row" if times else "no row"
            raise InputError(reader.name, f"has {count} below its header: at least two are needed")
        return _Read(
            name=reader.name,
            columns=columns,
            header=reader.header,
            times=np.frombuffer(times),
            values=np.frombuffer(values),
            keys=np.frombuffer(keys, np.int64) if keys else np.zeros(len(times), np.int64),
            lines=np.frombuffer(lines, np.int64),
            warnings=_zone_warnings(parser, options),
        )


def _zone_warnings(parser: TimeParser, options: CsvOptions) -> tuple[str, ...]:
    if options.time_zone is not None:
        return ()
    if parser.is_naive:
        return ("times name no zone: read as UTC (--time-zone names another)",)
    if parser.is_zoned:
        return ("days and weeks are counted in UTC (--time-zone names another zone)",)
    return ()


def _numbers(
    reader: RowReader, columns: Columns, rows: Sequence[Row], lines: Sequence[int]
) -> list[float]:
    """Return the value column; an empty cell is unknown, anything else must be a demand."""
    cells = [row[columns.value] for row in rows]
    try:
        values = [float(cell) for cell in cells]
        if isfinite(sum(values)) and min(values) >= 0 and max(values) <= MAX_VALUE:
            return values
    except ValueError:
        pass
    column = reader.header[columns.value]
    return [_number(reader, column, cell, line) for cell, line in zip(cells, lines, strict=True)]


def _number(reader: RowReader, column: str, cell: str, line: int) -> float:
    if not cell.strip():
        return float("nan")
    try:
        value = float(cell)
    except ValueError as error:
        raise reader.problem(f"{column} {shown(cell)} is no number", line=line) from error
    if not isfinite(value):
        raise reader.problem(
            f"{column} is {shown(cell)}: leave the cell empty where it is unknown", line=line
        )
    if value < 0:
        raise reader.problem(f"{column} {shown(cell)} is negative: no demand is", line=line)
    if value > MAX_VALUE:
        raise reader.problem(f"{column} {shown(cell)} is above {MAX_VALUE:g}", line=line)
    return value


def _trace_name(file: str) -> str:
    return Path(file).name.removesuffix(".gz").removesuffix(".csv")
