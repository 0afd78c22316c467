"""Which column of a CSV holds what: by the person's word, else by the names that people use."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gputide.errors import InputError, SettingError

TIME_NAMES = (
    frozenset({"timestamp", "time", "ts", "datetime", "date", "_time", "@timestamp"}),
    frozenset({"created", "start", "start_time", "started", "started_at", "created_at", "begin"}),
    frozenset({"date_time", "epoch", "unix", "unix_time", "unixtime", "time_utc", "minute"}),
)
VALUE_NAMES = (
    frozenset({"value", "_value", "demand", "load"}),
    frozenset(
        {"val", "y", "usage", "utilization", "utilisation", "percent", "rps", "qps", "requests"}
        | {"count", "invocations", "concurrency", "cpu", "gpu", "gpus", "duty_cycle", "rate", "sum"}
    ),
)
DURATION_NAMES = (
    frozenset({"duration", "duration_seconds", "exec_seconds", "duration_s", "elapsed_seconds"}),
    frozenset({"elapsed", "exec_time", "runtime", "runtime_seconds", "latency_seconds", "seconds"}),
)
POD_NAMES = frozenset({"pod", "pods", "pod_name", "exported_pod", "instance", "replica", "pod_id"})
"""Keys whose number is the number of replicas that ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """How to read a CSV file, where its header does not say it."""

    time_column: str | None = None
    """Column with the times; without it, timestamp, time, created and the like."""

    value_column: str | None = None
    """Column with the demand; without it, value, rps, percent and the like."""

    duration_column: str | None = None
    """Column with the seconds that a request took: each row is then one request."""

    sum_by: str | None = None
    """Column that tells series apart (a pod's name, say); demand is their sum."""

    sum: bool = False
    """Add up all rows of one time."""

    time_zone: str | None = None
    """IANA zone of the days and weeks, and of times that name none; UTC if not given."""

    unit: str = ""
    """What the demand counts, for titles and tables."""

    hold_seconds: int = 300
    """How long a series that misses samples keeps its last value, so that the sum does not dip."""

    saturated_at: float | None = None
    """From this value on the demand was at least that: GPUs that could do no more (95 %, say)."""

    def __post_init__(self) -> None:
        if self.value_column and self.duration_column:
            raise SettingError(
                "duration-column", "a file has a value or a duration column, not both"
            )
        if self.hold_seconds < 0:
            raise SettingError("hold-seconds", "must be at least 0")
        if self.saturated_at is not None and not self.saturated_at > 0:
            raise SettingError("saturated-at", "must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Positions in a row; `duration` makes the file a log of requests, `key` a long form."""

    time: int
    value: int
    is_duration: bool
    key: int | None = None
    others: tuple[str, ...] = ()
    """Names that were left over: one of them may tell series apart."""


class ColumnFinder:
    """Finds columns of one header, ignoring case."""

    def __init__(self, name: str, header: Sequence[str]) -> None:
        self._name = name
        self._header = header
        self._lower = [column.lower() for column in header]

    def named(self, column: str, setting: str) -> int:
        """Return the position of the column that a setting names."""
        found = [i for i, name in enumerate(self._lower) if name == column.strip().lower()]
        if len(found) == 1:
            return found[0]
        how = "occurs more than once" if found else "is not there"
        raise SettingError(
            setting, f"column {column!r} {how} in {self._name}, which has {self._there()}"
        )

    def known(self, tiers: Sequence[Collection[str]]) -> list[int]:
        """Return the positions of the names that people use, of the first tier that has any."""
        for tier in tiers:
            if found := [i for i, name in enumerate(self._lower) if name in tier]:
                return found
        return []

    def only(self, found: list[int], *, role: str, setting: str) -> int:
        """Return the one position found, or say what a person has to choose from."""
        if len(found) == 1:
            return found[0]
        what = "several columns" if found else "no column"
        raise InputError(
            f"{self._name}:1",
            f"{what} could be the {role}; there are {self._there()}: choose with --{setting}",
        )

    def _there(self) -> str:
        names = ", ".join(self._header)
        return names if len(names) <= 200 else names[:197] + "..."


def find_columns(name: str, header: Sequence[str], options: CsvOptions) -> Columns:
    """Return where the time, value and key of a file named `name` are, or name what there is."""
    finder = ColumnFinder(name, header)
    if options.time_column:
        time = finder.named(options.time_column, "time-column")
    else:
        time = finder.only(finder.known(TIME_NAMES), role="time", setting="time-column")
    key = finder.named(options.sum_by, "sum-by") if options.sum_by else None
    free = [i for i in range(len(header)) if i not in {time, key}]
    is_duration, value = _find_value(finder, free, options)
    if value not in free or key == time:
        twice = time if key == time else value
        raise InputError(f"{name}:1", f"column {header[twice]} cannot play two parts")
    return Columns(
        time=time,
        value=value,
        is_duration=is_duration,
        key=key,
        others=tuple(header[i] for i in free if i != value),
    )


def _find_value(finder: ColumnFinder, free: list[int], options: CsvOptions) -> tuple[bool, int]:
    """Return whether the value is a duration, and where it is; `free` are the columns left."""
    if options.duration_column:
        return True, finder.named(options.duration_column, "duration-column")
    if options.value_column:
        return False, finder.named(options.value_column, "value-column")
    values = [i for i in finder.known(VALUE_NAMES) if i in free]
    durations = [i for i in finder.known(DURATION_NAMES) if i in free]
    if not values and len(durations) == 1:
        return True, durations[0]
    return False, finder.only(values or free, role="value", setting="value-column")
