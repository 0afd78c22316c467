"""The report in a terminal: a table of policies, what to do, and why."""

from collections.abc import Sequence
from math import isfinite

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gputide.backtest.model import TraceReport
from gputide.backtest.report.figures import (
    Row,
    Summary,
    advice,
    budget_words,
    harm_words,
    knob_words,
    middle,
    rows,
    summary,
)
from gputide.charts.numbers import number, percent

UNKNOWN = "-"
"""What the table writes where a figure is unknown; never 0."""

KNOBS_FIT_COLUMNS = 120
"""A terminal at least this wide shows the knobs in the table, a narrower one under it."""

OVER = " !"
"""Marks harm above its budget; the same sign stands before the footnote."""


def print_reports(reports: Sequence[TraceReport], console: Console, *, is_verbose: bool) -> None:
    """Print one trace in full; of several a line each, in full too where `is_verbose`."""
    if len(reports) == 1 or is_verbose:
        for report in reports:
            print_report(report, console)
    if len(reports) > 1:
        _print_overview([summary(report) for report in reports], console)


def print_report(report: TraceReport, console: Console) -> None:
    """Print the policies of one trace, the recommendation and its reasons."""
    judged = rows(report)
    is_wide = console.width >= KNOBS_FIT_COLUMNS
    console.print(Text(plain(report.trace.name), style="bold"))
    console.print(_policies(judged, has_knobs=is_wide))
    for note in _footnotes(report, judged):
        console.print(Text(note, style="dim"))
    if not is_wide:
        _print_knobs(judged, console)
    _print_recommendation(report, console)


def _number(value: float | None, *, digits: int = 3) -> str:
    return number(value, digits=digits, unknown=UNKNOWN)


def _large(value: float, *, digits: int = 4) -> str:
    """Return a number that fits its column at 80 columns, however large the fleet."""
    if isfinite(value) and value >= 999_999.5:
        return f"{_number(value / 1e6, digits=digits)} M"
    return _number(value, digits=digits)


def _percent(ratio: float | None, *, decimals: int = 2) -> str:
    return percent(ratio, decimals=decimals, unknown=UNKNOWN)


def _harm_words(ratio: float | None) -> str:
    return harm_words(ratio, unknown=UNKNOWN)


def plain(text: str) -> str:
    """Return text that cannot steer a terminal: control characters become a mark."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _new_table() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _policies(judged: Sequence[Row], *, has_knobs: bool) -> Table:
    table = _new_table()
    table.add_column("policy", no_wrap=True)
    for head in ("replica-\nhours", "saving", "saturated\nminutes", "late\ndemand"):
        table.add_column(head, justify="right", no_wrap=True)
    for head in ("changes\n/day", "started\n/day"):
        table.add_column(head, justify="right", no_wrap=True)
    if has_knobs:
        table.add_column("knobs")
    for row in judged:
        cells = [*_cells(row), *([Text(knob_words(row.outcome.knobs))] if has_knobs else [])]
        table.add_row(*cells, style="bold" if row.is_champion else None)
    return table


def _cells(row: Row) -> list[Text]:
    outcome = row.outcome
    return [
        Text(outcome.policy + ("" if outcome.is_walk_forward else " *")),
        Text(_large(outcome.replica_hours)),
        _saving(row),
        _harm(outcome.saturated_ratio, is_over=row.is_saturated_over),
        _harm(outcome.late_ratio, is_over=row.is_late_over),
        Text(_large(outcome.changes_per_day, digits=3)),
        Text(_large(outcome.pods_started_per_day, digits=3)),
    ]


def _saving(row: Row) -> Text:
    if row.is_opponent:
        return Text("baseline", style="dim")
    text = _percent(row.saving_ratio, decimals=1)
    return Text(text, style="green" if row.is_fair_saving else "")


def _harm(ratio: float, *, is_over: bool) -> Text:
    return Text(_harm_words(ratio) + (OVER if is_over else "  "), style="red" if is_over else "")


def _footnotes(report: TraceReport, judged: Sequence[Row]) -> list[str]:
    notes = []
    if any(row.is_saturated_over or row.is_late_over for row in judged):
        notes.append(f"! over the harm budget of {budget_words(report)}")
    if not all(row.outcome.is_walk_forward for row in judged):
        notes.append("* one fixed setting; the others tune theirs on earlier days alone")
    if report.coverage_ratio is not None:
        covered = _percent(report.coverage_ratio, decimals=1)
        notes.append(f"the {report.quantile:g} quantile covered {covered} of the minutes")
    if any(cell.plain.strip() == UNKNOWN for row in judged for cell in _cells(row)):
        notes.append(f"{UNKNOWN} unknown: the policy could not be measured here")
    return notes


def _print_knobs(judged: Sequence[Row], console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for row in judged:
        if row.outcome.knobs:
            table.add_row(Text(row.outcome.policy), Text(knob_words(row.outcome.knobs)))
    console.print(Text("knobs", style="dim"))
    console.print(Padding(table, (0, 0, 0, 2)))


def _print_recommendation(report: TraceReport, console: Console) -> None:
    headline, reasons = advice(report)
    style = "bold green" if report.recommendation.is_switch else "bold yellow"
    console.print()
    console.print(Text(plain(headline), style=style))
    for reason in reasons:
        console.print(_item(Text(plain(reason))))
    for warning in report.warnings:
        console.print(_item(Text(f"Warning: {plain(warning)}", style="yellow")))
    console.print()


def _item(text: Text) -> Table:
    """Return a list's item, its further lines indented."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row("-", text)
    return grid


