"""The figures as tables for a terminal."""

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.accuracy import Row, Summary
from bench.cost import CostRow
from bench.damage import DamageRow
from bench.traces import Skipped

if TYPE_CHECKING:  # the replay takes its time to load, and accuracy does without
    from bench.policies import PolicyRow, PolicySummary


def print_skipped(console: Console, skipped: Iterable[Skipped]) -> None:
    """Say what was left out, and why."""
    for one in dict.fromkeys(skipped):
        console.print(f"left out: {one.name}: {one.reason}", style="dim", highlight=False)


def print_accuracy(console: Console, rows: Sequence[Row], summaries: Sequence[Summary]) -> None:
    """Print a table for each task and length of history, and one over all traces."""
    for task, days in dict.fromkeys((row.task, row.history_days) for row in rows):
        part = [row for row in rows if (row.task, row.history_days) == (task, days)]
        console.print(_accuracy_table(f"{task}, {days} days of history", part))
    for task, days in dict.fromkeys((one.task, one.history_days) for one in summaries):
        chosen = [one for one in summaries if (one.task, one.history_days) == (task, days)]
        console.print(_summary_table(f"all traces: {task}, {days} days of history", chosen))


def _accuracy_table(title: str, rows: Sequence[Row]) -> Table:
    contestants = list(dict.fromkeys(row.contestant for row in rows))
    table = Table(title=f"{title}: pinball loss / mean, coverage", title_justify="left")
    table.add_column("trace")
    table.add_column("origins", justify="right")
    for name in contestants:
        table.add_column(name, justify="right")
    for trace in dict.fromkeys(row.trace for row in rows):
        mine = {row.contestant: row for row in rows if row.trace == trace}
        any_row = next(iter(mine.values()))
        mark = "" if any_row.is_periodic else " (no period)"
        cells = [
            f"{mine[name].pinball_loss_ratio:.4f} {mine[name].coverage_ratio:.3f}"
            for name in contestants
        ]
        table.add_row(trace + mark, str(any_row.origins), *cells)
    return table


def _summary_table(title: str, summaries: Sequence[Summary]) -> Table:
    headings = (
        "contestant",
        "loss / max of days",
        "(periodic)",
        "coverage, periodic",
        "worst",
        "coverage, all",
        "worst",
        "worst loss / better rival",
        "CPU ms",
    )
    table = Table(title=title, title_justify="left")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left")
    for one in summaries:
        table.add_row(
            one.contestant,
            _number(one.loss_to_max_of_days, ".3f"),
            _number(one.periodic_loss_to_max_of_days, ".3f"),
            _number(one.periodic_coverage_mean, ".3f"),
            f"{_number(one.periodic_coverage_worst, '.3f')} {one.periodic_coverage_worst_trace}",
            _number(one.coverage_mean, ".3f"),
            f"{_number(one.coverage_worst, '.3f')} {one.coverage_worst_trace}",
            f"{_number(one.loss_to_better_worst, '.2f')} {one.loss_to_better_worst_trace}",
            _number(one.cpu_ms, ".1f"),
        )
    return table


def print_damage(console: Console, rows: Sequence[DamageRow]) -> None:
    """Print what lost data cost."""
    table = Table(title="day ahead with damaged histories", title_justify="left")
    for index, heading in enumerate(
        ("damage", "history", "loss / undamaged", "worst", "coverage, all")
    ):
        table.add_column(heading, justify="right" if index else "left")
    for row in rows:
        table.add_row(
            row.damage,
            f"{row.history_days} d",
            _number(row.loss_ratio, ".3f"),
            f"{_number(row.worst_loss_ratio, '.2f')} {row.worst_trace}",
            _number(row.coverage_mean, ".3f"),
        )
    console.print(table)


def print_cost(console: Console, rows: Sequence[CostRow], *, workloads: int, days: int) -> None:
    """Print what forecasts cost, and how many times the floor that is."""
    table = Table(
        title=f"cost: {workloads} workloads, {days} days of minutes, one thread",
        title_justify="left",
    )
    for index, heading in enumerate(("", "cost", "goal", "floor", "cost / floor", "floor is")):
        table.add_column(heading, justify="right" if 0 < index < 5 else "left")
    for row in rows:
        times = row.value / row.floor if row.floor else float("nan")
        table.add_row(
            row.what,
            f"{row.value:.3g} {row.unit}",
            "" if row.goal is None else f"{row.goal:g}",
            "" if row.floor is None else f"{row.floor:.3g}",
            _number(times, ".1f"),
            row.floor_is,
        )
    console.print(table)


def print_policies(
    console: Console, rows: "Sequence[PolicyRow]", summaries: "Sequence[PolicySummary]"
) -> None:
    """Print the policies over all traces, and the money of each trace."""
    table = Table(title="policies over all traces, walked forward", title_justify="left")
    headings = (
        "policy",
        "knobs",
        "saved v tuned HPA: median",
        "worst",
        "v HPA tuned with stabilization: median",
        "worst",
        "saturated %: median",
        "worst",
        "late %: median",
        "worst",
        "changes/d",
        "starts/d",
    )
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index > 1 else "left")
    for one in summaries:
        table.add_row(
            one.policy,
            "replayed" if one.is_walk_forward else "fixed",
            _percent(one.saving_to_hpa_median),
            _percent(one.saving_to_hpa_worst),
            _percent(one.saving_to_stabilized_median),
            _percent(one.saving_to_stabilized_worst),
            *(
                _number(100 * share, ".3f")
                for share in (
                    one.saturated_median,
                    one.saturated_worst,
                    one.late_median,
                    one.late_worst,
                )
            ),
            f"{one.changes_median:.0f}",
            f"{one.pods_started_median:.0f}",
        )
    console.print(table)
    console.print(_hours_table(rows))


def _hours_table(rows: "Sequence[PolicyRow]") -> Table:
    policies = list(dict.fromkeys(row.policy for row in rows))
    table = Table(title="replica-hours (saturated %, late %) of each trace", title_justify="left")
    table.add_column("trace")
    for name in policies:
        table.add_column(name, justify="right")
    for trace in dict.fromkeys(row.trace for row in rows):
        mine = {row.policy: row for row in rows if row.trace == trace}
        cells = [
            f"{mine[name].replica_hours:,.0f} ({100 * mine[name].saturated_ratio:.2f}, "
            f"{100 * mine[name].late_ratio:.2f})"
            if name in mine
            else ""
            for name in policies
        ]
        table.add_row(trace, *cells)
    return table


def _number(value: float, form: str) -> str:
    return "" if isnan(value) else format(value, form)


def _percent(value: float) -> str:
    return "" if isnan(value) else f"{100 * value:.1f} %"
