import importlib

import pytest

from gputide.cli.commands import COMMANDS, overview


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_where_the_list_says_and_says_the_same_of_itself(name: str) -> None:
    module, _, function = COMMANDS[name].target.partition(":")

    found = getattr(importlib.import_module(module), function)

    if COMMANDS[name].is_group:
        assert (found.name[0], found.help) == (name, COMMANDS[name].help)
    else:
        assert found.__name__ == name
        assert (found.__doc__ or "").splitlines()[0] == COMMANDS[name].help


@pytest.mark.parametrize("columns", [40, 80])
def test_the_overview_lists_every_command_within_the_columns(columns: int) -> None:
    text = overview(columns=columns)

    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert max(map(len, text.splitlines())) <= columns
