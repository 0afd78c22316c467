"""The command line: one module a command, imported when it is asked for."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from gputide import __version__
from gputide.cli.commands import overview
from gputide.errors import GputideError

if TYPE_CHECKING:
    from cyclopts import CycloptsError

HELP: tuple[list[str], ...] = ([], ["--help"], ["-h"], ["help"])
USAGE_EXIT_CODE = 2
INTERRUPTED_EXIT_CODE = 130
"""128 + SIGINT, as shells expect."""

BROKEN_PIPE_EXIT_CODE = 141
"""128 + SIGPIPE: the reader had enough (`| head`), which is no error to talk about."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command that the arguments name and end the process with its exit code.

    Every error of ours is one line on stderr; what nobody foresaw keeps its traceback.
    """
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; return the exit code."""
    try:
        return _run(list(arguments))
    except GputideError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE_EXIT_CODE


def _run(arguments: list[str]) -> int:
    if arguments in HELP:  # answered from the list alone: the parser takes longer to load
        print(overview(), end="", flush=True)  # noqa: T201 the command line's own voice
        return 0
    if arguments == ["--version"]:
        print(f"gputide {__version__}", flush=True)  # noqa: T201 likewise
        return 0
    from cyclopts import CycloptsError

    from gputide.cli.app import new_app
    from gputide.cli.arguments import spell_out_dashes

    try:
        new_app()(spell_out_dashes(arguments), print_error=False, exit_on_error=False)
    except CycloptsError as error:
        return _fail(_words(error), USAGE_EXIT_CODE)
    sys.stdout.flush()
    return 0


def _words(error: "CycloptsError") -> str:
    from cyclopts import UnusedCliTokensError

    if isinstance(error, UnusedCliTokensError):
        return f"unexpected argument: {' '.join(error.unused_tokens or ())}"
    return str(error)


def _fail(message: str, exit_code: int) -> int:
    """Say it in one line that cannot steer the terminal, whatever file names or labels hold."""
    line = " ".join(message.split())
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    print(f"gputide: {shown}", file=sys.stderr)  # noqa: T201 the command line's own voice
    return exit_code


def _silence_stdout() -> None:
    """Keep the interpreter from failing once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
