"""Which PromQL tells the demand of a resource's workload."""

from pathlib import Path

import pytest

from fakes.ahpa_yaml import ahpa_yaml
from gputide.backtest.load.ahpa_file import read_ahpa_file
from gputide.backtest.load.ahpa_query import Question, question_of
from gputide.errors import SettingError

RESOURCE = """\
    - type: Resource
      resource:
        name: gpu
        target:
          type: Utilization
          averageUtilization: 20
"""
EXTERNAL = """\
    - type: External
      external:
        metric:
          name: queue_length
          selector:
            matchLabels: {queue: 'a"b'}
            matchExpressions:
              - {key: zone, operator: In, values: [x-1, y.2]}
              - {key: gone, operator: DoesNotExist}
        target: {type: AverageValue, averageValue: "30"}
"""
PODS = """\
    - type: Pods
      pods:
        metric: {name: in_flight}
        target: {type: AverageValue, averageValue: 500m}
"""


def ask(tmp_path: Path, *changes: tuple[str, str], query: str | None = None) -> Question:
    path = tmp_path / "fib.yaml"
    path.write_text(ahpa_yaml(*changes))
    return question_of(read_ahpa_file(path).autoscaler, query=query)


def test_gpu_utilization_is_summed_over_the_workloads_pods(tmp_path: Path) -> None:
    question = ask(tmp_path)

    assert question.demand.startswith("sum(")
    assert (
        'DCGM_FI_DEV_GPU_UTIL{namespace="default", pod=~"bert-intent-detection-' in question.demand
    )
    assert (question.unit, question.target, question.is_ratio) == ("GPUs", 0.2, True)
    assert question.is_utilization
    assert question.assumed_capacity == 1
    assert question.ready is not None
    assert 'deployment="bert-intent-detection"' in question.ready


def test_cpu_does_not_guess_what_a_pod_may_use(tmp_path: Path) -> None:
    question = ask(tmp_path, ("name: gpu\n", "name: cpu\n"))

    assert "container_cpu_usage_seconds_total" in question.demand
    assert question.assumed_capacity is None
    assert question.capacity is not None


def test_an_external_metric_is_summed_under_its_selector(tmp_path: Path) -> None:
    question = ask(tmp_path, (RESOURCE, EXTERNAL))

    matchers = 'queue="a\\"b", zone=~"x\\\\-1|y\\\\.2", gone=""'
    assert question.demand == f"sum(queue_length{{{matchers}}})"
    assert (question.target, question.is_ratio, question.ready) == (30, False, None)
    assert question.warnings == (f"External metric queue_length is read as {question.demand}",)


def test_a_pods_metric_is_summed_over_the_workloads_pods(tmp_path: Path) -> None:
    question = ask(tmp_path, (RESOURCE, PODS))

    assert question.demand.startswith('sum(in_flight{namespace="default", pod=~"bert-intent-')
    assert question.target == 0.5


@pytest.mark.parametrize("metric", [RESOURCE, EXTERNAL, PODS])
def test_a_persons_own_query_is_filled_in(tmp_path: Path, metric: str) -> None:
    question = ask(tmp_path, (RESOURCE, metric), query='sum(mine{app="$workload", job!~"a$"})')

    assert question.demand == 'sum(mine{app="bert-intent-detection", job!~"a$"})'
    assert not question.is_utilization
    assert question.warnings == ()


@pytest.mark.parametrize(
    ("changes", "query", "expected"),
    [
        ([("name: gpu\n", "name: gpux\n")], None, r"spec.metrics\[0\].resource.name: 'gpux'"),
        ([("name: gpu\n", "name: rt\n")], None, r"resource.name: rt is no load that pods share"),
        ([(RESOURCE, EXTERNAL.replace("queue_length", "a.b"))], None, "'a.b' is no name"),
        (
            [(RESOURCE, EXTERNAL.replace("In,", "Is,"))],
            None,
            r"operator: 'Is' is none of In, NotIn",
        ),
        ([("name: bert-intent", "name: Bert_Intent")], None, "'Bert_Intent-detection' is no"),
        ([("kind: Deployment", "kind: Rocket")], None, "'Rocket' is not one of"),
        ([], "up{x='$nope'}", r"\$nope is unknown"),
    ],
)
def test_what_tells_no_demand_is_refused(
    tmp_path: Path, changes: list[tuple[str, str]], query: str | None, expected: str
) -> None:
    with pytest.raises(SettingError, match=expected):
        ask(tmp_path, *changes, query=query)


def test_a_template_without_a_workload_needs_a_query_without_one(tmp_path: Path) -> None:
    target = (
        "  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n"
        "    name: bert-intent-detection\n"
    )
    changes = [(target, ""), ("Autoscaler\n", "AutoscalerTemplate\n")]

    with pytest.raises(SettingError, match="scaleTargetRef: is missing: nothing names the pods"):
        ask(tmp_path, *changes)
    assert ask(tmp_path, *changes, (RESOURCE, EXTERNAL)).target == 30
