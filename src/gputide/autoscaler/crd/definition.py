"""The whole CustomResourceDefinition, as an object and as the file that is applied."""

from typing import Any

import yaml

from gputide.autoscaler.crd.notes import NOTES, STATUS
from gputide.autoscaler.crd.schema import structural_schema
from gputide.scaling import wire

GROUP, VERSION = "autoscaling.alibabacloud.com", "v1beta1"
PLURAL, SINGULAR, SHORT = (
    "advancedhorizontalpodautoscalers",
    "advancedhorizontalpodautoscaler",
    "ahpa",
)
KIND = "AdvancedHorizontalPodAutoscaler"

# name, JSONPath, type, and whether only `-o wide` shows it
COLUMNS = (
    ("Strategy", ".spec.scaleStrategy", "string", False),
    ("Reference", ".spec.scaleTargetRef.name", "string", False),
    ("Metric", ".status.metric", "string", False),
    ("Target(%)", ".status.target", "string", False),
    ("Current(%)", ".status.current", "string", False),
    ("DesiredPods", ".status.desiredReplicas", "integer", False),
    ("Replicas", ".status.currentReplicas", "integer", False),
    ("MinPods", ".status.minReplicas", "integer", False),
    ("MaxPods", ".status.maxReplicas", "integer", False),
    ("Age", ".metadata.creationTimestamp", "date", False),
    ("Forecast", ".status.forecast", "string", True),
    ("Demand", ".status.demandState", "string", True),
    ("Bound", ".status.bound", "string", True),
    ("Zone", ".status.timeZone", "string", True),
    ("Reason", ".status.reason", "string", True),
)


def definition() -> dict[str, Any]:
    """Return the CustomResourceDefinition."""
    schema = structural_schema(wire.Resource, {path: dict(note) for path, note in NOTES.items()})
    schema["properties"]["metadata"] = {"type": "object"}
    schema["properties"]["status"] = STATUS
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": SINGULAR,
                "shortNames": [SHORT],
                "categories": ["all"],
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [_column(*column) for column in COLUMNS],
                }
            ],
        },
    }


def _column(name: str, path: str, kind: str, is_wide: bool) -> dict[str, Any]:  # noqa: FBT001  a row
    column: dict[str, Any] = {"name": name, "jsonPath": path, "type": kind}
    return column | ({"priority": 1} if is_wide else {})


def to_yaml() -> str:
    """Return the definition as the file of deploy/manifests."""
    head = "# Made from the types that read the resource: tools/crd writes it anew.\n"

    class Dumper(yaml.SafeDumper):
        """Writes no anchors: a reader should not have to look up and down."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002  the library's form
            """Return that nothing is shared."""
            return True

    return head + yaml.dump(definition(), Dumper=Dumper, sort_keys=False, width=100)
