"""The forecast in a terminal: the verdict in words, a row an hour."""

import io
from datetime import UTC, datetime

import numpy as np
import pytest
from rich.console import Console

from gputide.backtest.model import Trace
from gputide.backtest.outlook.look import OutlookSettings, look_ahead
from gputide.backtest.outlook.table import REASONS, print_outlooks, spoken_period
from gputide.forecast.model import Reason

DAY = 1440


def printed(*traces: Trace, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_outlooks([look_ahead(trace, OutlookSettings()) for trace in traces], console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def trace_of(demand: object, **fields: object) -> Trace:
    values: dict[str, object] = {
        "name": "made",
        "demand": np.asarray(demand, dtype=np.float64),
        "start_utc": datetime(2026, 3, 2, tzinfo=UTC),
        "time_zone": "Asia/Shanghai",
        **fields,
    }
    return Trace(**values)  # type: ignore[arg-type]  # a test's own fields


def test_a_season_is_said_with_its_record_and_a_row_an_hour() -> None:
    tide = 50 + 40 * np.sin(np.arange(14 * DAY) * 2 * np.pi / DAY)
    noise = np.random.default_rng(1).normal(0, 1, 14 * DAY)

    text = printed(trace_of(tide + noise, unit="GPUs", warnings=("2 gaps",)))

    assert "History: 14.0 days to 2026-03-16 08:00 Asia/Shanghai, 100.0 % known" in text
    assert "Forecast in use: the season is foreseen better" in text
    assert "Seasons: day" in text
    assert "of the minutes below the 95 % bound" in text
    assert "Largest of the next 3 min: at most" in text
    assert "Note: 2 gaps" in text
    assert "median GPUs" in text
    assert "Mon 08:00" in text
    assert "Tue 07:00" in text
    assert sum(line.strip().startswith(("Mon ", "Tue ")) for line in text.splitlines()) == 24


def test_what_speaks_against_a_forecast_is_named() -> None:
    text = printed(trace_of(np.ones(100)))

    assert "Forecast not in use, the newest minutes lead: TooShort (" in text
    assert "Seasons: none" in text
    assert "On the last days: too few to tell" in text


def test_several_traces_come_one_after_the_other() -> None:
    text = printed(trace_of([1.0, 2.0], name="first"), trace_of([0.0, 0.0], name="second"))

    assert text.index("first") < text.index("second")


def test_a_name_cannot_steer_the_terminal() -> None:
    text = printed(trace_of([1.0], name="\x1b[31m[bold]red", unit="\x07[x]"))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]red" in text


def test_every_reason_has_words() -> None:
    assert set(REASONS) == set(Reason)


@pytest.mark.parametrize(
    ("seconds", "words"), [(28_800, "8 h"), (43_200, "12 h"), (5400, "1.5 h"), (3600, "hour")]
)
def test_seasons_are_spoken_as_people_do(seconds: int, words: str) -> None:
    assert spoken_period(seconds) == words
