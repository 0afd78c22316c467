"""An object against the OpenAPI schema of its kind: unknown fields, nulls, types and bounds."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from gputide.kubeapi.errors import bad_request
from gputide.kubeapi.model import JsonObject, Problem

MAX_DEPTH = 64
MAX_PROBLEMS = 50
_OPEN = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = frozenset({"apiVersion", "kind", "metadata"})


def pruned(
    value: Any,  # noqa: ANN401 any JSON value
    schema: JsonObject,
    unknown: list[str] | None = None,
    path: str = "",
    depth: int = 0,
) -> Any:  # noqa: ANN401 any JSON value
    """Return the value less what the schema does not know, and less nulls where none may be.

    The paths of unknown fields are appended to `unknown`. Raise 400 for a value too deep.
    """
    if depth > MAX_DEPTH:
        raise bad_request(f"{path}: nested deeper than {MAX_DEPTH}")
    if isinstance(value, list):
        inner = _object(schema.get("items"))
        return [
            pruned(one, inner, unknown, f"{path}[{index}]", depth + 1)
            for index, one in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, one in value.items():
        where = f"{path}.{name}" if path else name
        inner_schema = _property(schema, name)
        if inner_schema is None:
            if unknown is not None:
                unknown.append(where)
        elif one is not None or _is_nullable(inner_schema):
            result[name] = pruned(one, inner_schema, unknown, where, depth + 1)
    return result


def problems(value: Any, schema: JsonObject, path: str = "") -> list[Problem]:  # noqa: ANN401 any JSON value
    """Return what is wrong with a value, at most MAX_PROBLEMS."""
    found: list[Problem] = []
    for one in _problems(value, schema, path, 0):
        found.append(one)
        if len(found) == MAX_PROBLEMS:
            break
    return found


def _problems(value: Any, schema: JsonObject, path: str, depth: int) -> Iterator[Problem]:  # noqa: ANN401 any JSON value
    if value is None and _is_nullable(schema):
        return
    wrong = _type_problem(value, schema, path)
    if wrong is not None:
        yield wrong
        return
    yield from _enum_problems(value, schema, path)
    if isinstance(value, str):
        yield from _text_problems(value, schema, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_problems(value, schema, path)
    elif isinstance(value, list):
        yield from _list_problems(value, schema, path, depth)
    elif isinstance(value, dict):
        yield from _object_problems(value, schema, path, depth)
    yield from _combined_problems(value, schema, path, depth)


def _type_problem(value: Any, schema: JsonObject, path: str) -> Problem | None:  # noqa: ANN401 any JSON value
    if schema.get("x-kubernetes-int-or-string"):
        is_good, wanted = isinstance(value, int | str) and not isinstance(value, bool), "integer"
    else:
        wanted = str(schema.get("type") or "")
        is_good = _TYPES[wanted](value) if wanted in _TYPES else True
    if is_good:
        return None
    message = f'Invalid value: "{_type_name(value)}": {path} in body must be of type {wanted}'
    return Problem(field=path or "<nil>", message=message, reason="FieldValueTypeInvalid")


def _enum_problems(value: Any, schema: JsonObject, path: str) -> Iterator[Problem]:  # noqa: ANN401 any JSON value
    listed = schema.get("enum")
    if isinstance(listed, list) and value not in listed:
        supported = ", ".join(f'"{one}"' for one in listed)
        message = f"Unsupported value: {_shown(value)}: supported values: {supported}"
        yield Problem(field=path, message=message, reason="FieldValueNotSupported")


def _text_problems(value: str, schema: JsonObject, path: str) -> Iterator[Problem]:
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None and len(value) < least:
        why = f"{path} in body should be at least {least} chars long"
        yield _invalid(path, value, why)
    if most is not None and len(value) > most:
        message = f"Too long: may not be more than {most} bytes"
        yield Problem(field=path, message=message, reason="FieldValueTooLong")
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        compiled = _compiled(pattern)
        if compiled is not None and not compiled.search(value):
            yield _invalid(path, value, f"{path} in body should match '{pattern}'")


def _number_problems(value: float, schema: JsonObject, path: str) -> Iterator[Problem]:
    least, most, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    if least is not None:
        is_open = schema.get("exclusiveMinimum") is True
        if value < least or (is_open and value == least):
            word = "greater than" if is_open else "greater than or equal to"
            yield _invalid(path, value, f"{path} in body should be {word} {least}")
    if most is not None:
        is_open = schema.get("exclusiveMaximum") is True
        if value > most or (is_open and value == most):
            word = "less than" if is_open else "less than or equal to"
            yield _invalid(path, value, f"{path} in body should be {word} {most}")
    if step and value % step:
        yield _invalid(path, value, f"{path} in body should be a multiple of {step}")
    bits = {"int32": 31, "int64": 63}.get(str(schema.get("format")))
    if bits and not -(2**bits) <= value < 2**bits:
        yield _invalid(path, value, f"{path} in body must be of type {schema['format']}")


def _list_problems(
    value: list[Any], schema: JsonObject, path: str, depth: int
) -> Iterator[Problem]:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        yield _invalid(path, len(value), f"{path} in body should have at least {least} items")
    if most is not None and len(value) > most:
        message = f"Too many: {len(value)}: must have at most {most} items"
        yield Problem(field=path, message=message, reason="FieldValueTooMany")
    yield from _duplicates(value, schema, path)
    inner = schema.get("items")
    if isinstance(inner, dict):
        for index, one in enumerate(value):
            yield from _problems(one, inner, f"{path}[{index}]", depth + 1)


def _duplicates(value: list[Any], schema: JsonObject, path: str) -> Iterator[Problem]:
    """Yield the items of a set or map that are there twice."""
    kind, names = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
    if kind not in ("set", "map"):
        return
    seen: list[Any] = []
    for index, one in enumerate(value):
        is_keyed = kind == "map" and isinstance(one, dict)
        key = {name: one.get(name) for name in names or ()} if is_keyed else one
        if key in seen:
            message = f"Duplicate value: {_shown(key)}"
            yield Problem(field=f"{path}[{index}]", message=message, reason="FieldValueDuplicate")
        seen.append(key)


def _object_problems(
    value: JsonObject, schema: JsonObject, path: str, depth: int
) -> Iterator[Problem]:
    for name in schema.get("required") or []:
        if name not in value:
            field = f"{path}.{name}" if path else name
            yield Problem(field=field, message="Required value", reason="FieldValueRequired")
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        yield _invalid(path, len(value), f"{path} in body should have at least {least} properties")
    if most is not None and len(value) > most:
        message = f"Too many: {len(value)}: must have at most {most} items"
        yield Problem(field=path, message=message, reason="FieldValueTooMany")
    for name, one in value.items():
        inner = _property(schema, name)
        if inner:
            yield from _problems(one, inner, f"{path}.{name}" if path else name, depth + 1)


def _combined_problems(value: Any, schema: JsonObject, path: str, depth: int) -> Iterator[Problem]:  # noqa: ANN401 any JSON value
    for one in schema.get("allOf") or []:
        yield from _problems(value, one, path, depth + 1)
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if options:
            fitting = sum(
                next(_problems(value, one, path, depth + 1), None) is None for one in options
            )
            if not fitting or (word == "oneOf" and fitting > 1):
                yield _invalid(path, value, f"{path} in body must validate {word} of the schemas")
    refused = schema.get("not")
    if refused and next(_problems(value, refused, path, depth + 1), None) is None:
        yield _invalid(path, value, f"{path} in body must not validate the schema (not)")


def _property(schema: JsonObject, name: str) -> JsonObject | None:
    """Return the schema of a field, {} where anything goes, None where it is not known."""
    properties = schema.get("properties")
    if isinstance(properties, dict) and name in properties:
        return _object(properties[name])
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        return others
    if others or schema.get(_OPEN) or not (schema.get("type") or properties):
        return {}
    if schema.get("x-kubernetes-embedded-resource") and name in _EMBEDDED:
        return {}
    return None


def _is_nullable(schema: JsonObject) -> bool:
    return bool(schema.get("nullable") or not schema.get("type"))


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:  # a form that RE2 knows and Python does not: better unchecked than unusable
        return None


def _object(value: Any) -> JsonObject:  # noqa: ANN401 any JSON value
    return value if isinstance(value, dict) else {}


def _is_integer(value: Any) -> bool:  # noqa: ANN401 any JSON value
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _type_name(value: Any) -> str:  # noqa: ANN401 any JSON value
    if value is None:
        return "null"
    return next(name for name, is_so in _TYPES.items() if is_so(value))


def _shown(value: Any) -> str:  # noqa: ANN401 any JSON value
    return f'"{value}"' if isinstance(value, str) else str(value)[:200]


def _invalid(path: str, value: Any, why: str) -> Problem:  # noqa: ANN401 any JSON value
    return Problem(field=path, message=f"Invalid value: {_shown(value)}: {why}")
