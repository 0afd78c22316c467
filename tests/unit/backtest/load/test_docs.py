"""The reference pages name what the code has, and nothing else."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from gputide.backtest.load.csv_columns import DURATION_NAMES, POD_NAMES, TIME_NAMES, VALUE_NAMES
from gputide.backtest.model import Trace
from gputide.backtest.outlook.json import render
from gputide.backtest.outlook.look import OutlookSettings, look_ahead
from gputide.forecast.model import Reason

REFERENCE = Path(__file__).parents[4] / "docs" / "reference"


def test_the_csv_page_lists_every_column_name_in_its_line() -> None:
    page = (REFERENCE / "csv-format.md").read_text()
    rows = {
        line.split("|")[1].split(",")[0].strip(): line
        for line in page.splitlines()
        if line.startswith("|") and "--" in line
    }
    for role, tiers in (("time", TIME_NAMES), ("value", VALUE_NAMES), ("duration", DURATION_NAMES)):
        lines = rows[role].split("|")[3].split("<br>")
        for line, tier in zip(lines, tiers, strict=False):
            assert set(re.findall(r"`(\S+)`", line)) == tier
    assert all(f"`{name}`" in page for name in POD_NAMES)


def test_the_forecast_page_names_every_field_and_reason() -> None:
    page = (REFERENCE / "forecast-report.md").read_text()
    trace = Trace(
        name="made",
        demand=np.ones(4000),
        start_utc=datetime(2026, 3, 2, tzinfo=UTC),
        time_zone="UTC",
    )

    document = json.loads(render([look_ahead(trace, OutlookSettings())]))

    (outlook,) = document["traces"]
    for field, value in [*document.items(), *outlook.items()]:
        inner = value if isinstance(value, dict) and field != "traces" else {}
        for name in [f"{field}.{key}" for key in inner] or [field]:
            assert f"`{name}`" in page
    assert set(re.findall(r"`([A-Z]\w+)`", page)) == {reason.value for reason in Reason}
