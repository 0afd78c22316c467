"""The vendor's object as it is written, and every way of writing it wrong."""

from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any

import pytest
import yaml

from fakes.shared import TUTORIALS
from gputide.errors import SettingError
from gputide.scaling import MetricKind, Strategy, TargetKind
from gputide.scaling.resource import read_autoscaler

SHARED = TUTORIALS / "fib-gpu.yaml"

TEXT = """
apiVersion: autoscaling.alibabacloud.com/v1beta1
kind: AdvancedHorizontalPodAutoscaler
metadata:
  name: tides
  namespace: shop
  labels: {team: a}
spec:
  metrics:
  - type: Resource
    resource:
      name: gpu
      target: {type: Utilization, averageUtilization: 20}
  minReplicas: 0
  maxReplicas: 100
  prediction: {quantile: 95, scaleUpForward: 180}
  scaleStrategy: observer
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: bert}
  instanceBounds:
  - startTime: "2021-12-16 00:00:00"
    endTime: "2022-12-16 00:00:00"
    bounds:
    - {cron: "* 0-8 ? * MON-FRI", minReplicas: 4, maxReplicas: 50}
    - {cron: "* 9-15 ? *  MON-FRI", minReplicas: 10, maxReplicas: 50}
"""


def resource(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The object with some fields set anew; the key is a path, `...` takes the field away."""
    found = yaml.safe_load(TEXT)
    for path, value in (changes or {}).items():
        *parents, last = path.split(".")
        place = found
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        if value is ...:
            del place[last]
        else:
            place[last] = deepcopy(value)
    return found


def test_the_vendors_object_is_taken_as_it_stands() -> None:
    found = read_autoscaler(resource(), default_time_zone="Asia/Shanghai")

    assert (found.namespace, found.name) == ("shop", "tides")
    assert found.target is not None
    assert (found.target.kind, found.target.name) == ("Deployment", "bert")
    (metric,) = found.metrics
    assert (metric.kind, metric.name) == (MetricKind.RESOURCE, "gpu")
    assert (metric.target_kind, metric.target) == (TargetKind.UTILIZATION, 0.2)
    assert found.policy.strategy is Strategy.OBSERVER
    assert found.policy.proactive_target == found.policy.reactive_target == 0.2
    assert (found.quantile, found.lead_seconds) == (0.95, 180)
    at = found.bounds.at(datetime(2022, 3, 1, 1, tzinfo=UTC))
    assert (at.min_replicas, at.max_replicas) == (10, 50), "09:00 in Shanghai"


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_file(), reason="no recorded manifests beside the checkout")
def test_the_tutorials_file_is_taken_byte_for_byte() -> None:
    found = read_autoscaler(yaml.safe_load(SHARED.read_text()))

    assert found.name == "fib-gpu"
    assert found.metrics[0].target == 0.2
    assert (found.bounds.min_replicas, found.bounds.max_replicas) == (0, 100)
    assert [b.min_replicas for b in found.bounds.windows[0].bounds] == [4, 10, 12]
    assert len(found.bounds.conditions(datetime(2026, 1, 1, tzinfo=UTC))) == 1


def test_what_is_left_out_has_a_default() -> None:
    taken = ["spec.minReplicas", "spec.prediction", "spec.scaleStrategy", "spec.instanceBounds"]
    found = read_autoscaler(resource(dict.fromkeys([*taken, "metadata.namespace"], ...)))

    assert found.namespace == "default"
    assert found.bounds.min_replicas == 1
    assert (found.quantile, found.lead_seconds) == (0.95, 180)
    assert found.policy.strategy is Strategy.OBSERVER
    assert found.bounds.zone.key == "UTC"


def test_external_and_pods_metrics_are_taken_with_their_labels() -> None:
    external = {
        "type": "External",
        "external": {
            "metric": {
                "name": "sls_ingress_qps",
                "selector": {
                    "matchLabels": {"route": "a"},
                    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}],
                },
            },
            "target": {"type": "AverageValue", "averageValue": "1500m"},
        },
    }
    pods = {
        "type": "Pods",
        "pods": {
            "metric": {"name": "queue"},
            "target": {"type": "AverageValue", "averageValue": 4},
        },
    }
    found = read_autoscaler(resource({"spec.metrics": [external, pods]}))

    first, second = found.metrics
    assert (first.name, first.target, dict(first.labels)) == (
        "sls_ingress_qps",
        1.5,
        {"route": "a"},
    )
    assert first.expressions[0].values == ["b"]
    assert (second.kind, second.name, second.target) == (MetricKind.PODS, "queue", 4)
    assert found.policy.proactive_target == 1.5
    assert not found.policy.is_utilization


def test_a_later_metric_may_have_a_plain_value_as_its_target() -> None:
    value = {
        "type": "External",
        "external": {"metric": {"name": "latency"}, "target": {"type": "Value", "value": "200m"}},
    }
    metrics = [*resource()["spec"]["metrics"], value]
    found = read_autoscaler(resource({"spec.metrics": metrics}))
    assert (found.metrics[1].target_kind, found.metrics[1].target) == (TargetKind.VALUE, 0.2)


def test_knatives_template_names_no_target() -> None:
    kind = "AdvancedHorizontalPodAutoscalerTemplate"
    found = read_autoscaler(resource({"kind": kind, "spec.scaleTargetRef": ...}))
    assert found.target is None


def test_dates_that_yaml_parsed_itself_are_taken() -> None:
    day = {"startTime": date(2021, 12, 16), "endTime": datetime(2022, 12, 16, tzinfo=UTC)}
    bounds = [{"cron": "* * * * *", "minReplicas": 1, "maxReplicas": 2}]
    found = read_autoscaler(resource({"spec.instanceBounds": [day | {"bounds": bounds}]}))
    assert found.bounds.at(datetime(2021, 12, 16, tzinfo=UTC)).max_replicas == 2
    assert found.bounds.at(datetime(2021, 12, 15, 23, tzinfo=UTC)).max_replicas == 100


def test_what_a_server_adds_is_no_error() -> None:
    added = {"metadata.uid": "1", "metadata.managedFields": [], "status": {"currentReplicas": 1}}
    assert read_autoscaler(resource(added)).name == "tides"


BOUND = {"cron": "* * * * *", "minReplicas": 1, "maxReplicas": 2}
METRIC = "spec.metrics.0.resource"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"apiVersion": "v1"}, "apiVersion: 'v1' is not autoscaling.alibabacloud.com/v1beta1"),
        (
            {"kind": "Pod"},
            ("kind: 'Pod' is neither AdvancedHorizontalPodAutoscaler"
            " nor AdvancedHorizontalPodAutoscalerTemplate"),
        ),
        ({"spec": ...}, "spec: is missing"),
        ({"metadata.name": ...}, "metadata.name: is missing"),
        ({"spec.maxReplicas": ...}, "spec.maxReplicas: is missing"),
        ({"spec.scaleTargetRef": ...}, "spec.scaleTargetRef: is missing"),
        ({"spec.scaleTargetRef.name": ...}, "spec.scaleTargetRef.name: is missing"),
        ({"spec.maxReplica": 3}, "spec.maxReplica: is no field of this object"),
        ({f"{METRIC}.weight": 3}, "spec.metrics[0].resource.weight: is no field of this object"),
        ({"extra": 3}, "extra: is no field of this object"),
        ({"spec.maxReplicas": "10"}, "spec.maxReplicas: expected `int`, got `str`"),
        ({"spec.maxReplicas": True}, "spec.maxReplicas: expected `int`, got `bool`"),
        ({"spec.maxReplicas": 1.5}, "spec.maxReplicas: expected `int`, got `float`"),
        ({"spec.minReplicas": 101}, "spec.minReplicas: 101 is more than maxReplicas 100"),
        ({"spec.minReplicas": -1}, "spec.minReplicas: must be at least 0, is -1"),
        ({"spec.metrics": []}, "spec.metrics: needs at least one metric"),
        (
            {"spec.metrics.0.type": "Object"},
            "spec.metrics[0].type: 'Object' is none of Resource, External, Pods",
        ),
        ({METRIC: ...}, "spec.metrics[0].resource: is missing"),
        (
            {"spec.metrics.0.pods": {"metric": {"name": "x"}, "target": {"type": "Value"}}},
            "spec.metrics[0].pods: does not go with type Resource",
        ),
        (
            {f"{METRIC}.target.type": "Value"},
            "spec.metrics[0].resource.target.type: 'Value' is none of Utilization, AverageValue",
        ),
        (
            {f"{METRIC}.target.averageUtilization": ...},
            "spec.metrics[0].resource.target.averageUtilization: is missing",
        ),
        (
            {f"{METRIC}.target.averageUtilization": 0},
            "spec.metrics[0].resource.target.averageUtilization: must be above 0",
        ),
        (
            {f"{METRIC}.target.value": 3},
            "spec.metrics[0].resource.target.value: does not go with type Utilization",
        ),
        (
            {
                "spec.metrics": [
                    {
                        "type": "External",
                        "external": {
                            "metric": {"name": "x"},
                            "target": {"type": "Value", "value": 3},
                        },
                    }
                ]
            },
            ("spec.metrics[0].external.target.type: "
            "the first metric is forecast, so it must add up over the pods: use AverageValue"),
        ),
        (
            {"spec.prediction.quantile": 100},
            ("spec.prediction.quantile: "
            "100 is no quantile: give 0 < q < 1, or percent below 100"),
        ),
        (
            {"spec.prediction.quantile": 0},
            "spec.prediction.quantile: 0 is no quantile: give 0 < q < 1, or percent below 100",
        ),
        (
            {"spec.prediction.scaleUpForward": -1},
            "spec.prediction.scaleUpForward: must be 0 to 86400, is -1",
        ),
        ({"metadata": [1]}, "metadata: expected `object`, got `array`"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_line_that_names_the_field(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingError) as caught:
        read_autoscaler(resource(changes))
    assert str(caught.value) == message


@pytest.mark.parametrize("source", [None, [], "text", 3])
def test_what_is_no_object_is_refused(source: object) -> None:
    with pytest.raises(SettingError, match=r"^object: expected `object`, got "):
        read_autoscaler(source)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "a\nb"},
        {"spec.timeZone": "a\nb"},
        {"spec.scaleStrategy": "a\nb"},
        {"spec.reactiveTarget": "a\nb"},
        {"spec.instanceBounds.0.startTime": "a\nb"},
        {"spec.instanceBounds.0.bounds.0.cron": "a\nb"},
        {"spec.instanceBounds.0.bounds.0.cron": "* * * *\n99"},
        {"spec.a\nb": 1},
    ],
)
def test_a_refusal_is_one_line_even_where_the_text_has_two(changes: dict[str, Any]) -> None:
    with pytest.raises(SettingError) as caught:
        read_autoscaler(resource(changes))
    assert "\n" not in str(caught.value)
