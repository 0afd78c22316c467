"""The installed command as a process: how fast it starts, and how it ends."""

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("gputide")
HEAVY = {"numpy", "rich", "cyclopts", "httpx2", "msgspec", "asyncio"}


def test_help_loads_nothing_that_takes_time() -> None:
    code = "import sys; from gputide.cli import run; run(['--help']); print(*sys.modules)"

    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert HEAVY.isdisjoint(out.splitlines()[-1].split())


def test_the_command_is_installed_and_answers() -> None:
    ended = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=True)

    assert ended.stdout.startswith("Usage: gputide COMMAND")
    assert ended.stderr == ""


def test_a_wrong_option_ends_with_code_2_and_one_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gputide", "backtest", "--nope"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stderr == "gputide: Unknown option: --nope.\n"


def test_a_reader_who_had_enough_is_no_error() -> None:
    # The pipe is closed before anything is written into it: what `| true` comes to.
    code = (
        "import os, sys; read, write = os.pipe(); os.dup2(write, 1); os.close(read); "
        "from gputide.cli import run; sys.exit(run(['backtest', '--help']))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=False
    )

    assert ended.stderr == ""
    assert ended.returncode in {1, 141}
