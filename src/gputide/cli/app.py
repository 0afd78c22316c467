"""The commands behind one parser: the command line first, then environment, then gputide.toml."""

import tomllib
from pathlib import Path
from typing import Any

from cyclopts import App, CycloptsError, Parameter
from cyclopts.config import Env, Toml

from gputide.cli.commands import COMMANDS, SUMMARY
from gputide.cli.group import epilogue


class SettingsFile(Toml):
    """gputide.toml, with errors that name it; a table for no command is a mistake, not silence."""

    def _load_config(self, path: Path) -> dict[str, Any]:
        """Return the file's tables; raise CycloptsError, which the parser passes on as it is."""
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CycloptsError(msg=f"{path}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CycloptsError(msg=f"{path}: {error}") from error
        for name in tables:
            if name not in COMMANDS:
                known = ", ".join(f"[{command}]" for command in COMMANDS)
                raise CycloptsError(msg=f"{path}: [{name}] is no command; there are {known}")
        return tables


def new_app() -> App:
    """Return the parser; a command's module loads when its name is met."""
    app = App(
        name="gputide",
        help=SUMMARY,
        config=[Env("GPUTIDE_", show=False), SettingsFile("gputide.toml")],
        default_parameter=Parameter(negative=()),
        help_format="plaintext",
        version_flags=(),
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for name, command in COMMANDS.items():
        if command.is_group:  # says of itself what it is, once it is loaded
            app.command(command.target, name=name)
            continue
        app.command(command.target, name=name, help=command.help, help_epilogue=epilogue(name))
    return app
