"""The terminal's tables, against golden files: `python tests/unit/backtest/report/test_table.py`
writes them anew; look at the difference before you keep it.
"""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fakes.trace_reports import refusing_report, trace_report
from gputide.backtest.model import PolicyName, TraceReport
from gputide.backtest.report.table import print_reports

GOLDEN = Path(__file__).parents[3] / "golden" / "backtest"

HOSTILE = "[red]\x1b]0;pwned\x07\r\N{RIGHT-TO-LEFT OVERRIDE}name[/red]"

CASES: dict[str, tuple[list[TraceReport], int, bool]] = {
    "one-80.txt": ([trace_report()], 80, False),
    "one-140.txt": ([trace_report()], 140, False),
    "refused-80.txt": ([refusing_report()], 80, False),
    "several-80.txt": ([trace_report(), refusing_report(), trace_report(HOSTILE)], 80, False),
    "several-verbose-100.txt": ([trace_report(), refusing_report()], 100, True),
}


def printed(reports: list[TraceReport], *, columns: int = 80, is_verbose: bool = False) -> str:
    console = Console(file=io.StringIO(), width=columns)
    print_reports(reports, console, is_verbose=is_verbose)
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize("name", CASES)
def test_the_tables_look_as_they_were_approved(name: str) -> None:
    reports, columns, is_verbose = CASES[name]

    text = printed(reports, columns=columns, is_verbose=is_verbose)

    assert text == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [60, 80, 100, 140, 240])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    text = printed([trace_report(), refusing_report()], columns=columns, is_verbose=True)

    assert max(map(len, text.splitlines())) <= columns


def test_every_policy_has_a_row_at_80_columns_with_nothing_cut() -> None:
    text = printed([trace_report()])

    assert "…" not in text
    for policy in PolicyName:
        assert f"\n{policy} " in text


def test_a_large_fleet_fits_too() -> None:
    report = trace_report()
    large = tuple(
        replace(
            outcome,
            replica_hours=outcome.replica_hours * 1000,
            changes_per_day=outcome.changes_per_day * 100,
            pods_started_per_day=outcome.pods_started_per_day * 1000,
            saturated_ratio=1.0,
        )
        for outcome in report.outcomes
    )

    text = printed([replace(report, outcomes=large)])

    assert "…" not in text
    assert "4.608 M" in text
    assert "100.0 % !" in text


def test_harm_over_budget_has_a_sign_and_a_footnote() -> None:
    text = printed([trace_report()])

    assert "1.39 % !" in text
    assert "! over the harm budget of 0.1 %" in text


def test_the_footnotes_are_left_out_where_they_explain_nothing() -> None:
    report = trace_report()
    fine = tuple(
        replace(outcome, is_walk_forward=True)
        for outcome in report.outcomes
        if outcome.saturated_ratio < 0.001
    )

    text = printed([replace(report, outcomes=fine)])

    assert "!" not in text
    assert "*" not in text
    assert "- unknown" not in text


def test_unknown_is_a_dash_with_a_footnote_never_0() -> None:
    text = printed([trace_report()])

    row = next(line for line in text.splitlines() if line.startswith("last-week"))
    assert row.split()[5:7] == ["-", "-"]
    assert "- unknown" in text


def test_colour_is_only_for_terminals_and_not_against_no_color(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raw(*, is_terminal: bool) -> str:
        console = Console(file=io.StringIO(), width=80, force_terminal=is_terminal)
        print_reports([trace_report()], console, is_verbose=False)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b[31m" in raw(is_terminal=True), "harm over budget is red"
    assert "\x1b[" not in raw(is_terminal=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in raw(is_terminal=True)


def test_a_hostile_name_steers_no_terminal() -> None:
    text = printed([trace_report(HOSTILE)])

    assert "[red]" in text
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text


def test_a_saving_that_serves_too_little_is_not_praised() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    print_reports([trace_report()], console, is_verbose=False)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()

    def row(policy: str) -> str:
        return next(line for line in lines if line.startswith(policy))

    assert "\x1b[32m" not in row("hpa *"), "it saves by serving less"
    assert "\x1b[32m" in row("hpa-stabilized")


if __name__ == "__main__":
    for file, (cases, width, verbose) in CASES.items():
        (GOLDEN / file).write_text(
            printed(cases, columns=width, is_verbose=verbose), encoding="utf-8"
        )
