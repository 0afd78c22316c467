"""Counts and states as families of the catalog. Pure."""

from collections.abc import Iterable, Mapping

from gputide.exposition import Family, Labels, Sample
from gputide.tunnel.catalog import MetricRow

Value = tuple[Labels, float]
Rows = Mapping[MetricRow, Iterable[Value]]


def families(rows: Rows) -> tuple[Family, ...]:
    """Return the families that have samples."""
    made = []
    for row, values in rows.items():
        samples = tuple(Sample(row.name, labels, value) for labels, value in values)
        if samples:
            made.append(Family(row.name, row.kind, row.help, samples))
    return tuple(made)


def by(label: str, counts: Mapping[str, float]) -> list[Value]:
    """Return a value for each label value, in their order."""
    return [(((label, name),), value) for name, value in sorted(counts.items())]


def one(value: float | None) -> list[Value]:
    """Return a value without labels; none for None, which is unknown."""
    return [] if value is None else [((), value)]
