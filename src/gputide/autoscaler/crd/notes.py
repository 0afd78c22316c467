"""What the resource's fields mean, may be, and must be together: data for the schema."""

from collections.abc import Mapping
from typing import Any

REPLICAS = {"minimum": 0, "maximum": 2_147_483_647}
MAX_METRICS, MAX_WINDOWS, MAX_BOUNDS = 20, 50, 200
TIME_PATTERN = r"^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?$"
_MIN_MAX = {
    "rule": "self.minReplicas <= self.maxReplicas",
    "message": "minReplicas must not be above maxReplicas",
}


_START_END = {
    # as text, which goes where both are local times of one form; the controller compares the others
    "rule": "!has(self.startTime) || !has(self.endTime) || size(self.startTime) != 19"
    " || size(self.endTime) != 19 || self.startTime.contains('T') != self.endTime.contains('T')"
    " || self.startTime < self.endTime",
    "message": "startTime must be before endTime",
}


def _target_rules(*kinds: str) -> list[dict[str, str]]:
    fields = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}
    allowed = ", ".join(kinds)
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    rules = [{"rule": f"self.type in [{listed}]", "message": f"type must be one of {allowed}"}]
    for kind in kinds:
        rule = f"self.type == '{kind}' ? has(self.{fields[kind]}) : !has(self.{fields[kind]})"
        rules.append(
            {"rule": rule, "message": f"{fields[kind]} goes with type {kind}, and only with it"}
        )
    return rules


FIELDS = {"Resource": "resource", "External": "external", "Pods": "pods"}
_UTILIZATION = {"minimum": 0, "exclusiveMinimum": True, "description": "Percent of a pod's share."}

NOTES: Mapping[str, Mapping[str, Any]] = {
    "": {"required": ["spec"]},
    "apiVersion": {"description": "autoscaling.alibabacloud.com/v1beta1"},
    "metadata": {"type": "object", "properties": {}, "required": []},
    "spec": {
        "description": "What is scaled, by which demand, how far ahead, and within which bounds.",
        "required": ["metrics", "maxReplicas", "scaleTargetRef"],
        "x-kubernetes-validations": [
            {
                "rule": "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
                "message": "minReplicas must not be above maxReplicas",
            }
        ],
    },
    "spec.scaleTargetRef": {"description": "What is scaled: anything with a scale subresource."},
    "spec.scaleTargetRef.name": {"minLength": 1, "maxLength": 253},
    "spec.metrics": {
        "minItems": 1,
        "maxItems": MAX_METRICS,
        "description": "The first is forecast; each of the others may ask for more replicas.",
    },
    "spec.metrics[]": {
        "x-kubernetes-validations": [
            {
                "rule": f"self.type == '{kind}' ? has(self.{field}) : !has(self.{field})",
                "message": f"{field} goes with type {kind}, and only with it",
            }
            for kind, field in (
                ("Resource", "resource"),
                ("External", "external"),
                ("Pods", "pods"),
            )
        ]
    },
    "spec.metrics[].type": {"enum": ["Resource", "External", "Pods"]},
    "spec.metrics[].resource.name": {
        "minLength": 1,
        "maxLength": 63,
        "description": "gpu, gpu_memory, gpu_engine, cpu, memory, rps, rt, or a query's.",
    },
    "spec.metrics[].resource.target": {
        "x-kubernetes-validations": _target_rules("Utilization", "AverageValue")
    },
    "spec.metrics[].external.target": {
        "x-kubernetes-validations": _target_rules("AverageValue", "Value")
    },
    "spec.metrics[].pods.target": {"x-kubernetes-validations": _target_rules("AverageValue")},
    "spec.metrics[].resource.target.averageUtilization": _UTILIZATION,
    "spec.minReplicas": REPLICAS
    | {"default": 1, "description": "Outside every window; 0 scales to zero."},
    "spec.maxReplicas": REPLICAS | {"minimum": 1, "description": "Outside every window."},
    "spec.stabilizationWindowSeconds": {
        "minimum": 0,
        "maximum": 3600,
        "description": "Scale-in goes by the largest recommendation of so many seconds.",
    },
    "spec.prediction.quantile": {
        "minimum": 0,
        "exclusiveMinimum": True,
        "maximum": 100,
        "description": "Share of minutes that the forecast should cover, in percent or below 1.",
    },
    "spec.prediction.scaleUpForward": {
        "minimum": 0,
        "maximum": 86_400,
        "description": "Seconds that a pod needs until it is ready: replicas are asked for so long"
        " before their demand.",
    },
    "spec.scaleStrategy": {
        "default": "observer",
        "enum": ["observer", "auto", "proactive", "reactive"],
        "description": "observer computes and shows, and never scales; auto takes the larger of"
        " forecast and demand; proactive goes by the forecast alone, reactive by demand alone.",
    },
    "spec.instanceBounds": {
        "maxItems": MAX_WINDOWS,
        "description": "Bounds within windows of time; a later entry wins.",
    },
    "spec.instanceBounds[]": {"x-kubernetes-validations": [_START_END]},
    "spec.instanceBounds[].startTime": {"pattern": TIME_PATTERN, "maxLength": 32},
    "spec.instanceBounds[].endTime": {"pattern": TIME_PATTERN, "maxLength": 32},
    "spec.instanceBounds[].bounds": {"minItems": 1, "maxItems": MAX_BOUNDS},
    "spec.instanceBounds[].bounds[]": {"x-kubernetes-validations": [_MIN_MAX]},
    "spec.instanceBounds[].bounds[].cron": {
        "minLength": 9,
        "maxLength": 256,
        "description": "The minutes in which it holds: minute hour day month weekday, `?` and day"
        " names taken; with six fields seconds come first.",
    },
    "spec.instanceBounds[].bounds[].minReplicas": REPLICAS,
    "spec.instanceBounds[].bounds[].maxReplicas": REPLICAS,
    "spec.timeZone": {
        "maxLength": 64,
        "description": "IANA time zone of cron and windows; the controller's default if not set.",
    },
    "spec.reactiveTarget": {
        "description": "Target of demand alone, where it differs from the forecast's."
    },
    "spec.scaleInDeadBandPercent": {"minimum": 0, "maximum": 99},
    "spec.forecastCapPercent": {"minimum": 100},
    "spec.recoveryGraceSeconds": {"minimum": 0, "maximum": 86_400},
}

