"""Samples and families: what every exposition format says."""

import re
from dataclasses import dataclass
from enum import StrEnum

from gputide.errors import GputideError

METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

Labels = tuple[tuple[str, str], ...]
"""Label names and values, in the order in which they are printed."""


class ExpositionError(GputideError):
    """A page breaks its format: `line` (from 1) and what is wrong there."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


class Kind(StrEnum):
    """TYPE of a family, in OpenMetrics' words; text format 0.0.4 says `untyped` for unknown."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    GAUGE_HISTOGRAM = "gaugehistogram"
    SUMMARY = "summary"
    INFO = "info"
    STATE_SET = "stateset"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: name (with the suffix that its kind asks for), labels, value."""

    name: str
    labels: Labels
    value: float
    timestamp_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """What stands under one TYPE line. `name` is as printed in text format 0.0.4."""

    name: str
    kind: Kind
    help: str
    samples: tuple[Sample, ...]
