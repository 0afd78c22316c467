"""The forecast in a terminal: the verdict in words, the next hours as a table."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gputide.backtest.model import FloatArray
from gputide.backtest.outlook.look import Outlook
from gputide.backtest.report.table import plain
from gputide.charts.numbers import number, percent
from gputide.forecast.model import Reason, Verdict

HOUR_MINUTES = 60
MINUTE_SECONDS = 60
BAR_CELLS = 24
UNKNOWN = "-"

REASONS = {
    Reason.IN_USE: "the season is foreseen better than by looking at now",
    Reason.NO_DATA: "there is no load at all",
    Reason.TOO_SHORT: "the history is too short: two days at least, eight for the week",
    Reason.TOO_MANY_GAPS: "too much of the history is unknown",
    Reason.FLAT: "the load hardly changes",
    Reason.INTERMITTENT: "most of the time there is no load",
    Reason.NO_PERIOD: "no day, week or shorter season repeats",
    Reason.PERSISTENCE_IS_BETTER: "looking at now foresees as well as the season does",
    Reason.COVERAGE_TOO_LOW: "on the last days the load broke the bound far too often",
    Reason.CENSORED: "saturated minutes say only how large the demand was at least",
    Reason.LEVEL_SHIFT: "the load moved to a new level lately",
}
PEERS = {
    "last-day": "yesterday's values",
    "last-week": "last week's",
    "max-of-days": "highest of the same minute",
    "persistence": "the day before's level",
}


def print_outlooks(outlooks: Sequence[Outlook], console: Console) -> None:
    """Print one trace after the other."""
    for index, outlook in enumerate(outlooks):
        if index:
            console.print()
        console.print(Text(plain(outlook.trace.name), style="bold"))
        for line in sentences(outlook):
            console.print(Text(plain(line)), soft_wrap=True)
        console.print(_hours(outlook))


def sentences(outlook: Outlook) -> Iterator[str]:
    """Yield what a person should know before reading the numbers, a line each."""
    trace, verdict = outlook.trace, outlook.verdict
    days = len(trace.demand) * trace.step_seconds / 86_400
    end = _local(outlook.start_utc, trace.time_zone)
    known = percent(verdict.known_ratio, decimals=1)
    yield f"History: {days:.1f} days to {end:%Y-%m-%d %H:%M} {trace.time_zone}, {known} known"
    yield _decision(verdict)
    yield f"Seasons: {', '.join(map(spoken_period, verdict.periods_seconds)) or 'none'}"
    yield _record(verdict, outlook.quantile)
    bound, sure = number(outlook.lead_upper, unknown="unknown"), _quantile(outlook.quantile)
    span = f"{outlook.lead_seconds // MINUTE_SECONDS} min"
    yield f"Largest of the next {span}: at most {bound}{_unit(outlook)} ({sure})"
    for warning in trace.warnings:
        yield f"Note: {warning}"


def spoken_period(seconds: int) -> str:
    """Return a season's length as people say it.

    >>> spoken_period(86_400), spoken_period(604_800), spoken_period(3600), spoken_period(1200)
    ('day', 'week', 'hour', '20 min')
    """
    named = {3600: "hour", 86_400: "day", 604_800: "week"}
    if seconds in named:
        return named[seconds]
    return f"{seconds / 3600:g} h" if seconds > 3600 else f"{seconds / 60:g} min"


def _decision(verdict: Verdict) -> str:
    if verdict.reasons == (Reason.IN_USE,):
        return f"Forecast in use: {REASONS[Reason.IN_USE]}"
    why = "; ".join(f"{reason.value} ({REASONS[reason]})" for reason in verdict.reasons)
    if verdict.is_seasonal_in_use:
        return f"Forecast in use, with care: {why}"
    return f"Forecast not in use, the newest minutes lead: {why}"


def _record(verdict: Verdict, quantile: float) -> str:
    """Return how the band did on the last days, beside what one could do without it."""
    if verdict.coverage_ratio is None:
        return "On the last days: too few to tell"
    covered = percent(verdict.coverage_ratio, decimals=1)
    losses = verdict.naive_pinball_loss_ratios.items()
    peers = ", ".join(f"{PEERS.get(name, name)} {number(loss)}" for name, loss in losses)
    own = number(verdict.pinball_loss_ratio)
    return (
        f"On the last days: {covered} of the minutes below the {_quantile(quantile)} bound;"
        f" loss {own} of the mean; naively: {peers}"
    )


def _hours(outlook: Outlook) -> Table:
    unit = _unit(outlook)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="")
    table.add_column("from")
    table.add_column(f"median{unit}", justify="right")
    table.add_column(f"{_quantile(outlook.quantile)} bound", justify="right")
    table.add_column("")
    median = outlook.median.reshape(-1, HOUR_MINUTES).mean(axis=1)
    upper = outlook.upper.reshape(-1, HOUR_MINUTES).max(axis=1)
    for hour, bar in enumerate(_bars(median, upper)):
        at = _local(outlook.start_utc + timedelta(hours=hour), outlook.trace.time_zone)
        table.add_row(f"{at:%a %H:%M}", number(median[hour]), number(upper[hour]), bar)
    return table


def _bars(median: FloatArray, upper: FloatArray) -> Iterator[str]:
    """Yield an hour's bar: solid to the median, light to the bound."""
    cell = max(float(upper.max()), 1e-300) / BAR_CELLS
    for middle, top in zip(median, upper, strict=True):
        solid = round(middle / cell)
        yield "█" * solid + "░" * max(round(top / cell) - solid, 0)


def _local(at: datetime, time_zone: str) -> datetime:
    return at.astimezone(ZoneInfo(time_zone))


def _quantile(quantile: float) -> str:
    return f"{100 * quantile:g} %"


def _unit(outlook: Outlook) -> str:
    return f" {plain(outlook.trace.unit)}" if outlook.trace.unit else ""
