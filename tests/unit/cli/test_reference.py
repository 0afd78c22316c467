"""The command line's reference page, against the commands themselves.

`python tests/unit/cli/test_reference.py` writes the page anew.
"""

import re
from pathlib import Path

from gputide.cli.app import new_app
from gputide.cli.commands import COMMANDS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
MARKER = "test_reference.py`. -->\n"


def generated() -> str:
    """Return the commands with their options, from the parser's own description of them."""
    text = new_app().generate_docs(output_format="markdown", recursive=True)
    text = text[text.index(f"## gputide {min(COMMANDS)}") :]
    text = re.sub(r"\n +", " ", text)  # an option is one line, however its docstring was wrapped
    text = text.replace(" *[default: False]*", "").replace(' *[default: ""]*', "")
    return "\n" + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def test_the_page_lists_every_option_as_help_does() -> None:
    _, _, written = PAGE.read_text(encoding="utf-8").partition(MARKER)

    assert written == generated(), "write it anew, see above"


def test_every_command_has_its_chapter() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert [f"## gputide {name}\n" in text for name in COMMANDS] == [True] * len(COMMANDS)


if __name__ == "__main__":
    head, marker, _ = PAGE.read_text(encoding="utf-8").partition(MARKER)
    PAGE.write_text(head + marker + generated(), encoding="utf-8")
