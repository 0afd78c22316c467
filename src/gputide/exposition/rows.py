"""Metrics as rows of a catalog: name, kind and help once, values whenever a page is made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gputide.exposition.model import Family, Kind, Labels, Sample

Value = tuple[Labels, float]
"""Labels and a value."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric."""

    name: str
    kind: Kind
    help: str


Rows = Mapping[MetricRow, Iterable[Value]]


def families(rows: Rows) -> tuple[Family, ...]:
    """Return the families that have samples: what is not known has none."""
    made = []
    for row, values in rows.items():
        samples = tuple(Sample(row.name, labels, value) for labels, value in values)
        if samples:
            made.append(Family(row.name, row.kind, row.help, samples))
    return tuple(made)


def by(label: str, counts: Mapping[str, float]) -> list[Value]:
    """Return a value for each label value, in their order.

    >>> by("code", {"b": 2, "a": 1})
    [((('code', 'a'),), 1.0), ((('code', 'b'),), 2.0)]
    """
    return [(((label, name),), float(value)) for name, value in sorted(counts.items())]


def one(value: float | None) -> list[Value]:
    """Return a value without labels; none for None, which is unknown.

    >>> one(True), one(None)
    ([((), 1.0)], [])
    """
    return [] if value is None else [((), float(value))]
