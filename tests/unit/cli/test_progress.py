import io

from rich.console import Console

from gputide.cli.progress import watching


def watched(*names: str, is_terminal: bool) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=is_terminal, color_system=None)
    with watching(console) as watcher:
        for number, name in enumerate(names, 1):
            with watcher.trace(name, number=number, count=len(names)) as on_progress:
                on_progress(0.5)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_log_gets_a_line_a_trace_and_nothing_in_between() -> None:
    assert watched("a", "b", is_terminal=False) == "replaying a (1 of 2)\nreplaying b (2 of 2)\n"


def test_a_terminal_gets_a_bar_that_goes_away() -> None:
    text = watched("tide", is_terminal=True)

    assert "1 of 1: tide" in text
    assert "%" in text
    assert text.endswith("\x1b[2K"), "the last line is erased"


def test_a_hostile_name_steers_no_terminal() -> None:
    text = watched("\x1b]0;pwned\x07[red]", is_terminal=False)

    assert (
        text
        == "replaying \N{REPLACEMENT CHARACTER}]0;pwned\N{REPLACEMENT CHARACTER}[red] (1 of 1)\n"
    )
