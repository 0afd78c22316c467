"""autoscaling/v2, rbac.authorization.k8s.io/v1 and policy/v1."""

from collections.abc import Sequence
from typing import Any

from gputide.kubeapi.kinds.cells import (
    AGE,
    CREATED_AT,
    NAME,
    NONE,
    UNKNOWN,
    at,
    number,
    text,
    wide,
)
from gputide.kubeapi.kinds.podspec import required
from gputide.kubeapi.kinds.schemas import (
    COUNT,
    INT_OR_STRING,
    OPEN,
    STRING,
    closed,
    described,
    items,
)
from gputide.kubeapi.model import JsonObject, Kind, Problem, Scope

_DEFAULT_METRICS = [
    {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    }
]


def _autoscaler_defaulted(obj: JsonObject) -> JsonObject:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return obj
    return obj | {
        "spec": {"minReplicas": 1} | spec | {"metrics": spec.get("metrics") or _DEFAULT_METRICS}
    }


def _autoscaler_checked(obj: JsonObject, _old: JsonObject | None) -> Sequence[Problem]:
    spec = obj.get("spec") or {}
    low, high = spec.get("minReplicas", 1), spec.get("maxReplicas")
    if isinstance(high, int) and isinstance(low, int) and high < low:
        message = f"Invalid value: {high}: must be greater than or equal to `minReplicas`"
        return [Problem(field="spec.maxReplicas", message=message)]
    return []


def _reference(obj: JsonObject) -> str:
    target = (obj.get("spec") or {}).get("scaleTargetRef") or {}
    return f"{target.get('kind')}/{target.get('name')}"


def _targets(obj: JsonObject) -> str:
    """Return `now/target` of each metric, as the server of Kubernetes prints it."""
    metrics = (obj.get("spec") or {}).get("metrics") or []
    current = (obj.get("status") or {}).get("currentMetrics") or []
    cells = [
        _target(one, current[index] if index < len(current) else {})
        for index, one in enumerate(metrics[:2])
    ]
    more = f" + {len(metrics) - 2} more..." if len(metrics) > 2 else ""
    return ", ".join(cells) + more if cells else NONE


def _target(metric: Any, current: Any) -> str:  # noqa: ANN401 any JSON value
    kind = str(metric.get("type") or "")
    part = kind[:1].lower() + kind[1:]
    source = metric.get(part) or {}
    target, now = source.get("target") or {}, (current.get(part) or {}).get("current") or {}
    prefix = f"{source['name']}: " if part in ("resource", "containerResource") else ""
    if target.get("averageUtilization") is not None:
        held = now.get("averageUtilization")
        return f"{prefix}{UNKNOWN if held is None else f'{held}%'}/{target['averageUtilization']}%"
    if target.get("averageValue") is not None:
        mark = " (avg)" if part in ("external", "object") else ""
        return f"{prefix}{now.get('averageValue') or UNKNOWN}/{target['averageValue']}{mark}"
    return f"{prefix}{now.get('value') or UNKNOWN}/{target.get('value') or '<auto>'}"


AUTOSCALER = Kind(
    group="autoscaling",
    version="v2",
    kind="HorizontalPodAutoscaler",
    plural="horizontalpodautoscalers",
    singular="horizontalpodautoscaler",
    short_names=("hpa",),
    categories=("all",),
    schema=described(
        "HorizontalPodAutoscaler of autoscaling/v2.",
        "spec",
        spec=closed(
            "scaleTargetRef",
            "maxReplicas",
            scaleTargetRef=closed("kind", "name", kind=STRING, name=STRING, apiVersion=STRING),
            minReplicas=COUNT,
            maxReplicas=COUNT | {"minimum": 1},
            metrics=items(OPEN),
            behavior=OPEN,
        ),
        status=OPEN,
    ),
    has_status=True,
    default=_autoscaler_defaulted,
    validate=_autoscaler_checked,
    merge_keys={"status.conditions": "type"},
    columns=(
        NAME,
        text("Reference", _reference),
        text("Targets", _targets),
        text("MinPods", lambda obj: str(at(".spec.minReplicas", "<unset>")(obj))),
        number("MaxPods", ".spec.maxReplicas"),
        number("Replicas", ".status.currentReplicas"),
        AGE,
    ),
)
_RBAC = "rbac.authorization.k8s.io"


