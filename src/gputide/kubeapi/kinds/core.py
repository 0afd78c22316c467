"""core/v1 Namespace, ConfigMap, Secret, ServiceAccount, Node and Event; Lease."""

import base64
import binascii
from collections.abc import Sequence

from gputide.kubeapi.kinds.cells import AGE, NAME, at, joined, text, wide
from gputide.kubeapi.kinds.schemas import (
    BOOLEAN,
    INTEGER,
    OPEN,
    STRING,
    STRINGS,
    TIME,
    closed,
    described,
    items,
)
from gputide.kubeapi.model import Column, JsonObject, Kind, Problem, Scope


def _namespace_defaulted(obj: JsonObject) -> JsonObject:
    metadata = obj.get("metadata") or {}
    labels = {"kubernetes.io/metadata.name": metadata.get("name", "")} | (
        metadata.get("labels") or {}
    )
    spec = {"finalizers": ["kubernetes"]} | (obj.get("spec") or {})
    status = {"phase": "Active"} | (obj.get("status") or {})
    return obj | {"metadata": metadata | {"labels": labels}, "spec": spec, "status": status}


NAMESPACE = Kind(
    group="",
    version="v1",
    kind="Namespace",
    plural="namespaces",
    singular="namespace",
    short_names=("ns",),
    scope=Scope.CLUSTER,
    schema=described("Namespace of core/v1.", spec=OPEN, status=OPEN),
    has_status=True,
    default=_namespace_defaulted,
    columns=(NAME, text("Status", ".status.phase"), AGE),
)


def _count(*fields: str) -> Column:
    def read(obj: JsonObject) -> int:
        return sum(len(obj.get(field) or {}) for field in fields)

    return Column(name="Data", read=read, type="integer")


def _kept(obj: JsonObject, old: JsonObject | None) -> list[Problem]:
    """Return the problem of data that is immutable and was changed."""
    if not (old or {}).get("immutable"):
        return []
    fields = ("data", "binaryData", "stringData", "immutable", "type")
    message = "Forbidden: field is immutable when `immutable` is set"
    return [
        Problem(field=field, message=message, reason="FieldValueForbidden")
        for field in fields
        if (old or {}).get(field) != obj.get(field)
    ]


def _secret_defaulted(obj: JsonObject) -> JsonObject:
    """`stringData` is write-only: it goes into `data`."""
    result: JsonObject = {"type": "Opaque"} | obj
    texts = result.pop("stringData", None)
    if isinstance(texts, dict):
        coded = {name: base64.b64encode(str(one).encode()).decode() for name, one in texts.items()}
        result["data"] = (result.get("data") or {}) | coded
    return result


