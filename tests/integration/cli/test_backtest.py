"""`gputide backtest` from a file to the reports."""

import json
import math
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gputide.cli import run

T0 = 1_767_225_600  # 2026-01-01 UTC
POLICIES = ["hpa", "hpa-tuned", "gputide", "gputide-tuned"]
QUICK = [
    *("--history-days", "2", "--evaluated-days", "1", "--tuning-days", "1"),
    *("--mean-pods", "5", "--policies", *POLICIES),
]


def write_load(path: Path, *, days: int = 4, seed: int = 1) -> Path:
    noise = random.Random(seed)
    rows = [
        f"{T0 + 60 * minute},{20 + 12 * math.sin(minute / 229.2) + noise.gauss(0, 0.5):.3f}"
        for minute in range(days * 1440)
    ]
    path.write_text("\n".join(["timestamp,value", *rows]))
    return path


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_load(tmp_path_factory.mktemp("load") / "tide.csv")


def test_table_page_and_json_tell_the_same_story(
    load: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    html, report = tmp_path / "report.html", tmp_path / "report.json"

    code = run(["backtest", "--csv", str(load), "--html", str(html), "--json", str(report), *QUICK])

    shown = capfd.readouterr()
    assert code == 0, shown.err
    assert shown.err == "replaying tide (1 of 1)\n"
    (trace,) = json.loads(report.read_text())["traces"]
    assert [o["policy"] for o in trace["outcomes"]] == POLICIES
    assert trace["recommendation"]["headline"] in html.read_text()
    for outcome in trace["outcomes"]:
        assert f"\n{outcome['policy']} " in shown.out
        assert f"{outcome['replica_hours']:,.0f}"[:3] in shown.out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["report.html", "report.json"]


def test_json_alone_goes_to_standard_output(load: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["backtest", "--csv", str(load), "--json", "-", *QUICK]) == 0

    assert json.loads(capfd.readouterr().out)["format"] == "gputide-backtest/1"


def test_several_files_get_a_line_each_and_all_in_full_on_request(
    load: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = write_load(tmp_path / "ebb.csv", seed=2)
    arguments = ["backtest", "--csv", str(load), str(other), *QUICK]

    assert run(arguments) == 0
    short = capfd.readouterr().out
    assert run([*arguments, "--verbose"]) == 0
    long = capfd.readouterr().out

    assert short.splitlines()[1].split()[:2] == ["trace", "advice"]
    assert {line.split()[0] for line in short.splitlines() if line[:1].isalpha()} >= {
        "tide", "ebb", "median",
    }  # fmt: skip
    assert long.endswith(short)
    assert long.count("gputide-tuned") >= 2


def test_one_bad_file_among_good_ones_leaves_no_report(
    load: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("timestamp,value\n1767225600,many\n")
    report = tmp_path / "report.json"

    code = run(["backtest", "--csv", str(load), str(bad), "--json", str(report), *QUICK])

    shown = capfd.readouterr()
    assert code == 2
    assert shown.out == ""
    assert shown.err.startswith("gputide: ")
    assert "bad.csv" in shown.err
    assert shown.err.count("\n") == 1
    assert not report.exists()


def test_a_load_too_short_to_replay_is_refused_before_any_replay(
    load: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    short = tmp_path / "short.csv"
    rows = [f"{T0 + 60 * minute},1" for minute in range(30)]
    short.write_text("\n".join(["timestamp,value", *rows]))

    code = run(["backtest", "--csv", str(load), str(short), *QUICK])

    shown = capfd.readouterr()
    assert code == 2
    assert "short" in shown.err
    assert "replaying" not in shown.err


def test_an_interrupt_ends_quietly_and_leaves_no_file(load: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "gputide", "backtest", "--csv", str(load)]
    started = subprocess.Popen(
        [*command, "--json", str(report), *QUICK], stderr=subprocess.PIPE, text=True
    )
    with started:
        assert started.stderr is not None
        assert started.stderr.readline() == "replaying tide (1 of 1)\n"
        started.send_signal(signal.SIGINT)
        rest = started.stderr.read()

    assert started.returncode == 130
    assert rest == ""
    assert list(tmp_path.iterdir()) == []