def _role(kind: str, plural: str, scope: Scope) -> Kind:
    extra = {"aggregationRule": OPEN} if scope is Scope.CLUSTER else {}
    return Kind(
        group=_RBAC,
        version="v1",
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        scope=scope,
        schema=described(f"{kind} of {_RBAC}/v1.", rules=items(OPEN) | {"nullable": True}, **extra),
        columns=(NAME, CREATED_AT),
    )


def _subjects(kind: str) -> Any:  # noqa: ANN401 a reader of a cell
    def read(obj: JsonObject) -> str:
        found = [one for one in obj.get("subjects") or [] if one.get("kind") == kind]
        parts = ((one.get("namespace"), one.get("name")) for one in found)
        return ",".join("/".join(str(part) for part in names if part) for names in parts)

    return read


def _binding_checked(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
    reference = obj.get("roleRef") or {}
    found = [required(f"roleRef.{name}") for name in ("kind", "name") if not reference.get(name)]
    if old and old.get("roleRef") != obj.get("roleRef"):
        found.append(Problem(field="roleRef", message="Invalid value: cannot change roleRef"))
    return found


def _binding_defaulted(obj: JsonObject) -> JsonObject:
    reference = obj.get("roleRef")
    if not isinstance(reference, dict):
        return obj
    result = obj | {"roleRef": {"apiGroup": _RBAC} | reference}
    if isinstance(obj.get("subjects"), list):
        result["subjects"] = [_subject(one) for one in obj["subjects"]]
    return result


def _subject(subject: Any) -> Any:  # noqa: ANN401 any JSON value
    if isinstance(subject, dict) and subject.get("kind") in ("User", "Group"):
        return {"apiGroup": _RBAC} | subject
    return subject


def _binding(kind: str, plural: str, scope: Scope) -> Kind:
    return Kind(
        group=_RBAC,
        version="v1",
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        scope=scope,
        schema=described(f"{kind} of {_RBAC}/v1.", "roleRef", roleRef=OPEN, subjects=items(OPEN)),
        default=_binding_defaulted,
        validate=_binding_checked,
        atomic_maps=frozenset({"roleRef"}),
        columns=(
            NAME,
            text("Role", lambda obj: f"{obj['roleRef'].get('kind')}/{obj['roleRef'].get('name')}"),
            AGE,
            wide("Users", _subjects("User")),
            wide("Groups", _subjects("Group")),
            wide("ServiceAccounts", _subjects("ServiceAccount")),
        ),
    )


DISRUPTION_BUDGET = Kind(
    group="policy",
    version="v1",
    kind="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    singular="poddisruptionbudget",
    short_names=("pdb",),
    schema=described(
        "PodDisruptionBudget of policy/v1.",
        spec=closed(
            minAvailable=INT_OR_STRING,
            maxUnavailable=INT_OR_STRING,
            selector=OPEN,
            unhealthyPodEvictionPolicy=STRING,
        ),
        status=OPEN,
    ),
    has_status=True,
    merge_keys={"status.conditions": "type"},
    atomic_maps=frozenset({"spec.selector"}),
    columns=(
        NAME,
        text("Min Available", ".spec.minAvailable", "N/A"),
        text("Max Unavailable", ".spec.maxUnavailable", "N/A"),
        number("Allowed Disruptions", ".status.disruptionsAllowed"),
        AGE,
    ),
)
KINDS = (
    AUTOSCALER,
    _role("Role", "roles", Scope.NAMESPACED),
    _role("ClusterRole", "clusterroles", Scope.CLUSTER),
    _binding("RoleBinding", "rolebindings", Scope.NAMESPACED),
    _binding("ClusterRoleBinding", "clusterrolebindings", Scope.CLUSTER),
    DISRUPTION_BUDGET,
)
