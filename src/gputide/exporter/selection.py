"""Which metrics a page has, under which name, type and help."""

from dataclasses import dataclass

from gputide.exporter.catalog import FIELDS, LABELS, FieldRow, LabelRow, MetricRow, own
from gputide.exporter.fields import Fact
from gputide.exposition import Kind


@dataclass(frozen=True, slots=True)
class ChosenField:
    """A DCGM field, printed as the counters file says."""

    name: str
    kind: Kind
    help: str
    row: FieldRow


@dataclass(frozen=True, slots=True)
class ChosenLabel:
    """A DCGM field that becomes a label: a text, or a number that seldom changes."""

    name: str
    source: Fact | FieldRow


@dataclass(frozen=True, slots=True)
class ChosenEvents:
    """A metric that counts events, in a sliding window or since the start."""

    name: str
    kind: Kind
    help: str
    row: MetricRow


@dataclass(frozen=True, slots=True)
class Untold:
    """A field that DCGM has and that cannot be had here, with the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to print, in this order."""

    fields: tuple[ChosenField, ...]
    labels: tuple[ChosenLabel, ...] = ()
    events: tuple[ChosenEvents, ...] = ()
    untold: tuple[Untold, ...] = ()


def default_selection() -> Selection:
    """Return dcgm-exporter's default list."""
    return Selection(
        fields=tuple(_field(row) for row in FIELDS if row.is_default),
        labels=tuple(_label(row) for row in LABELS if row.is_default),
    )


def full_selection() -> Selection:
    """Return everything that the catalog knows, the default list's label fields only."""
    return Selection(
        fields=tuple(_field(row) for row in FIELDS),
        labels=tuple(_label(row) for row in LABELS if row.is_default),
        events=tuple(ChosenEvents(row.name, row.kind, row.help, row) for row in own.EVENTS),
    )


def _field(row: FieldRow) -> ChosenField:
    return ChosenField(row.name, row.kind, row.help, row)


def _label(row: LabelRow) -> ChosenLabel:
    return ChosenLabel(row.name, row.fact)
