"""apps/v1 Deployment, ReplicaSet, StatefulSet and DaemonSet, batch/v1 Job."""

from collections.abc import Callable, Sequence
from typing import Any

from gputide.kubeapi.kinds import podspec
from gputide.kubeapi.kinds.cells import AGE, NAME, at, number, pairs, text
from gputide.kubeapi.kinds.schemas import (
    BOOLEAN,
    COUNT,
    INTEGER,
    OPEN,
    STRING,
    closed,
    described,
    items,
)
from gputide.kubeapi.model import Column, JsonObject, Kind, Problem, ScalePaths

_TEMPLATE = "spec.template.spec"
_KEYS = podspec.merge_keys(_TEMPLATE) | {"status.conditions": "type"}
_ATOMIC = podspec.atomic_maps(_TEMPLATE) | {"spec.selector"}
_SCALE = ScalePaths(label_selector=("spec", "selector"))
_POD_TEMPLATE = closed(metadata=OPEN, spec=OPEN)
_NODE_SELECTOR = at(".spec.template.spec.nodeSelector")
_Default = Callable[[JsonObject], JsonObject]


def _defaulting(**fields: Any) -> _Default:  # noqa: ANN401 any JSON value
    def default(obj: JsonObject) -> JsonObject:
        filled = podspec.template_defaulted(obj)
        spec = filled.get("spec")
        return filled | {"spec": fields | spec} if isinstance(spec, dict) else filled

    return default


def _rolling(obj: JsonObject) -> JsonObject:
    filled = _defaulting(
        replicas=1, strategy={}, revisionHistoryLimit=10, progressDeadlineSeconds=600
    )(obj)
    spec = filled.get("spec")
    if isinstance(spec, dict) and isinstance(spec["strategy"], dict):
        strategy: JsonObject = {"type": "RollingUpdate"} | spec["strategy"]
        if strategy["type"] == "RollingUpdate":
            given = strategy.get("rollingUpdate") or {}
            strategy["rollingUpdate"] = {"maxUnavailable": "25%", "maxSurge": "25%"} | given
        return filled | {"spec": spec | {"strategy": strategy}}
    return filled


