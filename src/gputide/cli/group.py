"""A command that has commands of its own, with the manners of all the others."""

from cyclopts import App, Parameter

from gputide.cli.commands import COMMANDS

EPILOGUE = (
    "Every option may also stand in the environment as GPUTIDE_{variable}_<OPTION>, or in "
    "gputide.toml under [{command}]. The command line wins, then the environment."
)


def epilogue(*words: str) -> str:
    """Return what stands below the help of a command: where else its options may be set."""
    return EPILOGUE.format(variable="_".join(words).upper(), command=".".join(words))


def new_group(name: str) -> App:
    """Return the App of a command of the list, to which its own commands are added."""
    return App(
        name=name,
        help=COMMANDS[name].help,
        help_epilogue=epilogue(name),
        default_parameter=Parameter(negative=()),
        help_format="plaintext",
        version_flags=(),
        result_action="return_value",
    )
