"""Rules of the metadata that every object has: names, labels, annotations, what is known."""

import re
from collections.abc import Iterator
from typing import Any

from gputide.kubeapi.model import JsonObject, Kind, Problem

MAX_NAME_CHARACTERS = 253
MAX_LABEL_CHARACTERS = 63
MAX_ANNOTATION_BYTES = 256 * 1024
MAX_GENERATE_CHARACTERS = 248

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_KNOWN = frozenset(
    {
        "annotations", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp",
        "finalizers", "generateName", "generation", "labels", "managedFields", "name",
        "namespace", "ownerReferences", "resourceVersion", "selfLink", "uid",
    }
)  # fmt: skip
_TEXTS = ("name", "namespace", "generateName", "uid", "resourceVersion")


def metadata_problems(obj: JsonObject, kind: Kind) -> Iterator[Problem]:
    """Yield what is wrong with an object's metadata."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        yield _invalid("metadata", metadata, "must be an object")
        return
    for name in _TEXTS:
        if not isinstance(metadata.get(name, ""), str):
            yield _invalid(f"metadata.{name}", metadata[name], "must be a string")
            return
    yield from _name_problems(metadata, kind)
    yield from _label_problems(metadata.get("labels"))
    yield from _annotation_problems(metadata.get("annotations"))
    yield from _list_problems(metadata)


def unknown_metadata(obj: JsonObject) -> Iterator[str]:
    """Yield the paths of metadata that Kubernetes does not know."""
    metadata = obj.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    yield from (f"metadata.{name}" for name in names if name not in _KNOWN)


def without_unknown(obj: JsonObject) -> JsonObject:
    """Return the object less unknown metadata and nulls in it."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return obj
    kept = {k: v for k, v in metadata.items() if k in _KNOWN and v is not None}
    return obj | {"metadata": kept}


def _name_problems(metadata: JsonObject, kind: Kind) -> Iterator[Problem]:
    name, generate = metadata.get("name") or "", metadata.get("generateName") or ""
    if not name and not generate:
        message = "Required value: name or generateName is required"
        yield Problem(field="metadata.name", message=message, reason="FieldValueRequired")
    elif name:
        why = name_problem(name, kind)
        if why:
            yield _invalid("metadata.name", name, why)
    else:
        why = name_problem(generate[:MAX_GENERATE_CHARACTERS].rstrip("-.") or "-", kind)
        if why:
            yield _invalid("metadata.generateName", generate, why)


def name_problem(name: str, kind: Kind) -> str:
    """Return what is wrong with the name of an object, "" where nothing is."""
    if kind.group == "rbac.authorization.k8s.io":  # names such as system:auth-delegator
        is_segment = name not in (".", "..") and not set(name) & {"/", "%"}
        return "" if is_segment else "a name may not be '.', '..' or contain '/' or '%'"
    if kind.group == "" and kind.plural == "namespaces":
        is_good = len(name) <= MAX_LABEL_CHARACTERS and _LABEL.fullmatch(name)
        return "" if is_good else "a lowercase RFC 1123 label must have at most 63 of a-z, 0-9, '-'"
    if kind.group == "" and kind.plural == "services":
        is_good = len(name) <= MAX_LABEL_CHARACTERS and _SERVICE.fullmatch(name)
        return "" if is_good else "a DNS-1035 label must begin with a letter: a-z, 0-9, '-'"
    if len(name) <= MAX_NAME_CHARACTERS and _SUBDOMAIN.fullmatch(name):
        return ""
    return (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
        "'-' or '.', and must start and end with an alphanumeric character"
    )


def _label_problems(labels: Any) -> Iterator[Problem]:  # noqa: ANN401 any JSON value
    if labels is None:
        return
    if not isinstance(labels, dict):
        yield _invalid("metadata.labels", labels, "must be an object of strings")
        return
    for key, value in labels.items():
        if not _is_qualified(key):
            yield _invalid("metadata.labels", key, "name part must be a qualified name")
        if not isinstance(value, str):
            yield _invalid(f"metadata.labels.{key}", value, "must be a string")
        elif value and not (len(value) <= MAX_LABEL_CHARACTERS and _QUALIFIED.fullmatch(value)):
            yield _invalid(
                "metadata.labels", value, "a valid label has at most 63 of A-z, 0-9, -_."
            )


def _annotation_problems(annotations: Any) -> Iterator[Problem]:  # noqa: ANN401 any JSON value
    if annotations is None:
        return
    if not isinstance(annotations, dict):
        yield _invalid("metadata.annotations", annotations, "must be an object of strings")
        return
    size = 0
    for key, value in annotations.items():
        if not _is_qualified(key.lower()):
            yield _invalid("metadata.annotations", key, "name part must be a qualified name")
        if isinstance(value, str):
            size += len(key) + len(value)
        else:
            yield _invalid(f"metadata.annotations.{key}", value, "must be a string")
    if size > MAX_ANNOTATION_BYTES:
        message = f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes"
        yield Problem(field="metadata.annotations", message=message, reason="FieldValueTooLong")


def _list_problems(metadata: JsonObject) -> Iterator[Problem]:
    finalizers = _or_empty(metadata.get("finalizers"))
    if not isinstance(finalizers, list) or not all(isinstance(one, str) for one in finalizers):
        yield _invalid("metadata.finalizers", finalizers, "must be a list of strings")
    owners = _or_empty(metadata.get("ownerReferences"))
    if not isinstance(owners, list) or not all(isinstance(one, dict) for one in owners):
        yield _invalid("metadata.ownerReferences", owners, "must be a list of objects")
        return
    for index, owner in enumerate(owners):
        for name in ("apiVersion", "kind", "name", "uid"):
            if not isinstance(owner.get(name), str) or not owner[name]:
                field = f"metadata.ownerReferences[{index}].{name}"
                yield _invalid(field, owner.get(name), "must not be empty")


def _or_empty(value: Any) -> Any:  # noqa: ANN401 any JSON value
    return [] if value is None else value


def _is_qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= MAX_NAME_CHARACTERS and _SUBDOMAIN.fullmatch(prefix)):
        return False
    return bool(len(name) <= MAX_LABEL_CHARACTERS and _QUALIFIED.fullmatch(name))


def _invalid(field: str, value: Any, why: str) -> Problem:  # noqa: ANN401 any JSON value
    shown = f'"{value}"' if isinstance(value, str) else repr(value)
    return Problem(field=field, message=f"Invalid value: {shown[:200]}: {why}")
