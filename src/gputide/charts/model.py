"""What a page holds: sections of blocks, each a value with plain texts in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Color(StrEnum):
    """What a line means; the style sheet gives each a colour for light and for dark."""

    ACTUAL = "actual"
    PREDICTED = "predicted"
    REFERENCE = "reference"
    LIMIT = "limit"
    ORANGE = "orange"
    PURPLE = "purple"
    PINK = "pink"
    TEAL = "teal"
    BROWN = "brown"
    OLIVE = "olive"
    INDIGO = "indigo"
    GOLD = "gold"


class Tone(StrEnum):
    """How a text should strike the reader; always beside a word or a sign, never colour alone."""

    GOOD = "good"
    BAD = "bad"
    CAUTION = "caution"
    MUTED = "muted"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """One line of a chart: `values[T]` on the chart's times, NaN where unknown (drawn as a gap)."""

    label: str
    values: FloatArray
    color: Color
    lower: FloatArray | None = None
    """[T] the lower edge of a band that ends at `values`."""

    is_stepped: bool = False
    """Each value holds until the next one: pods, replicas."""

    is_filled: bool = False
    is_hidden: bool = False
    """Left out at first; the reader may switch it on."""

    def __post_init__(self) -> None:
        if self.lower is not None and len(self.lower) != len(self.values):
            sizes = f"{len(self.values)} values and a lower edge of {len(self.lower)}"
            raise ValueError(f"{self.label!r} has {sizes}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """Lines over time. `unix_seconds[T]` rises; every line has T values in `unit`."""

    title: str
    meaning: str
    """One sentence: how to read it."""

    unit: str
    unix_seconds: FloatArray
    lines: tuple[Line, ...]
    time_zone: str = "UTC"
    """IANA zone of the times shown."""

    group: str = ""
    """Charts of one group share the cursor and the zoom."""

    def __post_init__(self) -> None:
        count = len(self.unix_seconds)
        if not count:
            raise ValueError(f"{self.title!r} has no times")
        if not (np.diff(self.unix_seconds) > 0).all():
            raise ValueError(f"times of {self.title!r} do not rise")
        for line in self.lines:
            if len(line.values) != count:
                found = f"{line.label!r} has {len(line.values)} values"
                raise ValueError(f"{found} for {count} times")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Points of one contestant, `x[N]` and `y[N]`, each with the words that its tooltip shows."""

    label: str
    x: FloatArray
    y: FloatArray
    notes: tuple[str, ...]
    color: Color
    chosen: int | None = None
    """Index of the point that stands out: what was really done, beside what could have been."""

    is_hidden: bool = False

    def __post_init__(self) -> None:
        if not len(self.x) == len(self.y) == len(self.notes):
            sizes = f"{len(self.x)} x, {len(self.y)} y and {len(self.notes)} notes"
            raise ValueError(f"{self.label!r} has {sizes}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """Two things of which less is better; a line joins what nothing of its own curve beats.

    The first view ends at 30 times `x_limit`, where there is one; the reader may see all.

    x may hold zeros: its axis is logarithmic above `x_linear_below` and linear under it.
    """

    title: str
    meaning: str
    x_label: str
    x_unit: str
    y_label: str
    y_unit: str
    curves: tuple[Curve, ...]
    note_label: str
    """What the points' notes tell."""

    x_linear_below: float
    x_limit: float | None = None
    """Drawn as an upright line, named by `x_limit_label`."""

    x_limit_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph of prose."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Small print."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Callout:
    """What the reader should take away: one line, and the reasons for it."""

    headline: str
    reasons: tuple[str, ...] = ()
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number with its name, and a word on where it comes from."""

    label: str
    value: str
    note: str = ""
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A few numbers, side by side."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Head of a table's column; `meaning` is its tooltip."""

    label: str
    meaning: str = ""
    is_number: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One field of a table; `href` may only name a section of the page: `#name`."""

    text: str
    tone: Tone = Tone.NEUTRAL
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under columns; the first cell of a row names it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    strong_rows: frozenset[int] = frozenset()
    """Rows to look at first, by index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Names with their values, one below the other."""

    facts: tuple[tuple[str, str], ...]


Block = Chart | Scatter | Paragraph | Note | Callout | Figures | Table | Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with blocks; `anchor` is its name in links (letters, digits, `-`)."""

    title: str
    anchor: str
    blocks: Sequence[Block]
    level: int = 2
    """Depth of the heading, 2 to 4."""
