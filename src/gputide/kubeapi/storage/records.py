"""What the server itself writes into an object: uid, times, generation, marks of deletion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gputide.kubeapi.errors import StatusError, bad_request, conflict, invalid
from gputide.kubeapi.model import JsonObject, Kind, Problem

FOREGROUND = "foregroundDeletion"
MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What a new object gets."""

    uid: str
    time: str
    """RFC 3339, UTC."""

    suffix: str
    """What `generateName` is completed with."""


def created(obj: JsonObject, stamp: Stamp) -> JsonObject:
    """Return a new object as it is stored, but for its resourceVersion; 400 without a name."""
    metadata = dict(obj.get("metadata") or {})
    for name in ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"):
        metadata.pop(name, None)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = f"{metadata['generateName']}{stamp.suffix}"
    if not metadata.get("name"):
        raise bad_request("name or generateName is required")
    metadata |= {"uid": stamp.uid, "creationTimestamp": stamp.time}
    metadata.pop("generation", None)
    if "spec" in obj:
        metadata["generation"] = 1
    return obj | {"metadata": metadata}


def updated(kind: Kind, before: JsonObject, after: JsonObject) -> JsonObject:
    """Return `after` as it is stored, with what the server keeps taken from `before`.

    Raise 409 for another uid or a resourceVersion that is not the present one, 400 for another
    name, 422 for a new finalizer on an object under deletion. Without a resourceVersion the write
    is unconditional.
    """
    old, new = before["metadata"], dict(after.get("metadata") or {})
    _check_identity(kind, old, new)
    _check_finalizers(kind, old, new)
    for name in _KEPT:
        new.pop(name, None)
        if name in old:
            new[name] = old[name]
    new |= {"name": old["name"], "resourceVersion": old["resourceVersion"]}
    if "namespace" in old:
        new["namespace"] = old["namespace"]
    new.pop("generation", None)
    if "generation" in old:
        grown = 0 if _spec_of(before) == _spec_of(after) else 1
        new["generation"] = old["generation"] + grown
    return after | {"metadata": new}


def marked(kind: Kind, obj: JsonObject, *, time: str, finalizers: tuple[str, ...]) -> JsonObject:
    """Return the object with its deletion asked for; a repeated mark keeps the first time."""
    metadata = dict(obj["metadata"])
    metadata.setdefault("deletionTimestamp", time)
    metadata.setdefault("deletionGracePeriodSeconds", 0)
    held = list(metadata.get("finalizers") or [])
    if held or finalizers:
        metadata["finalizers"] = held + [one for one in finalizers if one not in held]
    if "generation" in metadata and "deletionTimestamp" not in obj["metadata"]:
        metadata["generation"] += 1
    result = obj | {"metadata": metadata}
    if is_namespace(kind):
        result["status"] = (obj.get("status") or {}) | {"phase": "Terminating"}
    return result


def is_waiting(kind: Kind, obj: JsonObject) -> bool:
    """Whether somebody has to finish something before the object may go."""
    held = (obj.get("metadata") or {}).get("finalizers")
    return bool(held or (is_namespace(kind) and (obj.get("spec") or {}).get("finalizers")))


def is_namespace(kind: Kind) -> bool:
    """Whether this is the kind Namespace."""
    return kind.group == "" and kind.plural == "namespaces"


def _check_identity(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    name = str(old["name"])
    if new.get("name", name) != name:
        raise bad_request(
            f"the name of the object ({new['name']}) does not match the name on the URL ({name})"
        )
    if new.get("uid") and new["uid"] != old["uid"]:
        why = f"Precondition failed: UID in precondition: {new['uid']}, UID in object meta: "
        raise conflict(resource_of(kind), name, f"{why}{old['uid']}")
    stated = new.get("resourceVersion")
    if stated and stated != old["resourceVersion"]:
        raise conflict(resource_of(kind), name, MODIFIED)


def _check_finalizers(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    if "deletionTimestamp" not in old:
        return
    added = [one for one in new.get("finalizers") or [] if one not in (old.get("finalizers") or [])]
    if added:
        message = (
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers {added}"
        )
        problem = Problem(
            field="metadata.finalizers", message=message, reason="FieldValueForbidden"
        )
        raise invalid(kind.kind, str(old["name"]), [problem])


def resource_of(kind: Kind) -> str:
    """Return `plural.group`, as errors name a kind."""
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural


def too_large(size_bytes: int, most_bytes: int) -> StatusError:
    """Return the 413 of an object that is too big."""
    message = f"Request entity too large: the object has {size_bytes} bytes; at most {most_bytes}"
    return StatusError(413, "RequestEntityTooLarge", message)


def _spec_of(obj: JsonObject) -> JsonObject:
    return {name: one for name, one in obj.items() if name not in _NO_SPEC}


_NO_SPEC = ("metadata", "status", "apiVersion", "kind")
