from datetime import UTC, datetime

import numpy as np
import pytest
from bench import tables
from bench.policies import PolicyRow, race, summarize
from rich.console import Console

from gputide.backtest.model import PolicyName, Trace
from gputide.backtest.settings import BacktestSettings


def row(trace: str, policy: PolicyName, hours: float, rival: float) -> PolicyRow:
    return PolicyRow(
        trace=trace,
        policy=policy,
        is_walk_forward=True,
        replica_hours=hours,
        saturated_ratio=hours / 1e5,
        late_ratio=0,
        changes_per_day=10,
        pods_started_per_day=20,
        saving_to_hpa_ratio=1 - hours / rival,
        saving_to_stabilized_ratio=None,
    )


def test_a_summary_takes_the_median_and_the_worst_trace() -> None:
    rows = [row(name, PolicyName.GPUTIDE_TUNED, hours, 100) for name, hours in
            (("a", 50), ("b", 70), ("c", 110))]  # fmt: skip
    [ours] = summarize(rows)
    assert ours.saving_to_hpa_median == pytest.approx(0.3)
    assert ours.saving_to_hpa_worst == pytest.approx(-0.1)
    assert ours.saturated_worst == pytest.approx(110 / 1e5)
    assert np.isnan(ours.saving_to_stabilized_median)


def test_traces_are_replayed_and_too_short_ones_named(capsys: pytest.CaptureFixture[str]) -> None:
    clock = np.arange(3 * 1440)
    tide = Trace(
        name="tide",
        demand=5 + 4 * np.sin(2 * np.pi * clock / 1440),
        start_utc=datetime(2024, 1, 1, tzinfo=UTC),
        time_zone="UTC",
    )
    stub = Trace(name="stub", demand=tide.demand[:2000], start_utc=tide.start_utc, time_zone="UTC")
    policies = (PolicyName.HPA_TUNED, PolicyName.GPUTIDE)
    settings = BacktestSettings(history_days=2, tuning_days=1, policies=policies)
    rows, skipped = race([tide, stub], settings)
    assert [one.name for one in skipped] == ["stub"]
    hours = {one.policy: one.replica_hours for one in rows}
    saving = {one.policy: one.saving_to_hpa_ratio for one in rows}
    assert set(hours) == {"hpa-tuned", "gputide"}
    assert saving["gputide"] == pytest.approx(1 - hours["gputide"] / hours["hpa-tuned"])
    tables.print_policies(Console(width=200), rows, summarize(rows))
    assert "gputide" in capsys.readouterr().out
