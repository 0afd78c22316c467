"""What Prometheus answers, as values: samples of one moment, series over a range, their sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gputide.errors import InputError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Labels = Mapping[str, str]

STALENESS_SECONDS = 300.0
"""How long PromQL itself goes on using a sample; `combine` holds a missing one as long."""

_LISTED_SERIES = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InstantResult:
    """Samples of one moment: `values[S]` beside `labels[S]`, NaN and infinities as answered.

    `at_seconds[S]` is the Unix time of each sample (of the evaluation, unless the query was a range
    selector's last value). `warnings` are the server's own.
    """

    expression: str
    labels: tuple[Labels, ...]
    values: FloatArray
    at_seconds: FloatArray
    warnings: tuple[str, ...] = ()

    def by(self, *names: str) -> dict[tuple[str, ...], float]:
        """Return each value under its labels `names` ("" where one is missing).

        Raises InputError where two series share them: that query has to be grouped by them.
        """
        keys = [tuple(labels.get(name, "") for name in names) for labels in self.labels]
        found = dict(zip(keys, self.values.tolist(), strict=True))
        if len(found) != len(keys):
            raise InputError(
                self.expression,
                f"several series share the labels {', '.join(names) or '(none)'}: "
                f"write sum by ({', '.join(names)}) (...)",
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One series on its result's grid: `values[T]`, NaN where Prometheus has no sample.

    That is after 5 minutes without one, or at once after a failed scrape (a stale marker, which
    itself is never in an answer); a sample may also be NaN by itself.
    """

    labels: Labels
    values: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RangeResult:
    """Series on one regular grid: column `i` lies at Unix time `start_seconds + i * step_seconds`.

    `start_seconds` is a multiple of `step_seconds`. `warnings` are the server's own.
    """

    expression: str
    start_seconds: int
    step_seconds: int
    columns: int
    """T, the length of each series, also where there is none."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()


class Combination(StrEnum):
    """What to do with several series where one is wanted."""

    REFUSE = "refuse"
    SUM = "sum"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combined:
    """One series made of a result: `values[T]`, finite or NaN (unknown)."""

    values: FloatArray
    series_count: int
    held_samples: int
    """Samples of single series that were missing for a moment and held."""

    warnings: tuple[str, ...]
    """The server's, and ours about values that could not be used."""


def combine(
    result: RangeResult, how: Combination, *, hold_seconds: float = STALENESS_SECONDS
) -> Combined:
    """Return the result as one series; several are summed or refused, as `how` says.

    A series that is absent (a pod that does not run) adds nothing; a moment without any series is
    NaN, never 0. Where a series is missing between two of its samples that lie at most
    `hold_seconds` apart (a failed scrape), the earlier one counts on, so that the sum does not dip.
    A moment with an infinite sample is unknown, and a warning counts those. Raises InputError for
    an empty result and for several series under `Combination.REFUSE`.
    """
    if not result.series:
        raise InputError(
            result.expression, "empty result: no series in this span; check its names and labels"
        )
    if len(result.series) > 1 and how is Combination.REFUSE:
        raise InputError(result.expression, _several(result.series))
    total = np.zeros(result.columns)
    is_known = np.zeros(result.columns, dtype=np.bool_)
    is_infinite = np.zeros(result.columns, dtype=np.bool_)
    held = 0
    reach = int(hold_seconds // result.step_seconds)
    for one in result.series:
        is_infinite |= np.isinf(one.values)
        values = one.values
        if len(result.series) > 1:  # a single series keeps its gaps: the forecast knows about those
            values, is_held = hold(values, reach)
            held += int(is_held.sum())
        is_there = ~np.isnan(values)
        total[is_there] += values[is_there]
        is_known |= is_there
    total[~is_known | is_infinite] = np.nan
    return Combined(
        values=total,
        series_count=len(result.series),
        held_samples=held,
        warnings=result.warnings + _about_infinite(int(is_infinite.sum())),
    )


def hold(values: FloatArray, reach: int) -> tuple[FloatArray, BoolArray]:
    """Fill gaps of `values[T]` between samples at most `reach` steps apart with the earlier one.

    Returns the filled copy and where it was filled.
    """
    is_known = ~np.isnan(values)
    positions = np.arange(values.size)
    last = np.maximum.accumulate(np.where(is_known, positions, -1))
    following = np.where(is_known, positions, values.size + reach + 1)
    following = np.minimum.accumulate(following[::-1])[::-1]
    is_held = ~is_known & (last >= 0) & (following - last <= reach)
    filled = values.copy()
    filled[is_held] = values[last[is_held]]
    return filled, is_held


def format_labels(labels: Labels) -> str:
    """Return labels as PromQL writes them, the name in front.

    >>> format_labels({"__name__": "up", "job": "node"})
    'up{job="node"}'
    """
    rest = ", ".join(f"{key}={quote(value)}" for key, value in labels.items() if key != "__name__")
    return f"{labels.get('__name__', '')}{{{rest}}}"


def quote(text: str) -> str:
    r"""Return text as a PromQL string: nothing in it can end the string.

    >>> print(quote('a"b'))
    "a\"b"
    """
    escaped = text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return f'"{escaped}"'


def _several(series: tuple[Series, ...]) -> str:
    listed = "; ".join(format_labels(one.labels) for one in series[:_LISTED_SERIES])
    more = ", ..." if len(series) > _LISTED_SERIES else ""
    return (
        f"{len(series)} series where one is wanted ({listed}{more}): "
        "write sum(...) around the query, or ask for the sum"
    )


def _about_infinite(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{count} moments hold infinity and count as unknown (a division by zero?)",)
