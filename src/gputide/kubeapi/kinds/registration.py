"""apiextensions.k8s.io/v1 CustomResourceDefinition and apiregistration.k8s.io/v1 APIService."""

from collections.abc import Sequence

from gputide.kubeapi.kinds.cells import AGE, CREATED_AT, NAME, text
from gputide.kubeapi.kinds.podspec import required
from gputide.kubeapi.kinds.schemas import BOOLEAN, INTEGER, OPEN, STRING, closed, described, items
from gputide.kubeapi.model import JsonObject, Kind, Problem, Scope


def _definition_defaulted(obj: JsonObject) -> JsonObject:
    spec = obj.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("names"), dict):
        return obj
    kind = str(spec["names"].get("kind", ""))
    names = {"singular": kind.lower(), "listKind": f"{kind}List"} | spec["names"]
    return obj | {"spec": {"conversion": {"strategy": "None"}} | spec | {"names": names}}


def _definition_checked(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    wanted = f"{(spec.get('names') or {}).get('plural')}.{spec.get('group')}"
    found = []
    if obj["metadata"].get("name") != wanted:
        message = f'Invalid value: must be spec.names.plural+"."+spec.group, {wanted!r}'
        found.append(Problem(field="metadata.name", message=message))
    versions = spec.get("versions") or []
    if sum(bool(one.get("storage")) for one in versions) != 1:
        message = "Invalid value: must have exactly one version marked as storage version"
        found.append(Problem(field="spec.versions", message=message))
    found += [
        required(f"spec.versions[{index}].schema.openAPIV3Schema")
        for index, one in enumerate(versions)
        if one.get("served") and not (one.get("schema") or {}).get("openAPIV3Schema")
    ]
    found += [
        Problem(field=f"spec.{name}", message="Invalid value: field is immutable")
        for name in ("group", "scope")
        if before and before.get(name) != spec.get(name)
    ]
    if (spec.get("conversion") or {}).get("strategy") == "Webhook":
        message = 'Unsupported value: "Webhook": this server converts by strategy None alone'
        found.append(Problem(field="spec.conversion.strategy", message=message))
    return found


def _service_defaulted(obj: JsonObject) -> JsonObject:
    spec = obj.get("spec")
    service = spec.get("service") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(service, dict):
        return obj
    return obj | {"spec": spec | {"service": {"port": 443} | service}}


def _service_checked(obj: JsonObject, _old: JsonObject | None) -> Sequence[Problem]:
    spec = obj.get("spec") or {}
    found = []
    if obj["metadata"].get("name") != f"{spec.get('version')}.{spec.get('group')}":
        message = 'Invalid value: must be `spec.version+"."+spec.group`'
        found.append(Problem(field="metadata.name", message=message))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        message = "Invalid value: may not be true if caBundle is present"
        found.append(Problem(field="spec.insecureSkipTLSVerify", message=message))
    return found


def _service(obj: JsonObject) -> str:
    service = (obj.get("spec") or {}).get("service")
    return f"{service.get('namespace')}/{service.get('name')}" if service else "Local"


def _available(obj: JsonObject) -> str:
    for one in (obj.get("status") or {}).get("conditions") or []:
        if one.get("type") == "Available":
            reason = f" ({one.get('reason')})" if one.get("status") != "True" else ""
            return f"{one.get('status')}{reason}"
    return "Unknown"


DEFINITION = Kind(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    singular="customresourcedefinition",
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    scope=Scope.CLUSTER,
    schema=described(
        "CustomResourceDefinition of apiextensions.k8s.io/v1.",
        "spec",
        spec=closed(
            "group",
            "names",
            "scope",
            "versions",
            group=STRING,
            names=closed(
                "kind",
                "plural",
                kind=STRING,
                plural=STRING,
                singular=STRING,
                listKind=STRING,
                shortNames=items(STRING),
                categories=items(STRING),
            ),
            scope=STRING | {"enum": ["Namespaced", "Cluster"]},
            versions=items(OPEN),
            conversion=OPEN,
            preserveUnknownFields=BOOLEAN,
        ),
        status=OPEN,
    ),
    has_status=True,
    default=_definition_defaulted,
    validate=_definition_checked,
    merge_keys={"status.conditions": "type"},
    columns=(NAME, CREATED_AT),
)
API_SERVICE = Kind(
    group="apiregistration.k8s.io",
    version="v1",
    kind="APIService",
    plural="apiservices",
    singular="apiservice",
    categories=("api-extensions",),
    scope=Scope.CLUSTER,
    schema=described(
        "APIService of apiregistration.k8s.io/v1.",
        "spec",
        spec=closed(
            "groupPriorityMinimum",
            "versionPriority",
            service=closed(name=STRING, namespace=STRING, port=INTEGER),
            group=STRING,
            version=STRING,
            insecureSkipTLSVerify=BOOLEAN,
            caBundle=STRING,
            groupPriorityMinimum=INTEGER,
            versionPriority=INTEGER,
        ),
        status=OPEN,
    ),
    has_status=True,
    default=_service_defaulted,
    validate=_service_checked,
    merge_keys={"status.conditions": "type"},
    columns=(NAME, text("Service", _service), text("Available", _available), AGE),
)
KINDS = (DEFINITION, API_SERVICE)