def _secret_checked(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
    found = _kept(obj, old)
    for name, value in (obj.get("data") or {}).items():
        try:
            base64.b64decode(value or "", validate=True)
        except (binascii.Error, TypeError, ValueError):
            found.append(Problem(field=f"data[{name}]", message="Invalid value: is no base64"))
    if old and old.get("type") != obj.get("type"):
        message = f'Invalid value: "{obj.get("type")}": field is immutable'
        found.append(Problem(field="type", message=message))
    return found


CONFIG_MAP = Kind(
    group="",
    version="v1",
    kind="ConfigMap",
    plural="configmaps",
    singular="configmap",
    short_names=("cm",),
    schema=described("ConfigMap of core/v1.", data=STRINGS, binaryData=STRINGS, immutable=BOOLEAN),
    validate=_kept,
    columns=(NAME, _count("data", "binaryData"), AGE),
)
SECRET = Kind(
    group="",
    version="v1",
    kind="Secret",
    plural="secrets",
    singular="secret",
    schema=described(
        "Secret of core/v1.", data=STRINGS, stringData=STRINGS, type=STRING, immutable=BOOLEAN
    ),
    default=_secret_defaulted,
    validate=_secret_checked,
    columns=(NAME, text("Type", ".type"), _count("data"), AGE),
)
SERVICE_ACCOUNT = Kind(
    group="",
    version="v1",
    kind="ServiceAccount",
    plural="serviceaccounts",
    singular="serviceaccount",
    short_names=("sa",),
    schema=described(
        "ServiceAccount of core/v1.",
        secrets=items(OPEN),
        imagePullSecrets=items(OPEN),
        automountServiceAccountToken=BOOLEAN,
    ),
    merge_keys={"secrets": "name", "imagePullSecrets": "name"},
    columns=(
        NAME,
        Column(name="Secrets", read=lambda obj: len(obj.get("secrets") or []), type="integer"),
        AGE,
    ),
)
_ROLE = "node-role.kubernetes.io/"


def _node_status(node: JsonObject) -> str:
    ready = at('.status.conditions[?(@.type=="Ready")].status')(node)
    words = ["Ready" if ready == "True" else "NotReady" if ready else "Unknown"]
    if (node.get("spec") or {}).get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _node_roles(node: JsonObject) -> str:
    labels = node["metadata"].get("labels") or {}
    return joined(sorted(name.removeprefix(_ROLE) for name in labels if name.startswith(_ROLE)))


def _address(kind: str) -> str:
    return f'.status.addresses[?(@.type=="{kind}")].address'


NODE = Kind(
    group="",
    version="v1",
    kind="Node",
    plural="nodes",
    singular="node",
    short_names=("no",),
    scope=Scope.CLUSTER,
    schema=described("Node of core/v1.", spec=OPEN, status=OPEN),
    has_status=True,
    merge_keys={
        "spec.taints": "key,effect",
        "spec.podCIDRs": "",
        "status.conditions": "type",
        "status.addresses": "type",
    },
    columns=(
        NAME,
        text("Status", _node_status),
        text("Roles", _node_roles),
        AGE,
        text("Version", ".status.nodeInfo.kubeletVersion"),
        wide("Internal-IP", _address("InternalIP")),
        wide("External-IP", _address("ExternalIP")),
        wide("OS-Image", ".status.nodeInfo.osImage", "<unknown>"),
        wide("Kernel-Version", ".status.nodeInfo.kernelVersion", "<unknown>"),
        wide("Container-Runtime", ".status.nodeInfo.containerRuntimeVersion", "<unknown>"),
    ),
)


def _last_seen(event: JsonObject) -> str | None:
    series = event.get("series") or {}
    seen: str | None = (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("deprecatedLastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )
    return seen


def _about(event: JsonObject) -> str:
    target = event.get("involvedObject") or event.get("regarding") or {}
    return f"{str(target.get('kind', '')).lower()}/{target.get('name', '')}"


def _source(event: JsonObject) -> str:
    source = event.get("source") or {}
    names = [source.get("component") or event.get("reportingComponent"), source.get("host")]
    return ", ".join(name for name in names if name)


_EVENT_COLUMNS = (
    Column(name="Last Seen", read=_last_seen, type="date"),
    text("Type", ".type"),
    text("Reason", ".reason"),
    text("Object", _about),
    wide("Subobject", ".involvedObject.fieldPath", ""),
    wide("Source", _source),
    text("Message", lambda obj: str(obj.get("message") or obj.get("note") or "").strip()),
    Column(name="First Seen", read=at(".firstTimestamp"), type="date", priority=1),
    Column(name="Count", read=at(".count", 1), type="integer", priority=1),
    Column(name="Name", read=at(".metadata.name"), format="name", priority=1),
)
EVENT = Kind(
    group="",
    version="v1",
    kind="Event",
    plural="events",
    singular="event",
    short_names=("ev",),
    schema=described(
        "Event of core/v1.",
        involvedObject=OPEN,
        reason=STRING,
        message=STRING,
        source=OPEN,
        firstTimestamp=STRING,
        lastTimestamp=STRING,
        count=INTEGER,
        type=STRING,
        eventTime=OPEN | {"type": "string", "nullable": True},
        series=OPEN,
        action=STRING,
        related=OPEN,
        reportingComponent=STRING,
        reportingInstance=STRING,
    ),
    columns=_EVENT_COLUMNS,
)
LEASE = Kind(
    group="coordination.k8s.io",
    version="v1",
    kind="Lease",
    plural="leases",
    singular="lease",
    schema=described(
        "Lease of coordination.k8s.io/v1.",
        spec=closed(
            holderIdentity=STRING,
            leaseDurationSeconds=INTEGER | {"minimum": 1},
            acquireTime=TIME,
            renewTime=TIME,
            leaseTransitions=INTEGER,
            strategy=STRING,
            preferredHolder=STRING,
        ),
    ),
    columns=(NAME, text("Holder", ".spec.holderIdentity", ""), AGE),
)
KINDS = (NAMESPACE, CONFIG_MAP, SECRET, SERVICE_ACCOUNT, NODE, EVENT, LEASE)
