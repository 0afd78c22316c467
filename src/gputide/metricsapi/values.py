"""Answers of Prometheus as values that a metrics API may tell. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gputide.metricsapi.ports import Measured
from gputide.metricsapi.quantity import quantity
from gputide.prometheus.model import InstantResult

STAMP = "gputide_sample_time"
"""Label of the series that carry times beside the values, in one and the same answer."""

_RANGE = re.compile(r"\[\s*((?:\d+(?:ms|[smhdwy]))+)\s*(?::[^\]]*)?\]")
_PART = re.compile(r"(\d+)(ms|[smhdwy])")
_SECONDS = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 86_400,
    "w": 604_800,
    "y": 31_536_000,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What an answer tells, and how much of it cannot be told."""

    told: tuple[Measured, ...]
    untold: int = 0
    """Series whose value is not a number, infinite, or larger than a quantity holds."""


def stamped(expression: str, selector: str, group_by: str) -> str:
    """Return one query for the values and, beside them, the times of their newest samples."""
    by = f" by ({group_by})" if group_by else ""
    times = f"max{by} (timestamp({selector}))"
    return f'({expression}) or label_replace({times}, "{STAMP}", "1", "", "")'


def values(result: InstantResult, *, group_by: str, window_seconds: int | None) -> Values:
    """Return the values with their labels and true times; what cannot be told is counted."""
    rows = list(zip(result.labels, result.values.tolist(), result.at_seconds.tolist(), strict=True))
    times = {
        labels.get(group_by, "") if group_by else "": value
        for labels, value, _ in rows
        if STAMP in labels
    }
    told, untold = [], 0
    for labels, value, at_seconds in rows:
        if STAMP in labels:
            continue
        text = quantity(value)
        if text is None:
            untold += 1
            continue
        key = labels.get(group_by, "") if group_by else ""
        told.append(
            Measured(
                value=text,
                at_seconds=times.get(key, at_seconds),
                labels=tuple(sorted(item for item in labels.items() if item[0] != "__name__")),
                window_seconds=window_seconds,
            )
        )
    return Values(told=tuple(told), untold=untold)


def window_of(expression: str) -> int | None:
    """Return the longest range in a query, in whole seconds; None where it has none.

    >>> window_of("sum(rate(x[1m30s])) / sum(rate(y[5m:]))"), window_of("x")
    (300, None)
    """
    found = [_seconds(match[1]) for match in _RANGE.finditer(expression)]
    return max(1, round(max(found))) if found else None


def _seconds(text: str) -> float:
    return sum(_parts(text))


def _parts(text: str) -> Iterator[float]:
    for match in _PART.finditer(text):
        yield int(match[1]) * _SECONDS[match[2]]
