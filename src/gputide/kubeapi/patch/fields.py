"""Sets of fields: which leaves an object has, as paths, and FieldsV1, their form on the wire.

A path is a tuple of FieldsV1's own elements: `f:spec`, `k:{"name":"web"}`, `v:"a value of a set"`.
"""

import json
from collections.abc import Iterable
from typing import Any

from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.patch.shape import Shape, canonical

Path = tuple[str, ...]
ITEM = object()
"""The value of a path that stands for an item of a list as such."""

CONTAINER = object()
"""The value of a path that stands for an object or list as such."""


def leaves(value: Any, shape: Shape, path: Path = ()) -> dict[Path, Any]:  # noqa: ANN401 any JSON value
    """Return path -> value of everything that can have an owner of its own."""
    found: dict[Path, Any] = {}
    _collect(value, shape, path, found)
    return found


def _collect(value: Any, shape: Shape, path: Path, found: dict[Path, Any]) -> None:  # noqa: ANN401 any JSON value
    if isinstance(value, dict) and value and not shape.is_atomic:
        for name, one in value.items():
            _collect(one, shape.child(name), (*path, f"f:{name}"), found)
        return
    keyed = shape.keyed(value) if isinstance(value, list) and value else None
    if keyed is None:
        found[path] = value
        return
    for key, item in keyed.items():
        found[(*path, key)] = ITEM
        if isinstance(item, dict):
            _collect(item, shape.item(), (*path, key), found)


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Return the paths in the order of Kubernetes: what ends at a level, then what goes deeper."""
    return sorted(
        paths, key=lambda path: [(depth + 1 < len(path), one) for depth, one in enumerate(path)]
    )


def changes(before: JsonObject, after: JsonObject, shape: Shape) -> tuple[set[Path], set[Path]]:
    """Return the paths that were added or got another value, and those that are gone.

    Containers count as well: one that was not there before is added with what it holds.
    """
    old, new = leaves(before, shape), leaves(after, shape)
    for found in (old, new):
        found.update(dict.fromkeys(prefixes(found) - found.keys(), CONTAINER))
    changed = {path for path, value in new.items() if path not in old or differs(old[path], value)}
    return changed, old.keys() - new.keys()


def differs(one: Any, other: Any) -> bool:  # noqa: ANN401 any JSON values
    """Return whether two JSON values differ; to Python, true and 1 do not."""
    if one is other:
        return False
    return one != other or canonical(one) != canonical(other)


def to_fields_v1(paths: Iterable[Path]) -> JsonObject:
    """Return the nested form that managedFields carries.

    >>> to_fields_v1([("f:spec", "f:replicas"), ("f:spec",)])
    {'f:spec': {'.': {}, 'f:replicas': {}}}
    """
    root: JsonObject = {}
    ordered = sorted(paths)
    inner = {path[:length] for path in ordered for length in range(1, len(path))}
    for path in ordered:
        node = root
        for element in path:
            node = node.setdefault(element, {})
        if path in inner:
            node["."] = {}
    return root


def from_fields_v1(fields: Any) -> frozenset[Path]:  # noqa: ANN401 a client may send anything
    """Return the paths of the nested form; what cannot be read counts as nothing."""
    found: set[Path] = set()
    pending: list[tuple[Path, Any]] = [((), fields)]
    while pending:
        path, node = pending.pop()
        if not isinstance(node, dict):
            continue
        if path and (not node or "." in node):
            found.add(path)
        pending += [((*path, name), inner) for name, inner in node.items() if name != "."]
    return frozenset(found)


def described(path: Path) -> str:
    """Return the path as Kubernetes prints it.

    >>> described(("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"))
    '.spec.ports[port=80,protocol="TCP"].name'
    """
    return "".join(_described(element) for element in path)


def _described(element: str) -> str:
    mark, _, rest = element.partition(":")
    if mark == "k":
        return f"[{_pairs(rest)}]"
    return f"[={rest}]" if mark == "v" else f".{rest}"


def _pairs(key: str) -> str:
    try:
        return ",".join(f"{name}={canonical(value)}" for name, value in json.loads(key).items())
    except (ValueError, AttributeError):  # a client may have written anything
        return key


def prefixes(paths: Iterable[Path]) -> set[Path]:
    """Return every path and all that lie above it."""
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}