def _checked(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
    return [*podspec.template_problems(obj), *podspec.selector_kept(obj, old)]


def _checked_job(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
    spec = ((obj.get("spec") or {}).get("template") or {}).get("spec") or {}
    found = list(podspec.problems(spec, _TEMPLATE))
    if spec.get("restartPolicy") not in ("Never", "OnFailure"):
        message = (
            f'Required value: valid values: "OnFailure", "Never", not {spec.get("restartPolicy")!r}'
        )
        field = f"{_TEMPLATE}.restartPolicy"
        found.append(Problem(field=field, message=message, reason="FieldValueRequired"))
    before = (old or {}).get("spec") or {}
    if before and before.get("template") != (obj.get("spec") or {}).get("template"):
        message = "Invalid value: field is immutable"
        found.append(Problem(field="spec.template", message=message))
    return found


def _ready_of(wanted: str, ready: str) -> Callable[[JsonObject], str]:
    all_of, ready_of = at(wanted, 0), at(ready, 0)
    return lambda obj: f"{ready_of(obj)}/{all_of(obj)}"


def _job_status(obj: JsonObject) -> str:
    status = obj.get("status") or {}
    true = {
        one.get("type") for one in status.get("conditions") or [] if one.get("status") == "True"
    }
    for condition, word in (
        ("Complete", "Complete"),
        ("Failed", "Failed"),
        ("Suspended", "Suspended"),
    ):
        if condition in true:
            return word
    if (obj.get("spec") or {}).get("suspend"):
        return "Suspended"
    return "Terminating" if "deletionTimestamp" in obj["metadata"] else "Running"


def _workload(name: str, plural: str, short: str, spec: JsonObject, **more: Any) -> Kind:  # noqa: ANN401 of Kind
    return Kind(
        group="apps",
        version="v1",
        kind=name,
        plural=plural,
        singular=name.lower(),
        short_names=(short,),
        categories=("all",),
        schema=described(f"{name} of apps/v1.", "spec", spec=spec, status=OPEN),
        has_status=True,
        validate=_checked,
        merge_keys=_KEYS,
        atomic_maps=_ATOMIC,
        **more,
    )


def _columns(*columns: Column) -> tuple[Column, ...]:
    return (NAME, *columns, AGE, *podspec.template_columns())


DEPLOYMENT = _workload(
    "Deployment",
    "deployments",
    "deploy",
    closed(
        "selector",
        "template",
        replicas=COUNT,
        selector=OPEN,
        template=_POD_TEMPLATE,
        strategy=OPEN,
        minReadySeconds=COUNT,
        revisionHistoryLimit=COUNT,
        paused=BOOLEAN,
        progressDeadlineSeconds=COUNT,
    ),
    scale=_SCALE,
    default=_rolling,
    columns=_columns(
        text("Ready", _ready_of(".spec.replicas", ".status.readyReplicas")),
        number("Up-to-date", ".status.updatedReplicas"),
        number("Available", ".status.availableReplicas"),
    ),
)
REPLICA_SET = _workload(
    "ReplicaSet",
    "replicasets",
    "rs",
    closed(
        "selector", replicas=COUNT, selector=OPEN, template=_POD_TEMPLATE, minReadySeconds=COUNT
    ),
    scale=_SCALE,
    default=_defaulting(replicas=1),
    columns=_columns(
        number("Desired", ".spec.replicas"),
        number("Current", ".status.replicas"),
        number("Ready", ".status.readyReplicas"),
    ),
)
STATEFUL_SET = _workload(
    "StatefulSet",
    "statefulsets",
    "sts",
    closed(
        "selector",
        "template",
        replicas=COUNT,
        selector=OPEN,
        template=_POD_TEMPLATE,
        serviceName=STRING,
        podManagementPolicy=STRING,
        updateStrategy=OPEN,
        revisionHistoryLimit=COUNT,
        minReadySeconds=COUNT,
        ordinals=OPEN,
        volumeClaimTemplates=items(OPEN),
        persistentVolumeClaimRetentionPolicy=OPEN,
    ),
    scale=_SCALE,
    default=_defaulting(
        replicas=1,
        podManagementPolicy="OrderedReady",
        revisionHistoryLimit=10,
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"},
    ),
    columns=(
        NAME,
        text("Ready", _ready_of(".spec.replicas", ".status.readyReplicas")),
        AGE,
        *podspec.template_columns(has_selector=False),
    ),
)
DAEMON_SET = _workload(
    "DaemonSet",
    "daemonsets",
    "ds",
    closed(
        "selector",
        "template",
        selector=OPEN,
        template=_POD_TEMPLATE,
        updateStrategy=OPEN,
        minReadySeconds=COUNT,
        revisionHistoryLimit=COUNT,
    ),
    default=_defaulting(
        revisionHistoryLimit=10,
        updateStrategy={
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
        },
    ),
    columns=_columns(
        number("Desired", ".status.desiredNumberScheduled"),
        number("Current", ".status.currentNumberScheduled"),
        number("Ready", ".status.numberReady"),
        number("Up-to-date", ".status.updatedNumberScheduled"),
        number("Available", ".status.numberAvailable"),
        text("Node Selector", lambda obj: pairs(_NODE_SELECTOR(obj))),
    ),
)
JOB = Kind(
    group="batch",
    version="v1",
    kind="Job",
    plural="jobs",
    singular="job",
    categories=("all",),
    schema=described(
        "Job of batch/v1.",
        "spec",
        spec=closed(
            "template",
            template=_POD_TEMPLATE,
            selector=OPEN,
            manualSelector=BOOLEAN,
            parallelism=COUNT,
            completions=COUNT,
            completionMode=STRING,
            backoffLimit=COUNT,
            activeDeadlineSeconds=INTEGER,
            ttlSecondsAfterFinished=COUNT,
            suspend=BOOLEAN,
            podFailurePolicy=OPEN,
            podReplacementPolicy=STRING,
            backoffLimitPerIndex=COUNT,
            maxFailedIndexes=COUNT,
            managedBy=STRING,
            successPolicy=OPEN,
        ),
        status=OPEN,
    ),
    has_status=True,
    validate=_checked_job,
    default=_defaulting(
        parallelism=1, completions=1, completionMode="NonIndexed", backoffLimit=6, suspend=False
    ),
    merge_keys=_KEYS,
    atomic_maps=_ATOMIC,
    columns=(
        NAME,
        text("Status", _job_status),
        text("Completions", _ready_of(".spec.completions", ".status.succeeded")),
        AGE,
        *podspec.template_columns(),
    ),
)
KINDS = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB)
