"""Answers of Prometheus as values that a metrics API may tell. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gputide.metricsapi.ports import Measured
from gputide.metricsapi.quantity import quantity
from gputide.prometheus.model import STALENESS_SECONDS, InstantResult, Labels

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

    stale: int = 0
    """Series whose newest sample is older than Prometheus looks back."""


def stamped(expression: str, selector: str, labels: Sequence[str]) -> str:
    """Return one query for the values and, beside them, the times of their newest samples."""
    by = f" by ({', '.join(labels)})" if labels else ""
    times = f"max{by} (timestamp({selector}))"
    return f'({expression}) or label_replace({times}, "{STAMP}", "1", "", "")'


def label_names(result: InstantResult) -> frozenset[str]:
    """Return the names of the labels of an answer's values."""
    names = {name for labels in result.labels if STAMP not in labels for name in labels}
    return frozenset(names - {"__name__"})


def values(result: InstantResult, *, window_seconds: int | None, is_stamped: bool) -> Values:
    """Return the values with their labels and true times; what cannot be told is counted.

    A value over a longer range than Prometheus looks back, behind which no sample is that young,
    is stale. Others without a time (a constant, an offset) have that of the answer.
    """
    rows = list(zip(result.labels, result.values.tolist(), result.at_seconds.tolist(), strict=True))
    stamps = [(labels, value) for labels, value, _ in rows if STAMP in labels]
    names = sorted({name for labels, _ in stamps for name in labels} - {STAMP})
    times = {_key(labels, names): value for labels, value in stamps}
    needs_time = is_stamped and (window_seconds or 0) > STALENESS_SECONDS
    told, untold, stale = [], 0, 0
    for labels, value, at_seconds in rows:
        if STAMP in labels:
            continue
        text, time = quantity(value), times.get(_key(labels, names))
        stale += time is None and needs_time
        untold += text is None
        if text is None or (time is None and needs_time):
            continue
        told.append(
            Measured(
                value=text,
                at_seconds=at_seconds if time is None else time,
                labels=tuple(sorted(item for item in labels.items() if item[0] != "__name__")),
                window_seconds=window_seconds,
            )
        )
    return Values(told=tuple(told), untold=untold, stale=stale)


def _key(labels: Labels, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(labels.get(name, "") for name in names)


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
