"""The commands behind one parser: the command line first, then environment, then gputide.toml."""

from cyclopts import App, Parameter
from cyclopts.config import Env, Toml

from gputide.cli.commands import COMMANDS, SUMMARY

EPILOGUE = (
    "Every option may also stand in the environment as GPUTIDE_{variable}_<OPTION>, or in "
    "gputide.toml under [{command}]. The command line wins, then the environment."
)


def new_app() -> App:
    """Return the parser; a command's module loads when its name is met."""
    app = App(
        name="gputide",
        help=SUMMARY,
        config=[Env("GPUTIDE_", show=False), Toml("gputide.toml")],
        default_parameter=Parameter(negative=()),
        help_format="plaintext",
        version_flags=(),
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for name, command in COMMANDS.items():
        epilogue = EPILOGUE.format(variable=name.upper(), command=name)
        app.command(command.target, name=name, help=command.help, help_epilogue=epilogue)
    return app
