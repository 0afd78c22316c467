from pathlib import Path
from typing import Any

import pytest
import yaml

from fakes.ahpa_yaml import ahpa_yaml
from fakes.shared import TUTORIALS
from gputide.autoscaler.crd.definition import COLUMNS, definition, to_yaml
from gputide.kubeapi import validation
from gputide.kubeapi.crd import kind_from_crd

FILE = Path(__file__).parents[4] / "deploy" / "manifests" / "crd-ahpa.yaml"


def schema() -> dict[str, Any]:
    [version] = definition()["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return found


def problems(obj: dict[str, Any]) -> list[str]:
    return [f"{one.field}: {one.message}" for one in validation.problems(obj, schema())]


def test_the_file_that_is_applied_is_what_the_types_say() -> None:
    assert FILE.read_text(encoding="utf-8") == to_yaml(), "write it anew with tools/crd"


def test_the_columns_are_the_tutorials() -> None:
    assert [name.upper() for name, _, _, is_wide in COLUMNS if not is_wide] == [
        *("STRATEGY", "REFERENCE", "METRIC", "TARGET(%)", "CURRENT(%)", "DESIREDPODS"),
        *("REPLICAS", "MINPODS", "MAXPODS", "AGE"),
    ]


def test_our_own_api_server_takes_it() -> None:
    [kind] = kind_from_crd(definition())
    assert (kind.kind, kind.short_names) == ("AdvancedHorizontalPodAutoscaler", ("ahpa",))
    assert kind.has_status


def test_the_schema_is_structural() -> None:
    def walk(node: dict[str, Any], path: str) -> None:
        assert not {"$ref", "anyOf", "title", "$defs"} & node.keys(), path
        assert "type" in node or "x-kubernetes-int-or-string" in node, path
        for name, one in (node.get("properties") or {}).items():
            walk(one, f"{path}.{name}")
        for name in ("items", "additionalProperties"):
            if isinstance(node.get(name), dict):
                walk(node[name], f"{path}.{name}")

    walk(schema(), "")


def test_a_window_that_ends_before_it_starts_has_a_rule() -> None:
    windows = schema()["properties"]["spec"]["properties"]["instanceBounds"]["items"]
    [rule] = windows["x-kubernetes-validations"]
    assert rule["message"] == "startTime must be before endTime"


def test_the_resource_of_the_tutorial_is_valid() -> None:
    assert problems(yaml.safe_load(ahpa_yaml())) == []


@pytest.mark.shared
def test_the_tutorials_own_file_is_valid() -> None:
    text = (TUTORIALS / "fib-gpu.yaml").read_text(encoding="utf-8")
    assert problems(yaml.safe_load(text)) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (("scaleStrategy: observer", "scaleStrategy: fast"), "spec.scaleStrategy"),
        (("maxReplicas: 100", "maxReplicas: many"), "spec.maxReplicas"),
        (("quantile: 95", "quantile: 101"), "spec.prediction.quantile"),
        (("type: Resource", "type: Guess"), "spec.metrics[0].type"),
        (("minReplicas: 0", "minReplicas: -1"), "spec.minReplicas"),
    ],
)
def test_a_wrong_field_is_named(change: tuple[str, str], field: str) -> None:
    found = problems(yaml.safe_load(ahpa_yaml(change)))
    assert [one.split(":")[0] for one in found] == [field]
