"""What a row of the catalog is: a name, its type and help, where its value comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import TypeGuard

from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import ProcessReading
from gputide.exposition import Kind


class Style(Enum):
    """How dcgm-exporter prints a number: `%d`, or `%f` with six decimals."""

    ROUNDED = auto()
    TRUNCATED = auto()
    DOUBLE = auto()


LARGEST = 1e200
"""No quantity comes near it, and no unit's factor makes it infinite."""


def is_number(value: float | None) -> TypeGuard[float]:
    """Return whether a value can be printed: it is there, and neither NaN nor infinite."""
    return value is not None and -LARGEST < value < LARGEST


@dataclass(frozen=True, slots=True)
class Unit:
    """DCGM's unit: multiply our base unit by `factor`, then print by `style`."""

    symbol: str
    factor: float
    style: Style

    def text(self, value: float) -> str:
        """Return a value in base units as it stands on the page; it has to be a number.

        >>> MEBIBYTES.text(5 * 2**20 - 1), WATTS.text(115.294), MILLIJOULES.text(27.151028)
        ('4', '115.294000', '27151')
        """
        scaled = value * self.factor
        if self.style is Style.DOUBLE:
            return f"{scaled:.6f}"
        return str(int(scaled) if self.style is Style.TRUNCATED else round(scaled))


MEGAHERTZ = Unit("MHz", 1e-6, Style.ROUNDED)
CELSIUS = Unit("°C", 1, Style.ROUNDED)
WATTS = Unit("W", 1, Style.DOUBLE)
MILLIJOULES = Unit("mJ", 1e3, Style.ROUNDED)
PERCENT = Unit("%", 100, Style.ROUNDED)
RATIO = Unit("0 to 1", 1, Style.DOUBLE)
MEBIBYTES = Unit("MiB", 2.0**-20, Style.TRUNCATED)
BYTES = Unit("B", 1, Style.ROUNDED)
BYTES_PER_SECOND = Unit("B/s", 1, Style.ROUNDED)
KILOBYTES_PER_SECOND = Unit("KB/s", 1e-3, Style.ROUNDED)
NANOSECONDS = Unit("ns", 1e9, Style.ROUNDED)
NUMBER = Unit("", 1, Style.ROUNDED)


class Scope(StrEnum):
    """Whose value it is on a GPU in MIG mode."""

    INSTANCE = "each instance's own"
    CARD = "the card's, printed once"
    NOT_IN_MIG = "not there in MIG mode"


class Derived(StrEnum):
    """A quantity that is computed from others, see `exporter.page.derive`."""

    MEMORY_USED_RATIO = "memory_used_ratio"
    NVLINK_BYTES_TOTAL = "nvlink_bytes_total"
    DEVICE_COUNT = "device_count"


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A DCGM field with a number of a GPU or MIG instance."""

    name: str
    kind: Kind
    source: Field | Derived
    unit: Unit
    scope: Scope
    is_default: bool
    help: str


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A DCGM field whose text becomes a label of every DCGM_FI_* series."""

    name: str
    fact: Fact
    is_default: bool
    help: str


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A value of one process on one GPU."""

    name: str
    illegal_name: str
    """The same for a container's process on a GPU that was not allocated to it."""

    unit: Unit
    source: Callable[[ProcessReading], float | None]
    help: str


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric that is made by the exporter itself; `labels` in printed order."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
