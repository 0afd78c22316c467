"""From msgspec's JSON schema to the structural schema that Kubernetes takes. Pure."""

from collections.abc import Mapping
from typing import Any

import msgspec

JsonObject = dict[str, Any]

DROPPED = frozenset({"title", "additionalProperties", "default"})


def structural_schema(struct: type, notes: Mapping[str, JsonObject]) -> JsonObject:
    """Return the schema of a struct, references inlined.

    `notes` add to what the types say, by path (`spec.metrics[].type`): enums, bounds, CEL rules.
    """
    made = msgspec.json.schema(struct)
    schema = _inline(made, made.get("$defs", {}))
    return _annotate(schema, "", dict(notes))


def _inline(node: Any, definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON
    if isinstance(node, list):
        return [_inline(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inline(definitions[str(node["$ref"]).rpartition("/")[2]], definitions)
    if "anyOf" in node:
        return _choice([one for one in node["anyOf"] if one != {"type": "null"}], definitions)
    return _inline_object(node, definitions)


def _inline_object(node: JsonObject, definitions: Mapping[str, Any]) -> JsonObject:
    made: JsonObject = {}
    for name, value in node.items():
        is_map = name == "additionalProperties" and isinstance(value, dict)
        if name == "properties":  # names of fields, not of the schema's own words
            made[name] = {field: _inline(one, definitions) for field, one in value.items()}
        elif is_map or (name not in DROPPED and name != "$defs"):
            made[name] = _inline(value, definitions)
    if made.keys() <= {"description"}:  # anything at all: text, as a file has it
        made["type"] = "string"
    return made


def _choice(options: list[Any], definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON
    if len(options) == 1:
        return _inline(options[0], definitions)
    types = {str(one.get("type")) for one in options}
    if types <= {"number", "integer", "string"}:
        return {"x-kubernetes-int-or-string": True}
    raise TypeError(f"no structural schema for a choice of {sorted(types)}")


def _annotate(node: JsonObject, path: str, notes: dict[str, JsonObject]) -> JsonObject:
    made = node | notes.pop(path, {})
    if isinstance(made.get("properties"), dict):
        made["properties"] = {
            name: _annotate(one, f"{path}.{name}".lstrip("."), notes)
            for name, one in made["properties"].items()
        }
    if isinstance(made.get("items"), dict):
        made["items"] = _annotate(made["items"], f"{path}[]", notes)
    if not path and notes:
        raise KeyError(f"no such field: {', '.join(notes)}")
    return made
