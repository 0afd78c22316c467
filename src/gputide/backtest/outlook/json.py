"""The forecast for programs: every number, unknown as null, times as ISO 8601 in UTC."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec
import numpy as np

from gputide import __version__
from gputide.backtest.model import FloatArray
from gputide.backtest.outlook.look import Outlook

DIGITS = 6


class HistoryJson(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned from."""

    start_utc: datetime
    steps: int
    known_ratio: float
    recorded_step_seconds: int


class VerdictJson(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to trust it: the walk-forward figures are day-ahead, at the quantile."""

    is_seasonal_in_use: bool
    reasons: list[str]
    periods_seconds: list[int]
    coverage_ratio: float | None
    pinball_loss_ratio: float | None
    naive_pinball_loss_ratios: dict[str, float]
    """Of the peers that could be scored."""


class LeadJson(msgspec.Struct, frozen=True, kw_only=True):
    """The bound of the largest demand within the next seconds."""

    seconds: int
    upper: float | None


class OutlookJson(msgspec.Struct, frozen=True, kw_only=True):
    """One trace."""

    name: str
    unit: str
    time_zone: str
    quantile: float
    history: HistoryJson
    verdict: VerdictJson
    lead: LeadJson
    start_utc: datetime
    """Of the first value of `median` and `upper`."""

    step_seconds: int
    median: list[float]
    upper: list[float]
    warnings: list[str]


class ForecastJson(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    format: Literal["gputide-forecast/1"] = "gputide-forecast/1"
    gputide_version: str = __version__
    traces: list[OutlookJson]


def render(outlooks: Sequence[Outlook]) -> str:
    """Return the forecasts as JSON text that ends with a newline."""
    document = ForecastJson(traces=[_outlook(outlook) for outlook in outlooks])
    return msgspec.json.encode(document).decode() + "\n"


def _outlook(outlook: Outlook) -> OutlookJson:
    trace, verdict = outlook.trace, outlook.verdict
    return OutlookJson(
        name=trace.name,
        unit=trace.unit,
        time_zone=trace.time_zone,
        quantile=outlook.quantile,
        history=HistoryJson(
            start_utc=trace.start_utc,
            steps=len(trace.demand),
            known_ratio=float(1 - np.isnan(trace.demand).mean()),
            recorded_step_seconds=trace.recorded_step_seconds,
        ),
        verdict=VerdictJson(
            is_seasonal_in_use=verdict.is_seasonal_in_use,
            reasons=[reason.value for reason in verdict.reasons],
            periods_seconds=list(verdict.periods_seconds),
            coverage_ratio=verdict.coverage_ratio,
            pinball_loss_ratio=verdict.pinball_loss_ratio,
            naive_pinball_loss_ratios=dict(verdict.naive_pinball_loss_ratios),
        ),
        lead=LeadJson(seconds=outlook.lead_seconds, upper=outlook.lead_upper),
        start_utc=outlook.start_utc,
        step_seconds=trace.step_seconds,
        median=_rounded(outlook.median),
        upper=_rounded(outlook.upper),
        warnings=list(trace.warnings),
    )


def _rounded(values: FloatArray) -> list[float]:
    """Return the values to six significant digits: more is noise, and triples the file."""
    return [float(f"{value:.{DIGITS}g}") for value in values]
