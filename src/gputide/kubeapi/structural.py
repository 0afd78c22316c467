"""What a structural schema says beyond types: defaults, how lists merge, and rules in CEL."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gputide.kubeapi.model import JsonObject, Problem

MAX_DEPTH = 64
Cel = Callable[[str, Any, Any], bool | None]
"""(rule, self, oldSelf) -> whether it holds, or None where it cannot be evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of `x-kubernetes-validations`."""

    path: str
    """Of the field that has the rule; "" for the whole object."""

    rule: str
    message: str = ""
    reason: str = ""
    field: str = ""
    """`fieldPath`, relative to `path`."""

    @property
    def is_transition(self) -> bool:
        """Whether it compares with the object before; then it does not count on create."""
        return "oldSelf" in self.rule

    def problem(self, path: str, value: Any) -> Problem:  # noqa: ANN401 any JSON value
        """Return the problem of a value at `path` that breaks the rule."""
        message = self.message or f"failed rule: {self.rule}"
        return Problem(
            field=f"{path}{self.field}".lstrip(".") or "<nil>",
            message=f'Invalid value: "{_type_name(value)}": {message}',
            reason=self.reason or "FieldValueInvalid",
        )


def defaulted(value: Any, schema: JsonObject, depth: int = 0) -> Any:  # noqa: ANN401 any JSON value
    """Return the value with the schema's defaults filled in wherever the object around them is.

    >>> schema = {"properties": {"n": {"default": 3}, "o": {"properties": {"m": {"default": 1}}}}}
    >>> defaulted({"o": {}}, schema)
    {'o': {'m': 1}, 'n': 3}
    """
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, list):
        inner = schema.get("items")
        if not isinstance(inner, dict):
            return value
        return [defaulted(one, inner, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    result = {
        name: defaulted(one, properties.get(name) or _object(others), depth + 1)
        for name, one in value.items()
    }
    for name, inner in properties.items():
        is_absent = name not in result or (result[name] is None and not inner.get("nullable"))
        if is_absent and "default" in inner:
            result[name] = defaulted(inner["default"], inner, depth + 1)
    return result


def merging(schema: JsonObject) -> tuple[dict[str, str], frozenset[str]]:
    """Return `Kind.merge_keys` and `Kind.atomic_maps` of a schema."""
    keys: dict[str, str] = {}
    atomic: set[str] = set()
    for path, node in _nodes(schema, ()):
        kind = node.get("x-kubernetes-list-type")
        if kind == "set":
            keys[".".join(path)] = ""
        elif kind == "map" and node.get("x-kubernetes-list-map-keys"):
            keys[".".join(path)] = ",".join(_map_keys(node))
        if path and node.get("x-kubernetes-map-type") == "atomic":
            atomic.add(".".join(path))
    return keys, frozenset(atomic)


def rules(schema: JsonObject) -> tuple[Rule, ...]:
    """Return every rule of a schema."""
    found: list[Rule] = []
    for path, node in _nodes(schema, ()):
        found += _rules_at(node, ".".join(path))
    return tuple(found)


def broken_rules(
    new: Any,  # noqa: ANN401 any JSON value
    old: Any,  # noqa: ANN401 any JSON value
    schema: JsonObject,
    cel: Cel,
    path: str = "",
) -> Iterator[Problem]:
    """Yield the rules that an object breaks; one that `cel` cannot evaluate counts as kept.

    `old` is what was there before, or None.
    """
    if new is None or path.count(".") > MAX_DEPTH:
        return
    for rule in _rules_at(schema, path):
        if (old is not None or not rule.is_transition) and cel(rule.rule, new, old) is False:
            yield rule.problem(path, new)
    if isinstance(new, dict):
        before = old if isinstance(old, dict) else {}
        properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, one in new.items():
            inner = properties.get(name) or _object(others)
            yield from broken_rules(one, before.get(name), inner, cel, f"{path}.{name}")
    elif isinstance(new, list):
        before_items = _items_before(old, schema)
        for index, one in enumerate(new):
            was = before_items.get(_item_key(one, schema))
            inner = _object(schema.get("items"))
            yield from broken_rules(one, was, inner, cel, f"{path}[{index}]")


def _rules_at(node: JsonObject, path: str) -> list[Rule]:
    return [
        Rule(
            path=path,
            rule=str(one.get("rule", "")),
            message=str(one.get("message") or "").strip(),
            reason=str(one.get("reason") or ""),
            field=str(one.get("fieldPath") or ""),
        )
        for one in node.get("x-kubernetes-validations") or []
    ]


def _nodes(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], JsonObject]]:  # noqa: ANN401 any JSON value
    """Yield (path, node); items add nothing to the path, any other key is `*`."""
    if not isinstance(schema, dict) or len(path) > MAX_DEPTH:
        return
    yield path, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from _nodes(inner, (*path, name))
    yield from _nodes(schema.get("additionalProperties"), (*path, "*"))
    yield from ((p, n) for p, n in _nodes(schema.get("items"), path) if p != path or _has_rules(n))


def _has_rules(node: JsonObject) -> bool:
    return bool(node.get("x-kubernetes-validations"))


def _map_keys(node: JsonObject) -> Iterator[str]:
    properties = _object(node.get("items")).get("properties") or {}
    for name in node["x-kubernetes-list-map-keys"]:
        default = _object(properties.get(name)).get("default")
        yield name if default is None else f"{name}={default}"


def _items_before(old: Any, schema: JsonObject) -> dict[Any, Any]:  # noqa: ANN401 any JSON value
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return {}
    return {_item_key(one, schema): one for one in old}


def _item_key(item: Any, schema: JsonObject) -> Any:  # noqa: ANN401 any JSON value
    names = schema.get("x-kubernetes-list-map-keys") or []
    return tuple(str(item.get(name)) for name in names) if isinstance(item, dict) else None


def _object(value: Any) -> JsonObject:  # noqa: ANN401 any JSON value
    return value if isinstance(value, dict) else {}


def _type_name(value: Any) -> str:  # noqa: ANN401 any JSON value
    names = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (dict, "object"),
        (list, "array"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), str(value))
