"""Load from Prometheus: one query over some days becomes one trace."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from gputide.backtest.load.csv_time import EARLIEST_SECONDS, LATEST_SECONDS
from gputide.backtest.load.grid import MINUTE_SECONDS, gap_warnings, to_minutes
from gputide.backtest.model import FloatArray, Trace
from gputide.clock import utc_from_unix
from gputide.errors import InputError, SettingError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.model import (
    STALENESS_SECONDS,
    Combination,
    Combined,
    RangeResult,
    combine,
)
from gputide.scaling.zone import zone_named

DAY_SECONDS = 86_400
MAX_DAYS = 366
LATE_SECONDS = 600
"""A history that ends longer ago than this is said to have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which minutes to read: `first_seconds` to `last_seconds` (Unix), both whole minutes."""

    first_seconds: int
    last_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """What of a Prometheus' history to read, and how."""

    days: float = 28
    """Days of history to read; fewer are taken where it is younger."""

    until: str | None = None
    """Where to end, as Unix or ISO 8601 time; now if not given."""

    sum: bool = False
    """Add up the series where the query returns several."""

    time_zone: str | None = None
    """IANA zone of the days and weeks; UTC if not given."""

    unit: str = ""
    """What the demand counts, for titles and tables."""

    hold_seconds: float = STALENESS_SECONDS
    """How long a series that misses samples keeps its last value, so that the sum does not dip."""

    saturated_at: float | None = None
    """From this value on the demand was at least that."""

    def __post_init__(self) -> None:
        if not 0 < self.days <= MAX_DAYS:
            raise SettingError("days", f"must be above 0 and at most {MAX_DAYS}")
        zone_named(self.time_zone or "UTC")

    def span(self, *, now_seconds: float) -> Span:
        """Return the whole minutes to read: none that still goes on at `now_seconds` or `until`."""
        end = now_seconds if self.until is None else min(_moment(self.until), now_seconds)
        last = int(end // MINUTE_SECONDS) * MINUTE_SECONDS - MINUTE_SECONDS
        minutes = round(self.days * DAY_SECONDS / MINUTE_SECONDS)
        first = last - (minutes - 1) * MINUTE_SECONDS
        return Span(first_seconds=max(first, MINUTE_SECONDS), last_seconds=last)


async def read_history(
    prometheus: Prometheus, query: str, options: HistoryOptions, *, now_seconds: float
) -> Trace:
    """Return the demand that a query tells.

    Raises InputError where it tells nothing, several series unasked, or what is no demand;
    QueryError where the server does not answer.
    """
    span = options.span(now_seconds=now_seconds)
    combined, result = await _ask(prometheus, query, options, span)
    if not np.isfinite(combined.values).any():
        raise InputError(query, f"holds no number {_spoken(span)}: every sample is NaN")
    lowest = float(np.nanmin(combined.values))
    if lowest < 0:
        raise InputError(query, f"falls to {lowest:g}: no demand is negative")
    start, demand = to_minutes(
        combined.values, start_seconds=result.start_seconds, step_seconds=result.step_seconds
    )
    return Trace(
        name=query,
        demand=demand,
        start_utc=utc_from_unix(start),
        time_zone=options.time_zone or "UTC",
        unit=options.unit,
        is_censored=None if options.saturated_at is None else demand >= options.saturated_at,
        warnings=(
            *_zone_warnings(options),
            *combined.warnings,
            *_held_warnings(combined),
            *_span_warnings(span, start, len(demand)),
            *gap_warnings(demand),
        ),
    )


async def read_beside(prometheus: Prometheus, query: str, trace: Trace) -> FloatArray | None:
    """Return `[T]` what another query tells over a trace's minutes; None where it tells nothing."""
    first = int(trace.start_utc.timestamp())
    result = await prometheus.query_range(
        query,
        start_seconds=first,
        end_seconds=first + (len(trace.demand) - 1) * MINUTE_SECONDS,
        step_seconds=MINUTE_SECONDS,
    )
    return combine(result, Combination.SUM).values if result.series else None


async def _ask(
    prometheus: Prometheus, query: str, options: HistoryOptions, span: Span
) -> tuple[Combined, RangeResult]:
    result = await prometheus.query_range(
        query,
        start_seconds=span.first_seconds,
        end_seconds=span.last_seconds,
        step_seconds=MINUTE_SECONDS,
    )
    if not result.series:
        raise InputError(
            query,
            f"empty result {_spoken(span)}: check the names and labels in it, and whether"
            f" {prometheus.target} keeps history that old",
        )
    how = Combination.SUM if options.sum else Combination.REFUSE
    return combine(result, how, hold_seconds=options.hold_seconds), result


def _moment(text: str) -> float:
    """Return Unix seconds of a time as a person writes it; without a zone it is UTC."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise SettingError(
                "until", f"{text[:40]!r} is neither Unix nor ISO 8601 time"
            ) from error
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not EARLIEST_SECONDS <= seconds < LATEST_SECONDS:
        raise SettingError("until", f"{text[:40]!r} lies outside 1990-2100")
    return seconds


def _zone_warnings(options: HistoryOptions) -> list[str]:
    if options.time_zone is not None:
        return []
    return ["days and weeks are counted in UTC (--time-zone names another zone)"]


def _held_warnings(combined: Combined) -> list[str]:
    if not combined.held_samples:
        return []
    count, series = combined.held_samples, combined.series_count
    return [f"{count:,} samples of {series:,} series are missing between others: the last one held"]


def _span_warnings(span: Span, start: int, minutes: int) -> list[str]:
    """Say where history is younger than asked for, or ended before the span does."""
    warnings = []
    if start - span.first_seconds >= DAY_SECONDS:
        days = (span.last_seconds + MINUTE_SECONDS - start) / DAY_SECONDS
        asked = (span.last_seconds + MINUTE_SECONDS - span.first_seconds) / DAY_SECONDS
        warnings.append(f"history begins {days:.1f} days before its end, {asked:g} were asked for")
    late = span.last_seconds - (start + (minutes - 1) * MINUTE_SECONDS)
    if late >= LATE_SECONDS:
        warnings.append(f"the newest sample is {late / 3600:.1f} h older than the end asked for")
    return warnings


def _spoken(span: Span) -> str:
    first, last = (
        utc_from_unix(at).strftime("%Y-%m-%d %H:%MZ")
        for at in (span.first_seconds, span.last_seconds)
    )
    return f"from {first} to {last}"
