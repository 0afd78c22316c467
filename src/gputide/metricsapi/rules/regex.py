"""Go's regular expressions (RE2), rewritten for Python's `re`: the same answer, or a clear refusal.

RE2 takes time in proportion to its input; Python's engine goes back and tries again. A pattern
that could make it try without end is refused, and so is what Go does not know either.
"""

import re
from dataclasses import dataclass, field
from math import factorial

from gputide.errors import InputError
from gputide.metricsapi.rules.classes import CLASS_ESCAPES, CharacterError, bracket, escape

MAX_PATTERN_LENGTH = 1000
MAX_REPEAT = 1000
"""Go's own limit on {n,m}."""

MAX_NAME_LENGTH = 128
"""Of the texts that patterns are tried on."""

MAX_TRIES = 1.2e7
"""Ways to match a text of that length, as an estimate; they take half a second at most."""

_ANCHORS = {"z": r"\Z", "B": r"(?:\B|\A\Z)"}
"""Python finds no \\B in an empty text; Go does."""

_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_COUNTED = re.compile(r"\{(\d+)(,?)(\d*)\}")


class _PatternError(Exception):
    """What is wrong, in words."""


@dataclass(slots=True)
class _Group:
    """What is open at a place of the pattern: one pair of parentheses, or the whole."""

    flags: frozenset[str]
    scopes: list[str] = field(default_factory=list)
    """Beginnings of groups that we opened for `(?i)`, which Python knows only at the start."""

    first: list[str] = field(default_factory=list)
    """The first character of each alternative; "" where it is more than a plain character."""

    is_fresh: bool = True
    """Whether the alternative has nothing yet."""

    has_choices: bool = False
    """Whether anything within, however deep, could take the same text in two ways."""

    @property
    def is_decided(self) -> bool:
        """Whether it may be repeated: one way at most to take any text."""
        is_told_apart = all(self.first) and len(set(self.first)) == len(self.first)
        return (len(self.first) == 1 or is_told_apart) and not self.has_choices


def compile_go(text: str, place: str) -> re.Pattern[str]:
    r"""Return a pattern of Python that finds what Go finds; raise InputError for one it cannot.

    >>> compile_go(r"^(?P<base>[[:alpha:]]+)_\Qa.b\E\z", "here").pattern
    '^(?P<base>[A-Za-z]+)_a\\.b\\Z'
    """
    try:
        return re.compile(_Rewriting(text).run(), re.ASCII)
    except (_PatternError, CharacterError, re.error, RecursionError, OverflowError) as error:
        problem = f"{text[:200]!r} is no regular expression that can be used: {error}"
        raise InputError(place, problem) from error


