"""The forecast as JSON: every number, unknown as null."""

import json
from datetime import UTC, datetime

import numpy as np

from gputide.backtest.model import Trace
from gputide.backtest.outlook.json import render
from gputide.backtest.outlook.look import OutlookSettings, look_ahead


def test_all_numbers_are_there_and_what_is_unknown_is_null() -> None:
    demand = np.concatenate([np.linspace(1, 2, 3000), [np.nan] * 3])
    trace = Trace(
        name="made",
        demand=demand,
        start_utc=datetime(2026, 3, 2, tzinfo=UTC),
        time_zone="Asia/Shanghai",
        unit="GPUs",
        warnings=("one gap",),
    )
    outlook = look_ahead(trace, OutlookSettings(quantile=0.9, lead_seconds=300))

    document = json.loads(render([outlook, outlook]), parse_constant=reject)

    assert document["format"] == "gputide-forecast/1"
    first, second = document["traces"]
    assert first == second
    assert (first["name"], first["unit"], first["quantile"]) == ("made", "GPUs", 0.9)
    assert first["start_utc"] == "2026-03-04T02:03:00Z"
    assert len(first["median"]) == len(first["upper"]) == 1440
    np.testing.assert_allclose(first["upper"], outlook.upper, rtol=1e-5)
    assert first["lead"]["seconds"] == 300
    assert first["history"]["steps"] == 3003
    assert first["history"]["known_ratio"] < 1
    assert list(first["verdict"]["naive_pinball_loss_ratios"]) == [
        "last-day",
        "max-of-days",
        "persistence",
    ]
    assert first["warnings"] == ["one gap"]


def reject(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_what_nobody_knows_is_null() -> None:
    trace = Trace(
        name="unknown",
        demand=np.full(10, np.nan),
        start_utc=datetime(2026, 3, 2, tzinfo=UTC),
        time_zone="UTC",
    )

    document = json.loads(render([look_ahead(trace, OutlookSettings())]), parse_constant=reject)

    assert document["traces"][0]["lead"]["upper"] is None
    assert document["traces"][0]["verdict"]["coverage_ratio"] is None
