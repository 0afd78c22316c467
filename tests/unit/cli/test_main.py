import sys
from collections.abc import Callable

import pytest

from gputide import __version__, cli
from gputide.cli.commands import COMMANDS
from gputide.errors import GputideError, InputError, QueryError, SettingError


class Scripted:
    """A parser that raises what it is told to."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self, _arguments: list[str], **_options: bool) -> None:
        raise self._error


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], int]:
    """Return how a command ends that raises this."""
    import gputide.cli.app

    def run(error: BaseException) -> int:
        monkeypatch.setattr(gputide.cli.app, "new_app", lambda: Scripted(error))
        return cli.run(["anything"])

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingError("quantile", "0 is no quantile"), 2),
        (InputError("load.csv:3", "value 'x' is no number"), 2),
        (QueryError("http://p:9090", "refused"), 2),
        (GputideError("the world is wrong"), 1),
    ],
)
def test_our_errors_are_one_line_and_their_exit_code(
    ending: Callable[[BaseException], int],
    error: GputideError,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ending(error) == code

    shown = capsys.readouterr()
    assert shown.err == f"gputide: {error}\n"
    assert shown.out == ""


def test_an_error_of_many_lines_and_escapes_is_one_line_that_steers_no_terminal(
    ending: Callable[[BaseException], int], capsys: pytest.CaptureFixture[str]
) -> None:
    ending(InputError("a\nb", "c\r\n\x1b[2Jd\x9b"))

    error = capsys.readouterr().err
    assert error == "gputide: a b: c \N{REPLACEMENT CHARACTER}[2Jd\N{REPLACEMENT CHARACTER}\n"


def test_an_interrupt_ends_as_shells_expect_without_a_word(
    ending: Callable[[BaseException], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == ""


def test_a_bug_keeps_its_traceback(ending: Callable[[BaseException], int]) -> None:
    with pytest.raises(ZeroDivisionError):
        ending(ZeroDivisionError())


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_is_the_overview(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == 0
    assert f"Commands:\n  {min(COMMANDS)} " in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"gputide {__version__}\n"


def test_main_ends_the_process_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["gputide", "--version"])

    with pytest.raises(SystemExit) as ended:
        cli.main()

    assert ended.value.code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nope", 'Unknown command "nope"'),
        ("backtest --nope", "Unknown option: --nope"),
        ("backtest --quantle 9", "Unknown option: --quantle. Did you mean --quantile?"),
        ("backtest --quantile", "--quantile requires an argument"),
        ("backtest --quantile high", 'unable to convert "high" into float'),
        ("backtest --generated again", "unexpected argument: again"),
        ("backtest --policies hpa nope", 'Invalid value "nope" for --policies'),
        ("backtest --metric nope", 'Invalid value "nope" for --metric'),
        ("backtest --language fr", "--language"),
        ("backtest --csv a.csv --json .", "is a directory"),
        ("backtest --csv a.csv --html x --json x", "name the same file"),
        ("backtest --csv a.csv --html no/x.html", "no such folder"),
        ("backtest --csv a.csv --mean-pods 3 --capacity-per-pod 1", "cannot go together"),
        ("backtest --csv a.csv --capacity-per-pod 0", "capacity-per-pod: must be above 0"),
        ("backtest --csv a.csv --capacity-per-pod nan", "capacity-per-pod: must be above 0"),
        ("backtest --csv a.csv --start-delay -1", "start-delay-seconds: must be 0 to 86400"),
        ("backtest --csv a.csv --min-replicas 9 --max-replicas 3", "max-replicas: must be"),
        ("backtest --csv a.csv --target 0", "target-ratio: must be above 0"),
        ("backtest --csv a.csv --harm-budget 1", "harm-budget-ratio: must be"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments.split()) == 2

    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("gputide: ")
    assert message in shown.err
    assert shown.err.count("\n") == 1
