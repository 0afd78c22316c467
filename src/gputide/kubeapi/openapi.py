"""OpenAPI v3: the index, and a document a group version, as kubectl reads them."""

from collections.abc import Iterator, Mapping

from gputide.kubeapi.model import JsonObject, Kind, Scope
from gputide.kubeapi.registry import GroupVersion

_REF = "#/components/schemas/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_PATCH_TYPES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
"""Without the strategic one, so that kubectl goes by its own types there: our schemas say less."""

_DESCRIPTIONS = {
    "apiVersion": (
        "APIVersion defines the versioned schema of this representation of an object; servers "
        "convert recognized schemas to the latest internal value."
    ),
    "kind": "Kind is the REST resource that this object represents, in CamelCase.",
    "metadata": "Standard object's metadata.",
}
_TEXT: JsonObject = {"type": "string"}
_TEXTS: JsonObject = {"type": "object", "additionalProperties": _TEXT}
_META: JsonObject = {
    "type": "object",
    "description": "ObjectMeta is metadata that all persisted resources must have.",
    "properties": {
        "annotations": _TEXTS | {"description": "Unstructured key value map for tools."},
        "creationTimestamp": {
            "type": "string",
            "format": "date-time",
            "description": "When the server created this object.",
        },
        "deletionTimestamp": {
            "type": "string",
            "format": "date-time",
            "description": "When the deletion of this object was asked for.",
        },
        "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
        "finalizers": {
            "type": "array",
            "items": _TEXT,
            "description": "Must be empty before the object is deleted from the registry.",
        },
        "generateName": _TEXT | {"description": "Prefix of a name that the server completes."},
        "generation": {
            "type": "integer",
            "format": "int64",
            "description": "Number of the desired state; grows with each change of it.",
        },
        "labels": _TEXTS | {"description": "Map of keys and values to organize and select."},
        "managedFields": {
            "type": "array",
            "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "description": "Which writer set which fields.",
        },
        "name": _TEXT | {"description": "Unique within a namespace; cannot be changed."},
        "namespace": _TEXT | {"description": "The space within which the name is unique."},
        "ownerReferences": {
            "type": "array",
            "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "description": "Objects that this one depends on; it goes when they are all gone.",
        },
        "resourceVersion": _TEXT | {"description": "Opaque; changes with every write."},
        "selfLink": _TEXT,
        "uid": _TEXT | {"description": "Unique in time and space; set by the server."},
    },
}


def index(tags: Mapping[str, str]) -> JsonObject:
    """Return the index; `tags`: path such as `apis/apps/v1` -> hash of its document."""
    return {
        "paths": {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={tag}"}
            for path, tag in tags.items()
        }
    }


def group_document(group: GroupVersion) -> JsonObject:
    """Return the document of one group version; computed resources have paths and no schema."""
    paths: JsonObject = {}
    schemas: JsonObject = {META: _META}
    for kind in group.kinds.values():
        paths |= dict(_paths(kind))
        schemas[schema_name(kind)] = _schema(kind)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def schema_name(kind: Kind) -> str:
    """Return the name of a kind's schema, with the group's domain reversed.

    >>> schema_name(Kind(group="a.example.com", version="v1", kind="Box", plural="boxes"))
    'com.example.a.v1.Box'
    """
    if "." not in kind.group:
        return f"io.k8s.api.{kind.group or 'core'}.{kind.version}.{kind.kind}"
    domain = ".".join(reversed(kind.group.split(".")))
    return f"{domain}.{kind.version}.{kind.kind}"


def _schema(kind: Kind) -> JsonObject:
    stated = kind.schema.get("properties") or {}
    properties: JsonObject = {
        "apiVersion": _TEXT | {"description": _DESCRIPTIONS["apiVersion"]},
        "kind": _TEXT | {"description": _DESCRIPTIONS["kind"]},
        "metadata": {
            "allOf": [{"$ref": _REF + META}],
            "default": {},
            "description": _DESCRIPTIONS["metadata"],
        },
    }
    own = {name: one for name, one in stated.items() if name not in properties}
    return kind.schema | {
        "properties": properties | own,
        "x-kubernetes-group-version-kind": [_gvk(kind)],
    }


def _paths(kind: Kind) -> Iterator[tuple[str, JsonObject]]:
    prefix = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    is_namespaced = kind.scope is Scope.NAMESPACED
    if is_namespaced:
        yield f"{prefix}/{kind.plural}", {"get": _operation(kind, "list")}
    spot = "/namespaces/{namespace}" if is_namespaced else ""
    collection = f"{prefix}{spot}/{kind.plural}"
    shared = {"parameters": [_path_parameter("namespace")]} if is_namespaced else {}
    yield (
        collection,
        shared
        | {
            "get": _operation(kind, "list"),
            "post": _writing(kind, "post", ("application/json",)),
            "delete": _operation(kind, "deletecollection"),
        },
    )
    parameters = [_path_parameter("name"), *shared.get("parameters", [])]
    item: JsonObject = {
        "parameters": parameters,
        "get": _operation(kind, "get"),
        "put": _writing(kind, "put", ("application/json",)),
        "patch": _writing(kind, "patch", _PATCH_TYPES),
        "delete": _operation(kind, "delete"),
    }
    yield f"{collection}/{{name}}", item
    if kind.has_status:
        names = ("parameters", "get", "put", "patch")
        yield f"{collection}/{{name}}/status", {name: item[name] for name in names}


def _operation(kind: Kind, action: str) -> JsonObject:
    return {
        "operationId": f"{action}{kind.group.title().replace('.', '')}{kind.version}{kind.kind}",
        "responses": {
            "200": {"description": "OK", "content": {"application/json": {"schema": _ref(kind)}}}
        },
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": _gvk(kind),
    }


def _writing(kind: Kind, action: str, types: tuple[str, ...]) -> JsonObject:
    names = ("dryRun", "fieldManager", "fieldValidation", "pretty")
    parameters = [{"name": one, "in": "query", "schema": {"type": "string"}} for one in names]
    body = {"content": {one: {"schema": _ref(kind)} for one in types}}
    return _operation(kind, action) | {"parameters": parameters, "requestBody": body}


def _path_parameter(name: str) -> JsonObject:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _ref(kind: Kind) -> JsonObject:
    return {"$ref": _REF + schema_name(kind)}


def _gvk(kind: Kind) -> JsonObject:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}
