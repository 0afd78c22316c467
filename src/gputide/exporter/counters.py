"""dcgm-exporter's counters file: which fields to print, with which type and help.

# Format: DCGM field, Prometheus metric type, help
DCGM_FI_DEV_GPU_UTIL ,  gauge, GPU utilization (in %).
DCGM_FI_DRIVER_VERSION, label, Driver Version
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches

from gputide.errors import InputError
from gputide.exporter.catalog import ALIASES, BY_NAME, FieldRow, LabelRow, is_known, own
from gputide.exporter.selection import (
    ChosenEvents,
    ChosenField,
    ChosenLabel,
    Selection,
    Untold,
)
from gputide.exposition import Kind

_KINDS = {"gauge": Kind.GAUGE, "counter": Kind.COUNTER}
_TYPES = ("gauge", "counter", "label")
_EVENTS = {row.name: row for row in own.EVENTS}
_NAMES = (*BY_NAME, *ALIASES, *_EVENTS)
UNTOLD_REASON = "NVML does not tell this field; only DCGM's own host engine has it"


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the file that is no comment."""

    place: str
    name: str
    type: str
    help: str

    def error(self, column: int, problem: str) -> InputError:
        return InputError(f"{self.place}, column {column}", problem)


@dataclass(slots=True)
class _Found:
    fields: list[ChosenField] = field(default_factory=list)
    labels: list[ChosenLabel] = field(default_factory=list)
    events: list[ChosenEvents] = field(default_factory=list)
    untold: list[Untold] = field(default_factory=list)


def read_counters(text: str, *, source: str) -> Selection:
    """Return what the file selects; raise InputError naming `source`, line and column."""
    found = _Found()
    seen: dict[str, str] = {}
    for line in _lines(text, source):
        if line.name in seen:
            raise line.error(1, f"{line.name} stands in {seen[line.name]} already")
        seen[line.name] = line.place.removeprefix(f"{source}, ")
        _take(line, found)
    if not seen:
        raise InputError(source, "selects no field: every line is empty or a comment")
    return Selection(
        fields=tuple(found.fields),
        labels=tuple(found.labels),
        events=tuple(found.events),
        untold=tuple(found.untold),
    )


def _lines(text: str, source: str) -> Iterator[_Line]:
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        place = f"{source}, line {number}"
        try:
            columns = [cell.strip() for cell in next(csv.reader([raw], skipinitialspace=True))]
        except csv.Error as error:
            raise InputError(place, str(error)) from error
        if len(columns) < 3:
            raise InputError(
                f"{place}, column {len(columns) + 1}",
                f"is missing: {raw.strip()!r} is not `field, type, help`",
            )
        # A help with commas in it comes as several columns.
        yield _Line(place, columns[0], columns[1].lower(), ", ".join(columns[2:]))


def _take(line: _Line, found: _Found) -> None:
    if line.type not in _TYPES:
        raise line.error(2, f"{line.type!r} is no type: say gauge, counter or label")
    row = BY_NAME.get(ALIASES.get(line.name, line.name))
    if row is None:
        _take_other(line, found)
    elif line.type == "label":
        found.labels.append(ChosenLabel(line.name, row.fact if isinstance(row, LabelRow) else row))
    elif isinstance(row, FieldRow):
        found.fields.append(ChosenField(line.name, _KINDS[line.type], line.help, row))
    else:
        raise line.error(2, f"{line.name} is a text, and cannot be a {line.type}: say label")


def _take_other(line: _Line, found: _Found) -> None:
    events = _EVENTS.get(line.name)
    if events is not None and line.type != "label":
        # A count inside a window goes down again: a gauge, though the file says counter.
        found.events.append(ChosenEvents(line.name, events.kind, line.help, events))
    elif is_known(line.name):
        found.untold.append(Untold(line.name, UNTOLD_REASON))
    else:
        near = get_close_matches(line.name, _NAMES, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise line.error(1, f"{line.name!r} is no field of DCGM{hint}")
