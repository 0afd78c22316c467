from pathlib import Path

import msgspec
import numpy as np
import pytest
from bench.__main__ import app, main


def run(arguments: list[str]) -> None:
    app(arguments, result_action="return_value")


def test_a_tiny_run_prints_and_writes_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = np.arange(3 * 288)
    values = 5 + 4 * np.sin(2 * np.pi * clock / 288) + np.random.default_rng(0).random(len(clock))
    rows = zip(1_700_000_100 + 300 * clock, values, strict=True)
    text = "timestamp,value\n" + "".join(f"{at},{value:.4f}\n" for at, value in rows)
    (tmp_path / "tide.csv").write_text(text)
    figures = tmp_path / "figures.json"
    run(["--only", "accuracy", "--history-days", "2", "--max-origins", "1",
         "--traces", str(tmp_path), "--json", str(figures)])  # fmt: skip
    shown = capsys.readouterr().out
    assert "figures.json" not in shown
    assert "tide" in shown
    rows_written = msgspec.json.decode(figures.read_bytes())["accuracy"]
    assert {row["task"] for row in rows_written} == {
        "day ahead", "max of 5 minutes", "one hour", "six hours",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--traces", "absent", "--only", "accuracy"], "absent: is no folder"),
        (["--json", "absent/figures.json"], "json: absent is no folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"bench: {problem}\n"
