from pathlib import Path

import pytest

from gputide import cli
from gputide.cli.app import new_app
from gputide.cli.commands import COMMANDS


def test_a_commands_module_is_not_loaded_before_it_is_asked_for() -> None:
    app = new_app()

    assert set(COMMANDS) <= set(app)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[backtest", "gputide.toml: "),
        ("[backtst]\nquantile = 9", "gputide.toml: [backtst] is no command"),
        ("[backtest]\nquantle = 9", "gputide.toml"),
        ('[backtest]\nquantile = "high"', "gputide.toml"),
        ("[backtest]\nquantile = 100", "quantile: 100 is no quantile"),
        ("\xff", "gputide.toml: "),
    ],
)
def test_a_wrong_settings_file_is_named(
    text: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gputide.toml").write_text(text, encoding="latin-1")

    assert cli.run(["backtest"]) == 2

    shown = capfd.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1


def test_the_command_line_beats_the_environment_beats_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def error(*arguments: str) -> str:
        cli.run(["backtest", *arguments])
        return capfd.readouterr().err

    monkeypatch.chdir(tmp_path)
    assert "none is given" in error()
    Path("gputide.toml").write_text('[backtest]\ncsv = ["file.csv"]')
    assert "file.csv: no such file" in error()
    monkeypatch.setenv("GPUTIDE_BACKTEST_CSV", "environment.csv")
    assert "environment.csv: no such file" in error()
    assert "line.csv: no such file" in error("--csv", "line.csv")
