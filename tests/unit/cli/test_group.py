import pytest

from gputide.cli.commands import COMMANDS
from gputide.cli.group import EPILOGUE, new_group

GROUPS = [name for name, command in COMMANDS.items() if command.is_group]


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_says_of_itself_what_the_list_says(name: str) -> None:
    app = new_group(name)

    assert (app.name[0], app.help) == (name, COMMANDS[name].help)
    assert app.help_epilogue == EPILOGUE.format(variable=name.upper(), command=name)
    assert f"GPUTIDE_{name.upper()}_" in app.help_epilogue


def test_a_command_of_a_group_returns_what_it_makes() -> None:
    app = new_group("agent")

    @app.command
    def double(number: int, /) -> int:
        return 2 * number

    assert app(["double", "21"], print_error=False, exit_on_error=False) == 42
