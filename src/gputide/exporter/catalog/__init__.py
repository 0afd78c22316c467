"""Names as data: every metric, its type, help, unit, labels and scope. DCGM's units are here alone."""

from gputide.exporter.catalog import custom, own
from gputide.exporter.catalog.aliases import DCGM_4_6, EXPORTER_1
from gputide.exporter.catalog.dcgm import FIELDS, LABELS
from gputide.exporter.catalog.known import is_known
from gputide.exporter.catalog.rows import (
    LARGEST,
    Derived,
    FieldRow,
    LabelRow,
    MetricRow,
    ProcessRow,
    Scope,
    Style,
    Unit,
    is_number,
)

ALIASES = EXPORTER_1 | DCGM_4_6
BY_NAME: dict[str, FieldRow | LabelRow] = {
    **{row.name: row for row in FIELDS},
    **{row.name: row for row in LABELS},
}

__all__ = [
    "ALIASES",
    "BY_NAME",
    "DCGM_4_6",
    "EXPORTER_1",
    "FIELDS",
    "LABELS",
    "LARGEST",
    "Derived",
    "FieldRow",
    "LabelRow",
    "MetricRow",
    "ProcessRow",
    "Scope",
    "Style",
    "Unit",
    "custom",
    "is_known",
    "is_number",
    "own",
]
