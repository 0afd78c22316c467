"""Cells of `kubectl get`, read from an object."""

from collections.abc import Callable, Iterable
from typing import Any

from gputide.kubeapi.jsonpath import compiled
from gputide.kubeapi.model import Column, JsonObject

NONE = "<none>"
UNKNOWN = "<unknown>"


def at(path: str, otherwise: Any = None) -> Callable[[JsonObject], Any]:  # noqa: ANN401 any cell
    """Return a reader of the value at a JSONPath; `otherwise` where there is none."""
    first = compiled(path)

    def read(obj: JsonObject) -> Any:  # noqa: ANN401 any cell
        value = first(obj)
        return otherwise if value in (None, "") else value

    return read


def text(
    name: str,
    read: Callable[[JsonObject], Any] | str,
    otherwise: str | None = None,
    **more: Any,  # noqa: ANN401 of Column
) -> Column:
    """Return a column of text; `read` is a JSONPath or a function."""
    reader = at(read, otherwise) if isinstance(read, str) else read
    return Column(name=name, read=reader, **more)


def wide(name: str, read: Callable[[JsonObject], Any] | str, otherwise: str = NONE) -> Column:
    """Return a column that `-o wide` alone shows."""
    return text(name, read, otherwise, priority=1)


def number(name: str, path: str) -> Column:
    """Return a column of a whole number, 0 where there is none."""
    return Column(name=name, read=at(path, 0), type="integer")


def joined(values: Iterable[Any]) -> str:
    """Return the values with commas, or `<none>`.

    >>> joined(["a", 1])
    'a,1'
    """
    return ",".join(str(value) for value in values) or NONE


def pairs(values: JsonObject | None) -> str:
    """Return labels as a selector."""
    return joined(f"{name}={value}" for name, value in (values or {}).items())


def selector(obj: JsonObject) -> str:
    """Return spec.selector as kubectl prints it."""
    value = (obj.get("spec") or {}).get("selector") or {}
    parts = [f"{name}={one}" for name, one in (value.get("matchLabels") or {}).items()]
    for one in value.get("matchExpressions") or []:
        key, operator = str(one.get("key")), str(one.get("operator"))
        listed = f"({','.join(one.get('values') or [])})"
        words = {
            "In": f"{key} in {listed}",
            "NotIn": f"{key} notin {listed}",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        parts.append(words.get(operator, f"{key} {operator}"))
    return joined(parts)


NAME = Column(
    name="Name",
    read=lambda obj: obj["metadata"]["name"],
    format="name",
    description="Name must be unique within a namespace.",
)
AGE = Column(
    name="Age",
    read=at(".metadata.creationTimestamp"),
    type="date",
    description="Time since this object was created.",
)
CREATED_AT = Column(name="Created At", read=at(".metadata.creationTimestamp"))
