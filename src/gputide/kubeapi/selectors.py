"""Label and field selectors, compiled to functions of an object."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import JsonObject, Selection

Matches = Callable[[JsonObject], bool]
LabelTest = Callable[[Mapping[str, str]], bool]

MAX_SELECTOR_CHARACTERS = 64 * 1024
_KEY = r"(?P<key>[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?)"
_VALUE = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(
    rf"""\s*(?:
        (?P<absent>!)\s*{_KEY.replace("?P<key>", "?P<absent_key>")}
      | {_KEY}\s*(?:
            (?P<is>==|=|!=)\s*(?P<value>{_VALUE})?
          | (?P<than>[<>])\s*(?P<bound>-?\d+)
          | \s(?P<set>in|notin)\s*\((?P<values>[^()]*)\)
        )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)
_TERM = re.compile(r"((?:\\.|[^,\\])+)(?:,|$)")
_FIELD = re.compile(r"(?P<path>[^=!]+)(?P<is>==|!=|=)(?P<value>.*)", re.DOTALL)


def select(selection: Selection) -> Matches:
    """Return what an object must satisfy; raise StatusError (400) for a selector that is none.

    The namespace of the selection is not looked at: the storage does that.
    """
    labels = label_test(selection.label_selector)
    fields = field_test(selection.field_selector)

    def matches(obj: JsonObject) -> bool:
        return fields(obj) and labels((obj.get("metadata") or {}).get("labels") or {})

    return matches


def label_test(selector: str) -> LabelTest:
    """Return what labels must satisfy.

    >>> label_test("app in (a, b),!canary")({"app": "a"})
    True
    """
    tests = list(_label_tests(_bounded(selector)))
    return lambda labels: all(test(labels) for test in tests)


def field_test(selector: str) -> Matches:
    r"""Return what an object must satisfy; any dotted path is a field, absent is "".

    `\,`, `\=` and `\\` stand for themselves.
    """
    tests = [_field_test(match[1]) for match in _TERM.finditer(_bounded(selector))]
    return lambda obj: all(test(obj) for test in tests)


def required_name(field_selector: str) -> str:
    """Return the name that a field selector asks for, or "": an authorizer wants to know.

    >>> required_name("metadata.name=a,status.phase=Running")
    'a'
    """
    for term in _TERM.finditer(field_selector):
        match = _FIELD.fullmatch(term[1])
        if match and match["path"].strip() == "metadata.name" and match["is"] != "!=":
            return _unescaped(match["value"])
    return ""


def _label_tests(selector: str) -> Iterator[LabelTest]:
    position = 0
    while selector[position:].strip():
        match = _REQUIREMENT.match(selector, position)
        if match is None:
            raise _unreadable("label", selector, position)
        yield _label_test(match)
        position = match.end()


def _label_test(match: re.Match[str]) -> LabelTest:
    absent, key = match["absent_key"], match["key"]
    if absent is not None:
        return lambda labels: absent not in labels
    if match["than"]:
        return _than_test(key, int(match["bound"]), is_greater=match["than"] == ">")
    if match["is"]:
        return _among_test(key, {match["value"] or ""}, is_wanted=match["is"] != "!=")
    if match["set"]:
        values = {value.strip() for value in match["values"].split(",")}
        return _among_test(key, values, is_wanted=match["set"] == "in")
    return lambda labels: key in labels


def _among_test(key: str, values: Collection[str], *, is_wanted: bool) -> LabelTest:
    """Return a test that a label that is absent passes where the values are not wanted."""
    return lambda labels: (labels.get(key) in values) is is_wanted


def _than_test(key: str, bound: int, *, is_greater: bool) -> LabelTest:
    def test(labels: Mapping[str, str]) -> bool:
        try:
            value = int(labels.get(key, ""))
        except ValueError:
            return False
        return value > bound if is_greater else value < bound

    return test


def _field_test(term: str) -> Matches:
    match = _FIELD.fullmatch(term.strip())
    if match is None:
        raise _unreadable("field", term, 0)
    path = tuple(match["path"].strip().split("."))
    value, is_wanted = _unescaped(match["value"]), match["is"] != "!="
    return lambda obj: (_text(obj, path) == value) is is_wanted


def _text(obj: Any, path: tuple[str, ...]) -> str:  # noqa: ANN401 any JSON value
    for name in path:
        obj = obj.get(name) if isinstance(obj, dict) else None
    if isinstance(obj, bool):
        return "true" if obj else "false"
    return "" if obj is None else str(obj)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _bounded(selector: str) -> str:
    if len(selector) > MAX_SELECTOR_CHARACTERS:
        raise bad_request(f"selector is longer than {MAX_SELECTOR_CHARACTERS} characters")
    return selector


def _unreadable(what: str, selector: str, position: int) -> StatusError:
    rest = selector[position : position + 40]
    return bad_request(f"unable to parse {what} selector {selector[:200]!r}: found {rest!r}")
