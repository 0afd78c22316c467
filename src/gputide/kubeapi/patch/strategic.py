"""Strategic merge patch: a merge patch that knows the keys of lists and has directives."""

from typing import Any

from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.patch.shape import Shape, canonical, ordered, shape_of

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList/"
ELEMENT_ORDER = "$setElementOrder/"
GONE = object()


def strategic(obj: JsonObject, patch: JsonObject, kind: Kind) -> JsonObject:
    """Return the object with the patch merged in; lists merge by `kind.merge_keys`.

    Raise StatusError: 415 for a custom kind, 400 for a directive or an item that cannot be read.
    """
    if not kind.has_strategic_merge:
        raise StatusError(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml",
        )
    result = _merged_map(obj, patch, shape_of(kind))
    return {} if result is GONE else result


def _merged_map(present: JsonObject, patch: JsonObject, shape: Shape) -> Any:  # noqa: ANN401 or GONE
    directive = patch.get(DIRECTIVE, "merge")
    if directive == "delete":
        return GONE
    if directive == "replace":
        return _plain({name: one for name, one in patch.items() if name != DIRECTIVE})
    if directive != "merge":
        raise bad_request(f"strategic merge patch: unknown {DIRECTIVE}: {directive}")
    result = dict(present)
    for name, value in patch.items():
        if name.startswith("$"):
            continue
        merged = _merged(result.get(name), value, shape.child(name))
        if merged is GONE:
            result.pop(name, None)
        else:
            result[name] = merged
    _apply_list_directives(present, result, patch, shape)
    return _retained(result, patch)


def _merged(present: Any, value: Any, shape: Shape) -> Any:  # noqa: ANN401 any JSON value
    if value is None:
        return GONE
    if isinstance(value, dict):
        return _merged_map(present if isinstance(present, dict) else {}, value, shape)
    if not isinstance(value, list):
        return value
    held = present if isinstance(present, list) else []
    if shape.is_set:
        return held + [one for one in value if one not in held]
    return _merged_list(held, value, shape) if shape.keys else _plain(value)


def _merged_list(present: list[Any], patch: list[Any], shape: Shape) -> list[Any]:
    """Merge items that have the same first key; a new one comes last."""
    key = shape.keys[0][0]
    if any(isinstance(one, dict) and one == {DIRECTIVE: "replace"} for one in patch):
        return [_plain(one) for one in patch if one != {DIRECTIVE: "replace"}]
    result = list(present)
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise bad_request(f"map: {canonical(item)} does not contain declared merge key: {key}")
        same = [i for i, one in enumerate(result) if _key(one, key) == item[key]]
        if item.get(DIRECTIVE) == "delete":
            result = [one for i, one in enumerate(result) if i not in same]
        elif same:
            result[same[0]] = _merged_map(result[same[0]], item, shape.item())
        else:
            result.append(_merged_map({}, item, shape.item()))
    return _reordered(result, patch, present, shape)


def _apply_list_directives(
    before: JsonObject, result: JsonObject, patch: JsonObject, shape: Shape
) -> None:
    for name, value in patch.items():
        if not name.startswith((DELETE_FROM, ELEMENT_ORDER)):
            continue
        if not isinstance(value, list):
            raise bad_request(f"strategic merge patch: {name} must be a list")
        target = name.partition("/")[2]
        held = result.get(target)
        if not isinstance(held, list):
            continue
        if name.startswith(DELETE_FROM):
            result[target] = [one for one in held if one not in value]
        else:
            present = before.get(target)
            were = present if isinstance(present, list) else []
            result[target] = _reordered(held, value, were, shape.child(target))


def _reordered(items: list[Any], order: list[Any], present: list[Any], shape: Shape) -> list[Any]:
    name = shape.keys[0][0] if shape.keys else ""

    def mark(item: Any) -> str:  # noqa: ANN401 any JSON value
        return canonical(_key(item, name) if name else item)

    by_key = {mark(item): item for item in items}
    if len(by_key) != len(items):  # items that share a key: the order given says nothing
        return items
    wanted = [key for key in dict.fromkeys(mark(one) for one in order) if key in by_key]
    held = [mark(item) for item in present if mark(item) in by_key]
    new = [key for key in by_key if key not in held]
    order_before = held + [key for key in new if key not in wanted]
    return [by_key[key] for key in ordered(order_before, wanted)]


def _retained(result: JsonObject, patch: JsonObject) -> JsonObject:
    keep = patch.get(RETAIN_KEYS)
    if keep is None:
        return result
    if not isinstance(keep, list):
        raise bad_request(f"strategic merge patch: {RETAIN_KEYS} must be a list")
    return {name: one for name, one in result.items() if name in keep}


def _key(item: Any, name: str) -> Any:  # noqa: ANN401 any JSON value
    return item.get(name) if isinstance(item, dict) else None


def _plain(value: Any) -> Any:  # noqa: ANN401 any JSON value
    """Return a value that is taken as it stands, less nulls and directives."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    pairs = value.items()
    return {k: _plain(v) for k, v in pairs if v is not None and not k.startswith("$")}
