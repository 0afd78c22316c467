"""A CustomResourceDefinition (apiextensions.k8s.io/v1) as kinds that the server can serve."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gputide.kubeapi.errors import invalid
from gputide.kubeapi.jsonpath import JsonPathError, compiled
from gputide.kubeapi.kinds.cells import NAME
from gputide.kubeapi.model import (
    Column,
    JsonObject,
    Kind,
    Problem,
    ScalePaths,
    Scope,
)
from gputide.kubeapi.structural import Cel, Rule, broken_rules, defaulted, merging, rules

_METADATA: JsonObject = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "description": "Standard object's metadata.",
}


def kind_from_crd(crd: JsonObject, *, cel: Cel | None = None) -> tuple[Kind, ...]:
    """Return a kind for each version that is served.

    Raise StatusError (422) that names the field where a path cannot be read. Without `cel` no
    `x-kubernetes-validations` is evaluated; `rules_of` lists them.
    """
    versions = crd["spec"].get("versions") or []
    return tuple(
        _kind(crd, one, f"spec.versions[{index}]", cel)
        for index, one in enumerate(versions)
        if one.get("served")
    )


def rules_of(crd: JsonObject) -> tuple[Rule, ...]:
    """Return the CEL rules of all versions that are served, each once."""
    served = (one for one in crd["spec"].get("versions") or [] if one.get("served"))
    found = (rule for one in served for rule in rules(_schema(one)))
    return tuple(dict.fromkeys(found))


def _kind(crd: JsonObject, version: JsonObject, at: str, cel: Cel | None) -> Kind:
    spec, names, schema = crd["spec"], crd["spec"]["names"], _schema(version)
    keys, atomic = merging(schema)
    subresources = version.get("subresources") or {}
    try:
        columns = tuple(_columns(version))
        scale = _scale(subresources.get("scale"))
    except JsonPathError as error:
        problem = Problem(field=at, message=f"Invalid value: {error}")
        raise invalid("CustomResourceDefinition", crd["metadata"]["name"], [problem]) from error
    return Kind(
        group=spec["group"],
        version=version["name"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        scope=Scope(spec["scope"]),
        columns=columns,
        schema=schema,
        has_status="status" in subresources,
        scale=scale,
        validate=_validator(schema, cel),
        default=lambda obj: defaulted(obj, schema),
        merge_keys=keys,
        atomic_maps=atomic,
        has_strategic_merge=False,
    )


def _schema(version: JsonObject) -> JsonObject:
    """Return the schema of the whole object, with what every object has."""
    stated: JsonObject = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    every = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": _METADATA,
    }
    properties = every | (stated.get("properties") or {})
    metadata = properties["metadata"]
    if metadata is not _METADATA:  # a definition may narrow the name, but not shut out the rest
        properties["metadata"] = metadata | {"x-kubernetes-preserve-unknown-fields": True}
    return {"type": "object"} | stated | {"properties": properties}


def _validator(
    schema: JsonObject, cel: Cel | None
) -> Callable[[JsonObject, JsonObject | None], Sequence[Problem]] | None:
    if cel is None or not rules(schema):
        return None
    return lambda new, old: list(broken_rules(new, old, schema, cel))


def _columns(version: JsonObject) -> Iterator[Column]:
    stated = version.get("additionalPrinterColumns") or []
    if stated:
        yield NAME
    for one in stated:
        yield Column(
            name=one["name"],
            read=_reader(one["jsonPath"], one["type"]),
            type=one["type"],
            format=one.get("format", ""),
            description=one.get("description", ""),
            priority=one.get("priority", 0),
        )


def _reader(path: str, kind: str) -> Callable[[JsonObject], Any]:
    """Return a reader of a cell; a value that does not fit the column's type is an empty cell."""
    first = compiled(path)
    fit: Callable[[Any], Any] = _FITS.get(kind, _text)

    def read(obj: JsonObject) -> Any:  # noqa: ANN401 any cell
        value = first(obj)
        return None if value is None else fit(value)

    return read


def _whole(value: Any) -> int | None:  # noqa: ANN401 any JSON value
    return int(value) if _is_number(value) else None


def _is_number(value: Any) -> bool:  # noqa: ANN401 any JSON value
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:  # noqa: ANN401 any JSON value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)


_FITS: Mapping[str, Callable[[Any], Any]] = {
    "integer": _whole,
    "number": lambda value: float(value) if _is_number(value) else None,
    "boolean": lambda value: value if isinstance(value, bool) else None,
    "date": lambda value: value if isinstance(value, str) else None,
}


def _scale(stated: Any) -> ScalePaths | None:  # noqa: ANN401 any JSON value
    if not stated:
        return None

    def path(name: str) -> tuple[str, ...]:
        text = str(stated.get(name) or "")
        compiled(text or ".")
        return tuple(part for part in text.split(".") if part)

    return ScalePaths(
        spec_replicas=path("specReplicasPath"),
        status_replicas=path("statusReplicasPath"),
        label_selector=path("labelSelectorPath"),
    )
