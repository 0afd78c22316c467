"""What the serving process knows of itself, as families; the names are in the catalog. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping

from gputide.exporter.catalog import MetricRow, own
from gputide.exposition import Family, Format, Labels, Sample

FORMATS = {Format.TEXT: "text", Format.OPENMETRICS: "openmetrics"}


class SelfMetrics:
    """Counts what happens in the process."""

    def __init__(self, version: str, *, error_kinds: Iterable[str] = ()) -> None:
        self._version = version
        self._error_kinds = tuple(error_kinds)
        self._scrapes: Counter[Format] = Counter()
        self._collections = 0
        self._collection_seconds: float | None = None

    def count_scrape(self, target: Format) -> None:
        """Note that a page goes out."""
        self._scrapes[target] += 1

    def count_collection(self, duration_seconds: float | None) -> None:
        """Note that a page was made; the slowest GPU's reading took so long, None before any."""
        self._collections += 1
        self._collection_seconds = duration_seconds

    def families(self, *, age_seconds: float, errors: Mapping[str, int]) -> tuple[Family, ...]:
        """Return the families, given the age of the page and all errors so far by kind."""
        kinds = dict.fromkeys(self._error_kinds, 0) | dict(errors)
        rows: dict[MetricRow, list[tuple[Labels, float]]] = {
            own.BUILD: [((("version", self._version),), 1)],
            own.COLLECTION_DURATION: _known(self._collection_seconds),
            own.COLLECTION_AGE: [((), age_seconds)],
            own.COLLECTIONS: [((), self._collections)],
            own.ERRORS: [((("kind", kind),), count) for kind, count in kinds.items()],
            own.SCRAPES: [((("format", FORMATS[each]),), self._scrapes[each]) for each in Format],
        }
        return tuple(
            Family(row.name, row.kind, row.help, tuple(Sample(row.name, *each) for each in lines))
            for row, lines in rows.items()
            if lines
        )


def _known(value: float | None) -> list[tuple[Labels, float]]:
    return [] if value is None else [((), value)]