STATUS: Mapping[str, Any] = {
    "type": "object",
    "description": "What was found and decided in the newest round that changed anything.",
    "properties": {
        "observedGeneration": {"type": "integer", "format": "int64"},
        "metric": {"type": "string", "description": "Name of the first metric."},
        "target": {"type": "string", "description": "Its target: percent, or a quantity."},
        "current": {"type": "string", "description": "Demand, the sum over all pods."},
        "demandState": {"type": "string"},
        "podsWithSamples": {"type": "string", "description": "Ready pods with a sample / all."},
        "forecast": {"type": "string", "description": "Upper value of demand over the lead."},
        "currentReplicas": {"type": "integer", "format": "int32"},
        "desiredReplicas": {"type": "integer", "format": "int32"},
        "minReplicas": {"type": "integer", "format": "int32"},
        "maxReplicas": {"type": "integer", "format": "int32"},
        "proactiveReplicas": {"type": "integer", "format": "int32"},
        "reactiveReplicas": {"type": "integer", "format": "int32"},
        "bound": {"type": "string", "description": "Field that the bound in force comes from."},
        "timeZone": {"type": "string"},
        "periodicity": {"type": "integer", "description": "Strongest season, in seconds."},
        "periods": {"type": "array", "items": {"type": "integer"}},
        "coverage": {"type": "string", "description": "Share of the last day's bounds that held."},
        "reason": {"type": "string", "description": "What decided, in words."},
        "lastScaleTime": {"type": "string", "format": "date-time"},
        "targetRef": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("apiVersion", "kind", "name")},
        },
        "targetMetric": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("name", "type", "targets")},
        },
        "currentMetrics": {
            "type": "array",
            "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type", "status"],
                "properties": {
                    "type": {"type": "string"},
                    "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                    "reason": {"type": "string"},
                    "message": {"type": "string"},
                    "lastTransitionTime": {"type": "string", "format": "date-time"},
                    "observedGeneration": {"type": "integer", "format": "int64"},
                },
            },
        },
    },
}
