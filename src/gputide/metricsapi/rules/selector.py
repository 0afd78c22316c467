"""Kubernetes' label selectors as PromQL matchers."""

import re
from collections.abc import Iterable, Iterator, Sequence
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
_PLAIN = re.compile(r"[A-Za-z0-9._:-]{0,253}")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Matcher:
    """One label matcher of PromQL."""

    label: str
    operator: str
    value: str
    values: tuple[str, ...] = ()
    """What was asked for by name: nothing where a label only has to be there, or not."""

    def __str__(self) -> str:
        return f"{self.label}{self.operator}{quote(self.value)}"


def among(label: str, values: Sequence[str], *, is_wanted: bool = True) -> Matcher:
    r"""Return a matcher for any of some values: `=` for one, `=~` with all escaped for several.

    >>> print(among("pod", ["a.b", "c"]))
    pod=~"a\\.b|c"
    """
    if len(values) == 1:
        return Matcher(label, "=" if is_wanted else "!=", values[0], (values[0],))
    joined = "|".join(escaped(value) for value in values)
    return Matcher(label, "=~" if is_wanted else "!~", joined, tuple(values))


def escaped(text: str) -> str:
    """Return text that a regular expression of RE2 takes as it is."""
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", text)


def values_by_label(wanted: Iterable[Matcher]) -> dict[str, str]:
    """Return label -> its values joined by |, for rules that put them into a query themselves.

    A rule may put them anywhere, within quotes or not. So they are held to what names and label
    values of Kubernetes consist of: anything else could end a string and begin a query of its own.
    Raises StatusError (400).

    >>> values_by_label(matchers("a=b,c in (x,y),!d"))
    {'a': 'b', 'c': 'x|y', 'd': ''}
    """
    found = {}
    for one in wanted:
        for value in one.values:
            if not _PLAIN.fullmatch(value):
                problem = f"{value[:100]!r} of {one.label}: this metric's rule takes letters, "
                raise bad_request(f"{problem}digits and . _ - : alone")
        found[one.label] = "|".join(one.values)
    return found


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
        return among(label, [match["value"]], is_wanted=match["is"] != "!=")
    if match["set"]:
        values = sorted({one.strip() for one in match["values"].split(",")})
        return among(label, values, is_wanted=match["set"] == "in")
    return Matcher(label, "!=", "")
