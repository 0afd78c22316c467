from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from bench import tables
from bench.accuracy import Row, Setup, measure, summarize
from bench.damage import DAMAGES, measure_damage
from bench.opponents import CONTESTANTS, GPUTIDE, MAX_OF_DAYS, PERSISTENCE
from bench.traces import Load
from bench.windows import Task, Window, window_of
from rich.console import Console

SETUP = Setup(history_days=(3,), max_origins=2, tasks=(Task.DAY_AHEAD, Task.ONE_HOUR))


def tide(days: int = 6) -> Load:
    clock = np.arange(days * 1440)
    noise = np.random.default_rng(0).random(len(clock))
    values = 5 + 4 * np.sin(2 * np.pi * clock / 1440) + noise
    start = datetime.fromisoformat("2024-01-01")
    return Load(name="tide", values=values, start_local=start, step_seconds=60)


def test_a_tiny_run_fills_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows, skipped = measure([tide(), replace(tide(2), name="short")], CONTESTANTS, SETUP)
    assert [(one.name, one.reason) for one in skipped] == [
        ("short", "holds 2.0 days; 3 of history need 4")
    ]
    assert {(row.task, row.contestant) for row in rows} == {
        (task, name) for task in ("day ahead", "one hour") for name in CONTESTANTS
    }
    assert all(row.is_periodic and row.origins == 2 for row in rows)
    assert all(0 < row.coverage_ratio <= 1 for row in rows)
    console = Console(width=200)
    tables.print_skipped(console, skipped)
    tables.print_accuracy(console, rows, summarize(rows))
    tables.print_damage(console, measure_damage([tide()], SETUP))
    shown = capsys.readouterr().out
    for word in ("short", "day ahead", "one hour", GPUTIDE, "lost day"):
        assert word in shown


def row(contestant: str, trace: str, loss: float, *, is_periodic: bool = True) -> Row:
    return Row(
        trace=trace,
        task="one hour",
        history_days=7,
        contestant=contestant,
        pinball_loss_ratio=loss,
        coverage_ratio=0.9 if is_periodic else 0.5,
        cpu_ms=1,
        origins=3,
        is_periodic=is_periodic,
    )


def test_a_summary_compares_trace_by_trace() -> None:
    rows = [
        row(GPUTIDE, "a", 0.05), row(MAX_OF_DAYS, "a", 0.1), row(PERSISTENCE, "a", 0.04),
        row(GPUTIDE, "b", 0.4, is_periodic=False), row(MAX_OF_DAYS, "b", 0.2, is_periodic=False),
        row(PERSISTENCE, "b", 0.5, is_periodic=False),
    ]  # fmt: skip
    ours = next(one for one in summarize(rows) if one.contestant == GPUTIDE)
    assert ours.loss_to_max_of_days == pytest.approx(1.0)  # half and twice
    assert ours.periodic_loss_to_max_of_days == pytest.approx(0.5)
    assert (ours.loss_to_better_worst, ours.loss_to_better_worst_trace) == (2.0, "b")
    assert (ours.coverage_worst, ours.coverage_worst_trace) == (0.5, "b")
    assert (ours.periodic_coverage_mean, ours.periodic_coverage_worst_trace) == (0.9, "a")


def test_silence_costs_what_the_last_known_value_costs() -> None:
    def silent(window: Window, _task: Task, _quantile: float) -> np.ndarray:
        return np.full(window.steps_per_day, np.nan)

    [found], _ = measure([tide()], {"silent": silent}, replace(SETUP, tasks=(Task.DAY_AHEAD,)))
    assert found.pinball_loss_ratio > 0.1


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_takes_values_away_and_invents_none(name: str) -> None:
    window = window_of(tide(), 4 * 1440, Task.DAY_AHEAD, history_days=4)
    hurt = DAMAGES[name](window, np.random.default_rng(0))
    is_lost = np.isnan(hurt)
    assert 0.02 < is_lost.mean() < 0.3
    np.testing.assert_array_equal(hurt[~is_lost], window.values[~is_lost])


def test_the_benchmark_is_no_part_of_the_package() -> None:
    source = Path(__file__).parents[3] / "src"
    assert not any("bench" in file.parts for file in source.rglob("*.py"))
