"""JSON merge patch, RFC 7386."""

from typing import Any

from gputide.kubeapi.model import JsonObject


def merge(obj: JsonObject, patch: JsonObject) -> JsonObject:
    """Return the object with the patch merged in: null deletes a key, a list is replaced whole.

    >>> merge({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": 4}})
    {'b': {'c': 4, 'd': 3}}
    """
    result = dict(obj)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def _merged(present: Any, value: Any) -> Any:  # noqa: ANN401 any JSON value
    if not isinstance(value, dict):
        return value
    return merge(present if isinstance(present, dict) else {}, value)
