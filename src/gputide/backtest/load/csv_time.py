"""Timestamps as people write them: Unix time in four units, ISO 8601 with a zone and without."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from gputide.backtest.load.csv_text import RowReader, shown

EARLIEST_SECONDS = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
LATEST_SECONDS = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
UNIX_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
"""Between 1990 and 2100 no two of them overlap, so the size of the number tells the unit."""


class TimeParser:
    """Reads one file's time column: the first row decides the form, the others must follow it."""

    def __init__(self, reader: RowReader, zone: tzinfo) -> None:
        self._reader = reader
        self._zone = zone
        self._unit: str | None = None
        self._is_zoned: bool | None = None
        self._previous_seconds = EARLIEST_SECONDS
        self._offsets: dict[date, timedelta | None] = {}

    @property
    def is_naive(self) -> bool:
        """Whether the file wrote local times without saying of which zone."""
        return self._is_zoned is False

    @property
    def is_zoned(self) -> bool:
        """Whether the file's times carried their own offset."""
        return self._is_zoned is True

    def parse(self, cells: Sequence[str], lines: Sequence[int]) -> list[float]:
        """Return Unix seconds, or raise the error of the first cell that is no such time."""
        if self._unit is None and self._is_zoned is None:
            self._decide_form(cells[0], lines[0])
        if self._unit is None:
            return [self._local(cell, line) for cell, line in zip(cells, lines, strict=True)]
        scale = UNIX_UNITS[self._unit]
        try:
            seconds = [float(cell) / scale for cell in cells]
        except ValueError:
            seconds = [
                self._number(cell, line) / scale for cell, line in zip(cells, lines, strict=True)
            ]
        if not all(EARLIEST_SECONDS <= value < LATEST_SECONDS for value in seconds):
            self._refuse_range(seconds, cells, lines)
        return seconds

    def _decide_form(self, cell: str, line: int) -> None:
        try:
            number = float(cell)
        except ValueError:
            self._is_zoned = self._moment(cell, line).tzinfo is not None
            return
        for unit, scale in UNIX_UNITS.items():
            if EARLIEST_SECONDS <= number / scale < LATEST_SECONDS:
                self._unit = unit
                return
        raise self._reader.problem(
            f"time {shown(cell)} is no Unix time of 1990-2100, in seconds or any finer unit",
            line=line,
        )

    def _refuse_range(
        self, seconds: list[float], cells: Sequence[str], lines: Sequence[int]
    ) -> None:
        for value, cell, line in zip(seconds, cells, lines, strict=True):
            if not EARLIEST_SECONDS <= value < LATEST_SECONDS:
                raise self._reader.problem(
                    f"time {shown(cell)} lies outside 1990-2100 in {self._unit}, like the first",
                    line=line,
                )

    def _number(self, cell: str, line: int) -> float:
        try:
            return float(cell)
        except ValueError as error:
            raise self._reader.problem(
                f"time {shown(cell)} is no number, but the first row's is", line=line
            ) from error

    def _moment(self, cell: str, line: int) -> datetime:
        try:
            return datetime.fromisoformat(cell)
        except ValueError:
            pass
        text = cell.strip().replace("/", "-").removesuffix(" UTC")
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise self._reader.problem(
                f"time {shown(cell)} is neither Unix time nor ISO 8601 (2026-01-31T23:59:00Z)",
                line=line,
            ) from error
        return moment.replace(tzinfo=UTC) if cell.strip().endswith(" UTC") else moment

    def _local(self, cell: str, line: int) -> float:
        moment = self._moment(cell, line)
        if (moment.tzinfo is not None) is not self._is_zoned:
            first = "has a zone" if self._is_zoned else "has none"
            raise self._reader.problem(
                f"time {shown(cell)} differs in form: the first row {first}", line=line
            )
        if not 1990 <= moment.year < 2100:
            raise self._reader.problem(f"time {shown(cell)} lies outside 1990-2100", line=line)
        seconds = moment.timestamp() if self._is_zoned else self._resolve(moment, cell, line)
        self._previous_seconds = seconds
        return seconds

    def _resolve(self, moment: datetime, cell: str, line: int) -> float:
        """Return the instant of a local time; where clocks repeat an hour the row above decides."""
        offset = self._offset_of_day(moment.date())
        if offset is not None:
            return (moment.replace(tzinfo=UTC) - offset).timestamp()
        zoned = moment.replace(tzinfo=self._zone)
        if zoned.astimezone(UTC).astimezone(self._zone).replace(tzinfo=None) != moment:
            raise self._reader.problem(
                f"time {shown(cell)} does not exist in {self._zone}: its clocks skip that hour",
                line=line,
            )
        first, second = zoned.timestamp(), zoned.replace(fold=1).timestamp()
        return second if first < self._previous_seconds <= second else first

    def _offset_of_day(self, day: date) -> timedelta | None:
        """Return the zone's offset on a day, or None on the days when the clocks change."""
        if day not in self._offsets:
            ends = {
                datetime.combine(day, at, self._zone).utcoffset() for at in (time.min, time.max)
            }
            self._offsets[day] = ends.pop() if len(ends) == 1 else None
        return self._offsets[day]
