"""Characters of Go's regular expressions: escapes and bracketed classes, rewritten for Python."""

import re
from collections.abc import Mapping

CLASS_ESCAPES: Mapping[str, str] = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t\n\f\r ",
    "D": "",
    "W": "",
    "S": "",
}
"""What \\d, \\w and \\s hold, ASCII as in Go; the large ones hold everything else."""

_POSIX: Mapping[str, str] = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS: Mapping[str, str] = {
    "a": "\a",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_HEX = re.compile(r"\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")
_OCTAL = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_POSIX_NAME = re.compile(r"\[:(\^?)([a-z]+):\]")


class CharacterError(Exception):
    """What is wrong, in words."""


def escape(text: str, at: int) -> tuple[str, int]:
    r"""Return the character that a backslash at a place stands for, and where it ends.

    >>> escape(r"\.x", 0), escape(r"\x41", 0), escape(r"\x{2603}", 0)
    (('.', 2), ('A', 4), ('☃', 8))
    """
    numbered = _HEX.match(text, at) or _OCTAL.match(text, at)
    if numbered is not None:
        is_hex = numbered.re is _HEX
        code = int(numbered[1] or numbered[2], 16) if is_hex else int(numbered[1], 8)
        if code > 0x10FFFF:
            raise CharacterError(f"{numbered[0]} is no character")
        return chr(code), numbered.end()
    following = text[at + 1 : at + 2]
    if following in _CONTROLS:
        return _CONTROLS[following], at + 2
    if not following or following.isalnum() or not following.isascii():
        hint = ": spell the characters out" if following in {"p", "P"} else ""
        is_backward = following.isdigit()
        why = "refers back, which Go does not know" if is_backward else "is not understood"
        raise CharacterError(f"\\{following} {why}{hint}")
    return following, at + 2


def bracket(text: str, at: int) -> tuple[str, int]:
    r"""Return the class that begins at a place, for Python, and where it ends.

    >>> bracket("[^]a-c[:digit:]-]x", 0)
    ('[^\\]a-c0-9\\-]', 17)
    """
    opening = "[^" if text.startswith("[^", at) else "["
    at += len(opening)
    parts: list[str] = []
    while not parts or not text.startswith("]", at):
        if at >= len(text):
            raise CharacterError("a [ is not closed")
        part, at = _part(text, at)
        parts.append(part)
    return f"{opening}{''.join(parts)}]", at + 1


def _part(text: str, at: int) -> tuple[str, int]:
    """Return a range, a named class or one character."""
    posix = _POSIX_NAME.match(text, at)
    if posix is not None:
        if posix[1] or posix[2] not in _POSIX:
            raise CharacterError(f"{posix[0]} is not understood")
        return _POSIX[posix[2]], posix.end()
    following = text[at + 1 : at + 2] if text[at] == "\\" else ""
    if following and following in CLASS_ESCAPES:
        if following.isupper():
            raise CharacterError(f"\\{following} within [] is not understood: use [^...]")
        return CLASS_ESCAPES[following], at + 2
    low, at = _character(text, at)
    if not text.startswith("-", at) or text.startswith("-]", at) or at + 1 >= len(text):
        return _inside(low), at
    high, end = _character(text, at + 1)
    if high < low:
        raise CharacterError(f"{low}-{high} is no range")
    return f"{_inside(low)}-{_inside(high)}", end


def _character(text: str, at: int) -> tuple[str, int]:
    if at >= len(text):
        raise CharacterError("a [ is not closed")
    return escape(text, at) if text[at] == "\\" else (text[at], at + 1)


def _inside(character: str) -> str:
    """Return a character as it may stand within brackets."""
    return f"\\{character}" if character in r"\]^-[&|~" else character
