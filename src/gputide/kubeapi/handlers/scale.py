"""The scale subresource: autoscaling/v1 Scale, a view of an object's replicas."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from gputide.kubeapi.errors import StatusError, bad_request, conflict, invalid
from gputide.kubeapi.handlers import write
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.handlers.body import media_type, parsed, read_body, unsupported
from gputide.kubeapi.handlers.context import Asked
from gputide.kubeapi.handlers.prepare import metadata_of
from gputide.kubeapi.model import JsonObject, Kind, Problem, ScalePaths

SCALE = Kind(group="autoscaling", version="v1", kind="Scale", plural="scales")
MAX_REPLICAS = 2**31 - 1


async def get(asked: Asked) -> Response:
    """Answer with the Scale of an object."""
    obj = await asked.storage.get(asked.kind, asked.namespace, asked.target.name)
    return json_answer(scale_of(obj, _paths(asked)))


async def update(asked: Asked) -> Response:
    """Set the replicas that a Scale says."""
    body = await write.body_of(asked, [])
    return await _scaled(asked, lambda _: body)


async def patch(asked: Asked) -> Response:
    """Set the replicas that a patch of the Scale says."""
    found = media_type(asked.request)
    if found not in write.PATCH_TYPES:
        raise unsupported(found, write.PATCH_TYPES)
    content = parsed(await read_body(asked.request, asked.context.limits.max_body_bytes))
    kind_of_patch = write.MERGE if found in (write.STRATEGIC, write.APPLY) else found
    return await _scaled(asked, write.patching(kind_of_patch, content, SCALE))


def scale_of(obj: JsonObject, paths: ScalePaths) -> JsonObject:
    """Return the Scale of an object; raise 500 where the object has no replicas."""
    metadata = obj["metadata"]
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    replicas = _at(obj, paths.spec_replicas)
    if not isinstance(replicas, int):
        path = ".".join(paths.spec_replicas)
        message = f'the spec replicas field ".{path}" does not exist'
        raise StatusError(500, "InternalError", message)
    status: JsonObject = {"replicas": _at(obj, paths.status_replicas) or 0}
    selector = _selector(_at(obj, paths.label_selector)) if paths.label_selector else ""
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in names if name in metadata},
        "spec": {"replicas": replicas},
        "status": status,
    }


async def _scaled(asked: Asked, make: Callable[[JsonObject], JsonObject]) -> Response:
    paths = _paths(asked)
    preparation = write.prepared(replace(asked, target=replace(asked.target, subresource="")), [])
    preparation.subresource = "scale"

    def change(old: JsonObject) -> JsonObject:
        wanted = make(scale_of(_with_replicas(old, paths), paths))
        metadata = metadata_of(wanted)
        for name in ("resourceVersion", "uid"):
            if metadata.get(name) and metadata[name] != old["metadata"].get(name):
                raise conflict(asked.resource, asked.target.name, f"another {name} is there")
        replicas = _replicas(wanted, asked.target.name)
        return preparation.updated(old, _set(old, paths.spec_replicas, replicas))

    obj = await asked.storage.update(
        asked.kind,
        asked.namespace,
        asked.target.name,
        change,
        is_dry_run=preparation.options.is_dry_run,
    )
    return json_answer(scale_of(obj, paths))


def _replicas(scale: JsonObject, name: str) -> int:
    spec = scale.get("spec")
    value = (spec if isinstance(spec, dict) else {}).get("replicas", 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad_request("spec.replicas must be an integer")
    if not 0 <= value <= MAX_REPLICAS:
        message = f"Invalid value: {value}: must be greater than or equal to 0"
        raise invalid("Scale", name, [Problem(field="spec.replicas", message=message)])
    return value


def _with_replicas(obj: JsonObject, paths: ScalePaths) -> JsonObject:
    """Return the object with replicas, so that what has none yet can be scaled."""
    if isinstance(_at(obj, paths.spec_replicas), int):
        return obj
    return _set(obj, paths.spec_replicas, 0)


def _paths(asked: Asked) -> ScalePaths:
    if asked.kind.scale is None:
        raise StatusError(404, "NotFound", "the server could not find the requested resource")
    return asked.kind.scale


def _at(obj: Any, path: Sequence[str]) -> Any:  # noqa: ANN401 any JSON value
    for name in path:
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def _set(obj: JsonObject, path: Sequence[str], value: Any) -> JsonObject:  # noqa: ANN401 any JSON value
    first, rest = path[0], path[1:]
    if not rest:
        return obj | {first: value}
    inner = obj.get(first)
    return obj | {first: _set(inner if isinstance(inner, dict) else {}, rest, value)}


def _selector(value: Any) -> str:  # noqa: ANN401 any JSON value
    """Return a selector as text; an object of matchLabels and matchExpressions is written out."""
    if not isinstance(value, dict):
        return str(value or "")
    terms = [f"{key}={one}" for key, one in (value.get("matchLabels") or {}).items()]
    for one in value.get("matchExpressions") or []:
        key, operator = one.get("key"), one.get("operator")
        listed = f"({','.join(one.get('values') or [])})"
        words = {
            "In": f"{key} in {listed}",
            "NotIn": f"{key} notin {listed}",
            "Exists": f"{key}",
            "DoesNotExist": f"!{key}",
        }
        terms.append(words.get(str(operator), f"{key}"))
    return ",".join(terms)
