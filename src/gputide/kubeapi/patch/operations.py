"""JSON patch, RFC 6902: a list of operations."""

from collections.abc import Sequence
from typing import Any

import jsonpatch
import jsonpointer

from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import JsonObject

MAX_OPERATIONS = 10_000


def json_patch(obj: JsonObject, operations: Sequence[JsonObject]) -> JsonObject:
    """Return the object after the operations, all or none.

    Raise StatusError: 400 for a patch that cannot be read, 413 for more than MAX_OPERATIONS, 422
    where a path does not exist or a `test` fails.

    >>> json_patch({"a": 1}, [{"op": "replace", "path": "/a", "value": 2}])
    {'a': 2}
    """
    _check(operations)
    try:
        result: Any = jsonpatch.apply_patch(obj, list(operations))
    except jsonpatch.InvalidJsonPatch as error:
        raise bad_request(f"json patch: {error}") from error
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        raise _unprocessable(str(error)) from error
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        # a path that leads into a number or a text: the library lets Python's own error through
        raise _unprocessable(f"a path does not fit the object: {error}") from error
    if not isinstance(result, dict):
        raise _unprocessable("the result is no object")
    return result


def _check(operations: Sequence[JsonObject]) -> None:
    if len(operations) > MAX_OPERATIONS:
        message = f"json patch has {len(operations)} operations; at most {MAX_OPERATIONS}"
        raise StatusError(413, "RequestEntityTooLarge", message)
    if not all(isinstance(one, dict) for one in operations):
        raise bad_request("json patch: an operation must be an object")


def _unprocessable(problem: str) -> StatusError:
    return StatusError(422, "Invalid", f"the server rejected our request: json patch: {problem}")