def _print_overview(summaries: Sequence[Summary], console: Console) -> None:
    table = _new_table()
    table.add_column("trace", overflow="fold", ratio=1)
    table.add_column("advice", no_wrap=True)
    for head in (
        "days",
        "saving",
        "saving\nstab.",
        "saturated\nminutes",
        "late\ndemand",
        "covered",
    ):
        table.add_column(head, justify="right", no_wrap=True)
    for line in summaries:
        table.add_row(*_overview_cells(line))
    table.add_section()
    table.add_row(*_median_cells(summaries), style="bold")
    console.print(table)
    console.print(
        Text(
            "saving: replica-hours against the HPA with its target tuned by the same replay; "
            "stab.: with its stabilization tuned too. ! over the harm budget",
            style="dim",
        )
    )


def _overview_cells(line: Summary) -> list[Text]:
    row = line.champion
    outcome = row.outcome if row else None
    return [
        Text(plain(line.name)),
        Text(
            "auto" if line.is_switch else "observe", style="green" if line.is_switch else "yellow"
        ),
        Text(_number(line.days, digits=2)),
        Text(_percent(line.saving_ratio, decimals=1)),
        Text(_percent(line.stabilized_saving_ratio, decimals=1)),
        _harm(outcome.saturated_ratio, is_over=row.is_saturated_over)
        if row and outcome
        else Text(UNKNOWN),
        _harm(outcome.late_ratio, is_over=row.is_late_over) if row and outcome else Text(UNKNOWN),
        Text(_percent(line.coverage_ratio, decimals=1)),
    ]


def _median_cells(summaries: Sequence[Summary]) -> list[Text]:
    outcomes = [line.champion.outcome for line in summaries if line.champion]
    return [
        Text("median"),
        Text(f"{sum(line.is_switch for line in summaries)} auto"),
        Text(""),
        Text(_percent(middle([line.saving_ratio for line in summaries]), decimals=1)),
        Text(_percent(middle([line.stabilized_saving_ratio for line in summaries]), decimals=1)),
        _harm_of(middle([outcome.saturated_ratio for outcome in outcomes])),
        _harm_of(middle([outcome.late_ratio for outcome in outcomes])),
        Text(_percent(middle([line.coverage_ratio for line in summaries]), decimals=1)),
    ]


def _harm_of(ratio: float | None) -> Text:
    return Text(f"{_harm_words(ratio)}  ")
