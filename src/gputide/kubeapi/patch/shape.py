"""How the lists and maps of a kind merge, as a tree that a walk over an object follows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gputide.kubeapi.model import JsonObject, Kind

OF_EVERY_KIND = {"metadata.finalizers": "", "metadata.ownerReferences": "uid"}


@dataclass(slots=True, kw_only=True)
class Shape:
    """The node of one field; of a list, `children` are the fields of its items."""

    keys: tuple[tuple[str, str | None], ...] = ()
    """Of a list of objects: what tells items apart, each with what counts where it is absent."""

    is_set: bool = False
    """A list of plain values, each of which counts by itself."""

    is_atomic: bool = False
    """An object that is replaced as a whole."""

    children: dict[str, "Shape"] = field(default_factory=dict)

    def child(self, name: str) -> "Shape":
        """Return the node of a field; `*` in a row stands for any name."""
        return self.children.get(name) or self.children.get("*") or UNKNOWN

    def item(self) -> "Shape":
        """Return the node of an item of this list."""
        return Shape(children=self.children)

    def key_of(self, item: Any) -> str | None:  # noqa: ANN401 any JSON value
        """Return what tells an item apart, as FieldsV1 writes it, or None where it says too little.

        >>> Shape(keys=(("port", None), ("protocol", "TCP"))).key_of({"port": 80})
        'k:{"port":80,"protocol":"TCP"}'
        """
        if self.is_set:
            return None if isinstance(item, dict | list) else f"v:{canonical(item)}"
        if not self.keys or not isinstance(item, dict):
            return None
        key = {name: item.get(name, default) for name, default in self.keys}
        return None if None in key.values() else f"k:{canonical(key)}"

    def keyed(self, items: Any) -> dict[str, Any] | None:  # noqa: ANN401 any JSON value
        """Return key -> item, or None where the list cannot be merged and is replaced whole."""
        if not isinstance(items, list):
            return None
        keyed = {self.key_of(item) or "": item for item in items}
        return None if "" in keyed or len(keyed) != len(items) else keyed


UNKNOWN = Shape()


def shape_of(kind: Kind) -> Shape:
    """Return the tree of a kind's `merge_keys` and `atomic_maps`."""
    root = Shape()
    for path, keys in (OF_EVERY_KIND | dict(kind.merge_keys)).items():
        node = _node(root, path)
        node.is_set = not keys
        node.keys = _parsed(keys) if keys else ()
    for path in kind.atomic_maps:
        _node(root, path).is_atomic = True
    return root


def ordered(present: list[str], wanted: list[str]) -> list[str]:
    """Return the keys of both, in the order in which Kubernetes leaves a merged list.

    Those wanted come in their order; another comes before one of them only where both were there
    before and it stood in front.

    >>> ordered(["a", "x", "b"], ["b", "a", "c"])
    ['x', 'b', 'a', 'c']
    """
    place = {key: index for index, key in enumerate(present)}
    ours, theirs = [key for key in present if key not in set(wanted)], list(wanted)
    result: list[str] = []
    while ours and theirs:
        is_before = theirs[0] in place and place[ours[0]] < place[theirs[0]]
        result.append((ours if is_before else theirs).pop(0))
    return result + ours + theirs


def canonical(value: Any) -> str:  # noqa: ANN401 any JSON value
    """Return compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def copied(value: Any) -> Any:  # noqa: ANN401 any JSON value
    """Return a deep copy of a JSON value; several times faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    return [copied(one) for one in value] if isinstance(value, list) else value


def system_metadata_removed(obj: JsonObject, names: frozenset[str]) -> JsonObject:
    """Return the object without those fields of its metadata."""
    metadata: Mapping[str, Any] = obj.get("metadata") or {}
    kept = {name: value for name, value in metadata.items() if name not in names}
    return obj | {"metadata": kept}


def _node(root: Shape, path: str) -> Shape:
    for name in path.split("."):
        root = root.children.setdefault(name, Shape())
    return root


def _parsed(keys: str) -> tuple[tuple[str, str | None], ...]:
    parts = (part.partition("=") for part in keys.split(","))
    return tuple((name, default if equals else None) for name, equals, default in parts)
