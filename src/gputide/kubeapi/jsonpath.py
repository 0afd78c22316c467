r"""The part of Kubernetes' JSONPath that printer columns and scale paths use.

`.a.b`, `['a']`, `[0]`, `[-1]`, `[*]`, `..` not, `[?(@.type=="Ready")]` with ==, != and a path
alone (is there), `\\.` for a dot within a name.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from gputide.errors import GputideError

MAX_STEPS = 64
MAX_CHARACTERS = 1024
Step = Callable[[Any], Iterator[Any]]

_TOKEN = re.compile(
    r"""
    \.(?P<field>(?:\\.|[^.\[\]\\'"\s])+)
  | \[(?P<index>-?\d+)\]
  | (?P<all>\[\*\])
  | \[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]
  | \[\?\(@(?P<path>(?:\.|\[)[^=!<>]*?)\s*(?:(?P<is>==|!=)\s*(?P<value>[^)]*?)\s*)?\)\]
    """,
    re.VERBOSE,
)


class JsonPathError(GputideError):
    """A path cannot be read: `path`, and `problem`."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"JSONPath {self.path!r}: {self.problem}"


def compiled(path: str) -> Callable[[Any], Any]:
    """Return a function that finds the first value at the path, or None.

    Raise JsonPathError for a path that is none, or beyond the part that is known here.

    >>> first = compiled('.status.conditions[?(@.type=="Ready")].status')
    >>> first({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    'True'
    """
    steps = _steps(path)

    def first(obj: Any) -> Any:  # noqa: ANN401 any JSON value
        return next(_found(obj, steps), None)

    return first


def _steps(path: str) -> tuple[Step, ...]:
    if len(path) > MAX_CHARACTERS:
        raise JsonPathError(path[:40], f"is longer than {MAX_CHARACTERS} characters")
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    text = text.removeprefix("$")
    if text == ".":
        return ()
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(steps) == MAX_STEPS:
            raise JsonPathError(path, f"cannot be read at {text[position : position + 20]!r}")
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    part = match.groupdict()
    if part["index"] is not None:
        return _index(int(part["index"]))
    if part["path"] is not None:
        return _filter(part["path"], part["is"], part["value"])
    if part["all"] is not None or part["field"] == "*":
        return _all
    name = part["quoted"] if part["field"] is None else re.sub(r"\\(.)", r"\1", part["field"])
    return _field(name)


def _found(value: Any, steps: tuple[Step, ...]) -> Iterator[Any]:  # noqa: ANN401 any JSON value
    if not steps:
        yield value
        return
    for one in steps[0](value):
        yield from _found(one, steps[1:])


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:  # noqa: ANN401 any JSON value
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:  # noqa: ANN401 any JSON value
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _all(value: Any) -> Iterator[Any]:  # noqa: ANN401 any JSON value
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _filter(path: str, comparison: str | None, literal: str | None) -> Step:
    steps = _steps(path)
    wanted = _literal(literal or "")

    def is_wanted(item: Any) -> bool:  # noqa: ANN401 any JSON value
        found = list(_found(item, steps))
        if comparison is None:
            return bool(found)
        return bool(found) and (found[0] == wanted) == (comparison == "==")

    def step(value: Any) -> Iterator[Any]:  # noqa: ANN401 any JSON value
        if isinstance(value, list):
            yield from (item for item in value if is_wanted(item))

    return step


def _literal(text: str) -> str | float | bool:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text.strip("'\"")
