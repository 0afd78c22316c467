"""Escapes and classes of Go's regular expressions."""

import pytest

from gputide.metricsapi.rules.classes import CharacterError, bracket, escape


@pytest.mark.parametrize(
    ("text", "character"),
    [
        (r"\.", "."),
        (r"\_", "_"),
        (r"\n", "\n"),
        (r"\x41", "A"),
        (r"\x{2603}", "☃"),
        (r"\101", "A"),
        (r"\0", "\0"),
    ],
)
def test_an_escape_is_one_character(text: str, character: str) -> None:
    assert escape(text, 0) == (character, len(text))


@pytest.mark.parametrize("text", ["\\", r"\1", r"\8", r"\q", r"\pL", r"\C", r"\é", r"\x{110000}"])
def test_what_go_refuses_is_refused(text: str) -> None:
    with pytest.raises(CharacterError):
        escape(text, 0)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("[ab]", "[ab]"),
        ("[^]a]", r"[^\]a]"),
        ("[[:alpha:]_]", "[A-Za-z_]"),
        ("[a-c-]", r"[a-c\-]"),
        (r"[\w.]", "[0-9A-Za-z_.]"),
        ("[[]", r"[\[]"),
        ("[&&||~~]", r"[\&\&\|\|\~\~]"),
    ],
)
def test_a_class_is_written_so_that_python_reads_the_same(text: str, made: str) -> None:
    assert bracket(text, 0) == (made, len(text))


@pytest.mark.parametrize("text", ["[", "[]", "[a", "[b-a]", "[[:^alpha:]]", "[[:nope:]]", r"[\D]"])
def test_a_class_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(CharacterError):
        bracket(text, 0)
