"""`gputide forecast`, from its arguments to what it prints and writes."""

import json
import math
from pathlib import Path

import pytest

from gputide.cli import run

T0 = 1_700_000_040  # a whole minute
DAY = 1440


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "load.csv"
    rows = [f"{T0 + 60 * i},{50 + 40 * math.sin(i * math.tau / DAY):.3f}" for i in range(9 * DAY)]
    path.write_text("\n".join(["timestamp,value", *rows]))
    return path


def test_the_verdict_and_the_next_day_are_printed(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run(["forecast", "--csv", str(file), "--quantile", "90", "--time-zone", "Asia/Tokyo"])

    stdout, stderr = capfd.readouterr()
    assert (code, stderr) == (0, "")
    assert "History: 9.0 days to 2023-11-24 07:14 Asia/Tokyo" in stdout
    assert "Forecast in use" in stdout
    assert "90 % bound" in stdout


def test_json_holds_a_value_a_minute_beside_the_table(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"

    code = run(["forecast", "--csv", str(file), "--json", str(out), "--history-days", "5"])

    assert code == 0
    assert "median" in capfd.readouterr().out
    (trace,) = json.loads(out.read_text())["traces"]
    assert len(trace["upper"]) == DAY
    assert trace["history"]["steps"] == 5 * DAY


def test_json_alone_goes_to_standard_output(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = run(["forecast", "--csv", str(file), "--json", "-", "--lead-seconds", "600"])

    (trace,) = json.loads(capfd.readouterr().out)["traces"]
    assert code == 0
    assert trace["lead"]["seconds"] == 600


def test_settings_may_stand_in_the_environment(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUTIDE_FORECAST_QUANTILE", "0.8")

    assert run(["forecast", "--csv", str(file)]) == 0
    assert "80 % bound" in capfd.readouterr().out


def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run(["forecast", "--csv", "none.csv", "--json", str(tmp_path / "no" / "out.json")])

    assert code == 2
    assert "out.json" in capfd.readouterr().err
