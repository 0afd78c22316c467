"""core/v1 Pod."""

from collections.abc import Iterator, Sequence
from typing import Any

from gputide.kubeapi.kinds import podspec
from gputide.kubeapi.kinds.cells import AGE, NAME, NONE, at, text, wide
from gputide.kubeapi.kinds.schemas import OPEN, described
from gputide.kubeapi.model import JsonObject, Kind, Problem


def _default(obj: JsonObject) -> JsonObject:
    spec = obj.get("spec")
    full = obj | {"spec": podspec.defaulted(spec)} if isinstance(spec, dict) else obj
    status = obj.get("status") or {}
    return full | {"status": {"phase": "Pending", "qosClass": "BestEffort"} | status}


def _checked(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
    found = list(podspec.problems(obj.get("spec"), "spec"))
    before, after = _fixed(old or {}), _fixed(obj)
    if old and not found and before != after:
        message = (
            "Forbidden: pod updates may not change fields other than "
            "`spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
            "tolerations),`spec.terminationGracePeriodSeconds`"
        )
        found.append(Problem(field="spec", message=message, reason="FieldValueForbidden"))
    return found


def _fixed(pod: JsonObject) -> JsonObject:
    """Return what of a pod's spec may not change; a scheduler may still say the node."""
    spec: JsonObject = dict(pod.get("spec") or {})
    for name in ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"):
        spec.pop(name, None)
    for name in ("nodeName", "schedulingGates"):
        spec.pop(name, None)
    for name in ("containers", "initContainers", "ephemeralContainers"):
        spec[name] = [
            {key: one for key, one in container.items() if key not in ("image", "resources")}
            for container in spec.get(name) or []
        ]
    return spec


def _containers(pod: JsonObject) -> list[Any]:
    return list((pod.get("status") or {}).get("containerStatuses") or [])


def _ready(pod: JsonObject) -> str:
    wanted = len((pod.get("spec") or {}).get("containers") or [])
    return f"{sum(bool(one.get('ready')) for one in _containers(pod))}/{wanted}"


def _restarts(pod: JsonObject) -> str:
    return str(sum(int(one.get("restartCount") or 0) for one in _containers(pod)))


def _status(pod: JsonObject) -> str:
    """Return the word that kubectl shows: the worst of the containers, else the phase."""
    status = pod.get("status") or {}
    if "deletionTimestamp" in pod["metadata"]:
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    reasons = [reason for reason in map(_reason, _containers(pod)) if reason]
    is_running = any((one.get("state") or {}).get("running") for one in _containers(pod))
    worst = reasons[0] if reasons else ""
    if worst == "Completed" and is_running:
        return "Running" if _is_ready(pod) else "NotReady"
    return worst or str(status.get("reason") or status.get("phase") or "Unknown")


def _reason(container: Any) -> str:  # noqa: ANN401 any JSON value
    state = container.get("state") or {}
    waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
    if not ended:
        return str(waiting.get("reason") or "")
    if ended.get("reason"):
        return str(ended["reason"])
    signal = ended.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{ended.get('exitCode', 0)}"


def _is_ready(pod: JsonObject) -> bool:
    return any(one == ("Ready", "True") for one in _conditions(pod))


def _conditions(pod: JsonObject) -> Iterator[tuple[str, str]]:
    for one in (pod.get("status") or {}).get("conditions") or []:
        yield str(one.get("type")), str(one.get("status"))


def _gates(pod: JsonObject) -> str:
    gates = (pod.get("spec") or {}).get("readinessGates") or []
    true = {kind for kind, status in _conditions(pod) if status == "True"}
    passed = sum(one.get("conditionType") in true for one in gates)
    return f"{passed}/{len(gates)}" if gates else NONE


def _address(pod: JsonObject) -> str:
    status = pod.get("status") or {}
    addresses = status.get("podIPs") or [{"ip": status.get("podIP")}]
    return str(addresses[0].get("ip") or NONE)


POD = Kind(
    group="",
    version="v1",
    kind="Pod",
    plural="pods",
    singular="pod",
    short_names=("po",),
    categories=("all",),
    schema=described("Pod of core/v1.", "spec", spec=OPEN, status=OPEN),
    has_status=True,
    default=_default,
    validate=_checked,
    merge_keys=podspec.merge_keys("spec")
    | {"status.conditions": "type", "status.podIPs": "ip", "status.hostIPs": "ip"},
    atomic_maps=podspec.atomic_maps("spec"),
    columns=(
        NAME,
        text("Ready", _ready),
        text("Status", _status),
        text("Restarts", _restarts),
        AGE,
        wide("IP", _address),
        wide("Node", at(".spec.nodeName", NONE)),
        wide("Nominated Node", at(".status.nominatedNodeName", NONE)),
        wide("Readiness Gates", _gates),
    ),
)
