"""A rendered page: blocks of finished lines, and what the limits have cut."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from gputide.exposition import Family, Format, Kind
from gputide.exposition.text import header, render


class Cut(StrEnum):
    """What a limit takes away, as label `what` of gputide_exporter_cut."""

    SERIES = "series"
    PROCESSES = "processes"
    POD_LABELS = "pod_labels"
    LABEL_VALUES = "label_values"
    """Shortened, not dropped."""


@dataclass(frozen=True, slots=True)
class Block:
    """One family: its headers and its lines. The lines are the same in both formats."""

    text_header: bytes
    openmetrics_header: bytes
    body: bytes
    line_count: int

    @classmethod
    def of(cls, name: str, kind: Kind, help_text: str, lines: list[str]) -> "Block":
        """Make a block of lines that end in a line feed."""
        headers = _headers(name, kind, help_text)
        return cls(*headers, "".join(lines).encode("utf-8", "replace"), len(lines))


@lru_cache(maxsize=1024)
def _headers(name: str, kind: Kind, help_text: str) -> tuple[bytes, bytes]:
    empty = Family(name, kind, help_text, ())
    text, openmetrics = (header(empty, target) for target in (Format.TEXT, Format.OPENMETRICS))
    return text.encode("utf-8", "replace"), openmetrics.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Page:
    """What one snapshot looks like. Bytes come without OpenMetrics' end line until `encode`."""

    blocks: tuple[Block, ...]
    own_families: tuple[Family, ...]
    """The exporter's own metrics that the snapshot tells."""

    cuts: Mapping[Cut, int]

    @property
    def series_count(self) -> int:
        """Series of devices, containers and processes."""
        return sum(block.line_count for block in self.blocks)

    def body(self, target: Format = Format.TEXT) -> bytes:
        """Return the page without its end, so that `tail` can follow it at every scrape."""
        parts: list[bytes] = []
        is_text = target is Format.TEXT
        for block in self.blocks:
            parts += (block.text_header if is_text else block.openmetrics_header, block.body)
        return b"".join((*parts, _without_end(self.own_families, target)))

    def encode(self, target: Format = Format.TEXT, more: Iterable[Family] = ()) -> bytes:
        """Return the whole page, `more` families behind it."""
        return self.body(target) + tail(more, target)


def tail(families: Iterable[Family], target: Format = Format.TEXT) -> bytes:
    """Return what stands behind a page's `body`: the families, and OpenMetrics' end line."""
    return render(families, target)


def _without_end(families: Iterable[Family], target: Format) -> bytes:
    return render(families, target).removesuffix(b"# EOF\n")


@dataclass(slots=True)
class Budget:
    """Counts series and cuts; what comes after the limit is dropped, and said."""

    max_series: int
    taken: int = 0
    cuts: dict[Cut, int] = field(default_factory=dict)

    def take(self, lines: list[str]) -> list[str]:
        """Return as many of the lines as still fit."""
        room = max(self.max_series - self.taken, 0)
        if len(lines) > room:
            self.cut(Cut.SERIES, len(lines) - room)
            lines = lines[:room]
        self.taken += len(lines)
        return lines

    def cut(self, what: Cut, count: int) -> None:
        """Note that `count` of something were left out."""
        if count:
            self.cuts[what] = self.cuts.get(what, 0) + count