class _Rewriting:
    """One pass over a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._out: list[str] = []
        self._groups = [_Group(frozenset())]
        self._last: _Group | str | None = None
        """What a repetition would repeat: a group, a character; None where there is nothing."""

        self._choices = 1.0
        is_anchored = text.startswith(("^", r"\A")) and "|" not in text
        self._unbounded = 0 if is_anchored else 1  # it may begin anywhere, as after .*

    def run(self) -> str:
        """Return the pattern for Python."""
        if len(self._text) > MAX_PATTERN_LENGTH:
            raise _PatternError(f"longer than {MAX_PATTERN_LENGTH} characters")
        while self._at < len(self._text):
            self._step(self._text[self._at])
        if len(self._groups) > 1:
            raise _PatternError("a parenthesis is not closed")
        return "".join(self._out) + self._closing()

    def _step(self, here: str) -> None:
        steps = {
            "\\": self._escape,
            "[": self._bracket,
            "(": self._open,
            ")": self._close,
            "|": self._alternative,
            "^": self._start,
            "$": self._end,
            ".": self._dot,
            "*": self._repeat,
            "+": self._repeat,
            "?": self._repeat,
        }
        if here == "{" and _COUNTED.match(self._text, self._at):
            self._repeat()
        elif here in steps:
            steps[here]()
        else:
            self._at += 1
            self._atom(re.escape(here), here)

    def _atom(self, made: str, first: str = "") -> None:
        """Take one character or class; `first` is the character where it is a plain one."""
        self._out.append(made)
        self._begin(first)
        self._last = "character"

    def _begin(self, first: str) -> None:
        group = self._groups[-1]
        if group.is_fresh:
            group.first.append(first.casefold())
            group.is_fresh = False

    def _anchor(self, made: str) -> None:
        self._out.append(made)
        self._last = None

    def _start(self) -> None:
        self._at += 1
        self._anchor("^")

    def _end(self) -> None:
        self._at += 1
        self._anchor("$" if "m" in self._groups[-1].flags else r"\Z")

    def _dot(self) -> None:
        self._at += 1
        self._atom(".")

    def _bracket(self) -> None:
        made, self._at = bracket(self._text, self._at)
        self._atom(made)

    def _escape(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "Q":
            end = self._text.find(r"\E", self._at)
            end = len(self._text) if end < 0 else end
            quoted, self._at = self._text[self._at + 2 : end], end + 2
            for one in quoted:
                self._atom(re.escape(one), one)
        elif following in {"A", "b", "B", "z"}:
            self._at += 2
            self._anchor(_ANCHORS.get(following, f"\\{following}"))
        elif following and following in CLASS_ESCAPES:
            self._at += 2
            inner = CLASS_ESCAPES[following.lower()]
            self._atom(f"[^{inner}]" if following.isupper() else f"[{inner}]")
        else:
            character, self._at = escape(self._text, self._at)
            self._atom(re.escape(character), character)

    def _open(self) -> None:
        flags = self._groups[-1].flags
        named = _NAMED.match(self._text, self._at)
        switched = _FLAGS.match(self._text, self._at)
        if named is not None:
            self._out.append(f"(?P<{named[1]}>")
            self._at = named.end()
        elif switched is not None:
            self._at = switched.end()
            flags = _switched(flags, switched[1], switched[2] or "")
            if switched[3] == ")":
                self._scope(flags, _scoped(switched))
                return
            self._out.append(_scoped(switched))
        elif self._text.startswith("(?", self._at):
            raise _PatternError(f"{self._text[self._at : self._at + 4]} is nothing that Go knows")
        else:
            self._out.append("(")
            self._at += 1
        self._begin("")
        self._groups.append(_Group(flags))
        self._last = None

    def _scope(self, flags: frozenset[str], opening: str) -> None:
        """Open a group of our own, which ends where the one around it does."""
        self._groups[-1].flags = flags
        self._groups[-1].scopes.append(opening)
        self._out.append(opening)
        self._last = None

    def _closing(self) -> str:
        return ")" * len(self._groups[-1].scopes)

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise _PatternError("a parenthesis closes nothing")
        self._out.append(self._closing() + ")")
        closed = self._groups.pop()
        if closed.is_fresh:
            closed.first.append("")
        self._groups[-1].has_choices |= not closed.is_decided
        self._at += 1
        self._last = closed

    def _alternative(self) -> None:
        group = self._groups[-1]
        self._out.append(f"{self._closing()}|{''.join(group.scopes)}")
        if group.is_fresh:
            group.first.append("")
        group.is_fresh = True
        self._at += 1
        self._last = None

    def _repeat(self) -> None:
        counted = _COUNTED.match(self._text, self._at)
        text = counted[0] if counted else self._text[self._at]
        least, most = _bounds(text)
        if self._last is None:
            raise _PatternError(f"{text} repeats nothing, or what is repeated already")
        if (most is None or most > 1) and isinstance(self._last, _Group):
            self._check_group(self._last, text)
        span = MAX_NAME_LENGTH if most is None else most - least
        if span > MAX_NAME_LENGTH / 4:
            self._unbounded += 1
        else:
            self._choices *= span + 1
        if self._tries() > MAX_TRIES:
            raise _PatternError(
                "it could be tried in too many ways: take fewer of * + ?, or begin with ^"
            )
        self._at += len(text)
        lazy = self._text.startswith("?", self._at)
        self._at += lazy
        self._out.append(text + "?" * lazy)
        self._groups[-1].has_choices = True
        self._last = None

    def _tries(self) -> float:
        """Return in how many ways a text can be divided among what is repeated, at most."""
        spread: float = MAX_NAME_LENGTH**self._unbounded / factorial(self._unbounded)
        return spread * self._choices

    def _check_group(self, group: _Group, text: str) -> None:
        if not group.is_decided:
            raise _PatternError(
                f"the group before {text} at {self._at} repeats, or has alternatives that begin "
                "alike: it could be tried without end; write it without a repetition in the other"
            )


def _bounds(text: str) -> tuple[int, int | None]:
    """Return how often at least and at most; None: without end."""
    fixed: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if text in fixed:
        return fixed[text]
    match = _COUNTED.fullmatch(text)
    assert match is not None  # noqa: S101 the caller has matched it
    least = int(match[1])
    most = int(match[3]) if match[3] else None if match[2] else least
    if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
        raise _PatternError(f"{text} is no count: at most {MAX_REPEAT}, the smaller one first")
    return least, most


def _switched(flags: frozenset[str], on: str, off: str) -> frozenset[str]:
    unknown = set(on + off) - set("ims")
    if unknown:
        raise _PatternError(f"the flag {min(unknown)} is not understood: i, m and s are")
    return (flags | set(on)) - set(off)


def _scoped(match: "re.Match[str]") -> str:
    off = f"-{match[2]}" if match[2] else ""
    return f"(?{match[1]}{off}:"
