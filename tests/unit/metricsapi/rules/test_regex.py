"""Go's regular expressions in Python. Answers are those of Go 1.26's package regexp."""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import InputError
from gputide.metricsapi.rules.regex import MAX_PATTERN_LENGTH, compile_go


@pytest.mark.parametrize(
    ("pattern", "text", "groups"),
    [
        ("^(.*)_total$", "http_total", ("http",)),
        ("^(?P<base>.*)_total$", "http_total", ("http",)),
        ("^(?<base>.*)_total$", "http_total", ("http",)),
        (r"^\Qa.b\E$", "a.b", ()),
        (r"^\Qa.b\E$", "axb", None),
        (r"^a\z", "a", ()),
        ("a$", "a\n", None),
        ("(?m)a$", "a\nb", ()),
        ("a(?i)b|c", "C", ()),
        ("(?i:a)b", "AB", None),
        ("(?s).", "\n", ()),
        ("(?i)(?-i)a", "A", None),
        (r"\w", "é", None),
        ("[[:digit:]]+_(a|b)", "x12_b", ("b",)),
        ("x{,2}", "x{,2}", ()),
        ("x{", "x{", ()),
        (r"\B", "", ()),
        ("(?:cpu|memory)+_", "cpumemory_", ()),
        ("^(.*)_(.*)_(.*)_(.*)$", "a_b_c_d", ("a", "b", "c", "d")),
    ],
)
def test_it_finds_what_go_finds(
    pattern: str, text: str, groups: tuple[str | None, ...] | None
) -> None:
    found = compile_go(pattern, "here").search(text)

    assert (None if found is None else found.groups()) == groups


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?=a)", "nothing that Go knows"),
        ("(?<!a)b", "nothing that Go knows"),
        ("(?>a)", "nothing that Go knows"),
        (r"(a)\1", "refers back"),
        ("a*+", "repeats nothing, or what is repeated already"),
        ("a**", "repeated already"),
        ("*a", "repeats nothing"),
        ("a{1001}", "at most 1000"),
        ("a{3,2}", "the smaller one first"),
        (r"a\Z", "is not understood"),
        (r"\pL", "spell the characters out"),
        ("(?U)a", "the flag U is not understood"),
        ("(a", "not closed"),
        ("a)", "closes nothing"),
        ("[a", "not closed"),
        ("a" * (MAX_PATTERN_LENGTH + 1), "longer than"),
    ],
)
def test_what_go_or_we_do_not_know_is_refused_with_its_place(pattern: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        compile_go(pattern, "f: rules[0].name.matches")

    assert caught.value.place == "f: rules[0].name.matches"


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "((a+))+$",
        "(a|aa)+$",
        "((a|aa))+$",
        "(a?b?)*$",
        "(a|)+$",
        "([ab]|b)+$",
        "(?:(a|ab)c){20}",
        ".*.*.*.*x",
        "^.*.*.*.*.*x",
        "^.*|.*.*.*x",
        "a?" * 17,
        "^" + "a?" * 12 + "a*a*x",
        "a{0,30}a{0,30}a{0,30}a{0,30}x",
    ],
)
def test_a_pattern_that_could_be_tried_without_end_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="tried"):
        compile_go(pattern, "here")


def test_brackets_make_python_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_go("[[a&&b~~c||d-]", "here")


PIECES = st.sampled_from(
    ["a", "_", ".", "[a-z]", "[^_]", "[[:alpha:]]", r"\d", r"\.", "(a|b)", "(?:ab)", "^", "$"]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(PIECES, st.sampled_from(["", "", "*", "+", "?", "{2}"])), max_size=6))
def test_a_pattern_is_taken_or_refused_and_never_breaks(pieces: list[tuple[str, str]]) -> None:
    assert taken_or_refused("".join(piece + repeat for piece, repeat in pieces))


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=30))
def test_any_text_at_all_is_taken_or_refused_in_one_line(text: str) -> None:
    assert taken_or_refused(text)


def taken_or_refused(text: str) -> bool:
    try:
        return isinstance(compile_go(text, "here"), re.Pattern)
    except InputError as error:
        return error.place == "here" and "\n" not in str(error)
