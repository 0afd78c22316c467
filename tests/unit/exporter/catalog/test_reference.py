"""`GPUTIDE_UPDATE_GOLDEN=1 pytest ...` writes the page anew."""

import os
from pathlib import Path

from gputide.exporter.catalog import FIELDS, LABELS, custom, own
from gputide.exporter.catalog.reference import reference

PAGE = Path(__file__).parents[4] / "docs/reference/exporter-metrics.md"


def test_the_reference_page_is_the_catalog() -> None:
    if os.environ.get("GPUTIDE_UPDATE_GOLDEN"):
        PAGE.write_text(reference())

    assert PAGE.read_text() == reference()


def test_the_reference_page_names_every_metric() -> None:
    page = reference()
    rows = (*FIELDS, *LABELS, *custom.ROWS, *custom.PROCESSES)

    assert [row.name for row in rows if f"`{row.name}`" not in page] == []
    assert [
        row.name for row in (*own.FROM_SNAPSHOT, *own.FROM_PROCESS) if row.name not in page
    ] == []
