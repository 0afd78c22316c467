"""Kubernetes' label selectors as PromQL matchers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gputide.kubeapi.errors import bad_request
from gputide.prometheus.model import quote

_KEY = r"(?P<key>[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9_])?)"
_REQUIREMENT = re.compile(
    rf"""\s*(?:
        (?P<absent>!)\s*(?P<absent_key>[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9_])?)
      | {_KEY}\s*(?:
            (?P<is>==|=|!=)\s*(?P<value>[^\s,()<>!=]*)
          | \s(?P<set>in|notin)\s*\((?P<values>[^()]*)\)
        )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)
_SPECIAL = re.compile(r"[.+*?()|\[\]{}^$\\]")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Matcher:
    """One label matcher of PromQL."""

    label: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.label}{self.operator}{quote(self.value)}"


def among(label: str, values: Sequence[str], *, is_wanted: bool = True) -> Matcher:
    r"""Return a matcher for any of some values: `=` for one, `=~` with all escaped for several.

    >>> print(among("pod", ["a.b", "c"]))
    pod=~"a\\.b|c"
    """
    if len(values) == 1:
        return Matcher(label, "=" if is_wanted else "!=", values[0])
    joined = "|".join(escaped(value) for value in values)
    return Matcher(label, "=~" if is_wanted else "!~", joined)


def escaped(text: str) -> str:
    """Return text that a regular expression of RE2 takes as it is."""
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", text)


def matchers(selector: str) -> tuple[Matcher, ...]:
    """Return a selector's requirements as matchers; raise StatusError (400) for one that is none.

    >>> [str(one) for one in matchers("a=b,c in (x,y),!d,e")]
    ['a="b"', 'c=~"x|y"', 'd=""', 'e!=""']
    """
    return tuple(_matchers(selector))


def _matchers(selector: str) -> Iterator[Matcher]:
    position = 0
    while selector[position:].strip():
        match = _REQUIREMENT.match(selector, position)
        if match is None:
            rest = selector[position : position + 40]
            raise bad_request(f"unable to parse label selector {selector[:200]!r}: found {rest!r}")
        label = match["absent_key"] or match["key"]
        if not _LABEL.fullmatch(label):
            raise bad_request(f"{label!r} is no label of Prometheus")
        yield _matcher(match, label)
        position = match.end()


def _matcher(match: "re.Match[str]", label: str) -> Matcher:
    if match["absent"]:
        return Matcher(label, "=", "")
    if match["is"]:
        return Matcher(label, "!=" if match["is"] == "!=" else "=", match["value"])
    if match["set"]:
        values = sorted({one.strip() for one in match["values"].split(",")})
        return among(label, values, is_wanted=match["set"] == "in")
    return Matcher(label, "!=", "")
