"""What every kind with a pod template shares: merge keys, defaults, checks, columns."""

from collections.abc import Iterable, Iterator
from typing import Any

from gputide.kubeapi.kinds.cells import joined, selector, wide
from gputide.kubeapi.model import Column, JsonObject, Problem
from gputide.kubeapi.patch.shape import canonical

_KEYS = {
    "containers": "name",
    "containers.env": "name",
    "containers.ports": "containerPort,protocol=TCP",
    "containers.volumeMounts": "mountPath",
    "containers.volumeDevices": "devicePath",
    "volumes": "name",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey,whenUnsatisfiable",
    "resourceClaims": "name",
    "schedulingGates": "name",
}
_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
_POD_DEFAULTS: JsonObject = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
}
_PROBE_DEFAULTS = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def merge_keys(prefix: str) -> dict[str, str]:
    """Return the merge keys of a pod spec that lies at `prefix`."""
    rows = dict(_KEYS)
    for name in _CONTAINER_LISTS[1:]:
        rows |= {key.replace("containers", name, 1): one for key, one in _KEYS.items()
                 if key.startswith("containers")}  # fmt: skip
    return {f"{prefix}.{path}": key for path, key in rows.items()}


def atomic_maps(prefix: str) -> frozenset[str]:
    """Return the maps of a pod spec at `prefix` that are replaced as a whole."""
    return frozenset({f"{prefix}.nodeSelector"})


def defaulted(spec: JsonObject) -> JsonObject:
    """Return a pod spec with what kubelets and controllers rely on filled in."""
    result = _POD_DEFAULTS | {"securityContext": {}} | spec
    for name in _CONTAINER_LISTS:
        if isinstance(spec.get(name), list):
            result[name] = [_container(one) if isinstance(one, dict) else one for one in spec[name]]
    return result


def template_defaulted(obj: JsonObject) -> JsonObject:
    """Return an object with the defaults of the pod template in its spec."""
    spec: Any = obj.get("spec")
    template: Any = spec.get("template") if isinstance(spec, dict) else None
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        return obj
    full = template | {"spec": defaulted(template["spec"])}
    return obj | {"spec": spec | {"template": full}}


def problems(spec: Any, field: str) -> Iterator[Problem]:  # noqa: ANN401 a client may send anything
    """Yield what is wrong with a pod spec that lies at `field`."""
    containers = spec.get("containers") if isinstance(spec, dict) else None
    if not isinstance(containers, list) or not containers:
        yield required(f"{field}.containers")
        return
    seen: set[str] = set()
    for index, one in enumerate(containers):
        at = f"{field}.containers[{index}]"
        for name in ("name", "image"):
            if not isinstance(one, dict) or not one.get(name):
                yield required(f"{at}.{name}")
        title = str(one.get("name")) if isinstance(one, dict) else ""
        if title in seen:
            yield Problem(
                field=f"{at}.name",
                message=f'Duplicate value: "{title}"',
                reason="FieldValueDuplicate",
            )
        seen.add(title)


def template_problems(obj: JsonObject) -> Iterator[Problem]:
    """Yield what is wrong with spec.selector and spec.template of a workload."""
    spec = obj.get("spec") or {}
    template = spec.get("template") or {}
    wanted = (spec.get("selector") or {}).get("matchLabels") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not spec.get("selector"):
        yield required("spec.selector")
    elif any(labels.get(name) != value for name, value in wanted.items()):
        why = "`selector` does not match template `labels`"
        message = f"Invalid value: {canonical(labels)}: {why}"
        yield Problem(field="spec.template.metadata.labels", message=message)
    yield from problems(template.get("spec"), "spec.template.spec")


def selector_kept(obj: JsonObject, old: JsonObject | None) -> Iterator[Problem]:
    """Yield the problem of a selector that was changed."""
    before = ((old or {}).get("spec") or {}).get("selector")
    now = (obj.get("spec") or {}).get("selector")
    if before and before != now:
        message = f"Invalid value: {canonical(now)}: field is immutable"
        yield Problem(field="spec.selector", message=message)


def required(field: str) -> Problem:
    """Return the problem of a field that is not there."""
    return Problem(field=field, message="Required value", reason="FieldValueRequired")


def template_columns(*, has_selector: bool = True) -> tuple[Column, ...]:
    """Return the columns that `-o wide` shows of a workload."""
    columns = (wide("Containers", _of_containers("name")), wide("Images", _of_containers("image")))
    return (*columns, wide("Selector", selector)) if has_selector else columns


def _of_containers(name: str) -> Any:  # noqa: ANN401 a reader of a cell
    def read(obj: JsonObject) -> str:
        template = (obj.get("spec") or {}).get("template") or {}
        containers: Iterable[Any] = (template.get("spec") or {}).get("containers") or []
        return joined(one.get(name, "") for one in containers)

    return read


def _container(container: JsonObject) -> JsonObject:
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition(":")[2]
    is_pinned = "@" in image or tag not in ("", "latest")
    result: JsonObject = {
        "imagePullPolicy": "IfNotPresent" if is_pinned else "Always",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    } | container
    if isinstance(container.get("ports"), list):
        result["ports"] = [
            {"protocol": "TCP"} | one if isinstance(one, dict) else one
            for one in container["ports"]
        ]
    for name in _PROBES:
        if isinstance(container.get(name), dict):
            result[name] = _PROBE_DEFAULTS | _probe(container[name])
    return result


def _probe(probe: JsonObject) -> JsonObject:
    get = probe.get("httpGet")
    return (
        probe | {"httpGet": {"path": "/", "scheme": "HTTP"} | get}
        if isinstance(get, dict)
        else probe
    )
