import pytest

from fakes.autoscalers import NOW, FakeDemand, subject
from gputide.autoscaler.crd.definition import definition
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import DemandState
from gputide.autoscaler.status.build import build_status, invalid_status, reason_text, time_text
from gputide.autoscaler.status.conditions import invalid
from gputide.kubeapi import validation


async def status_of(source: FakeDemand, **more: object) -> dict[str, object]:
    one = subject(**more)  # type: ignore[arg-type]  # parts of the resource's spec
    if source.state is DemandState.FRESH:
        source.use(1.89, one)
    [outcome] = await AutoscalerEngine(source).round([one], now_seconds=NOW)
    return build_status(one, outcome, {}, generation=3)


async def test_the_status_shows_demand_bound_and_decision() -> None:
    status = await status_of(FakeDemand(), scaleStrategy="observer", minReplicas=0)
    conditions = status.pop("conditions")
    assert isinstance(conditions, list)
    assert len(conditions) == 7
    assert status.pop("reason") == (
        "Demand 10 (demand 1.89 / target 0.2) -> NoForecast ? (there is none) -> "
        "ScaleUpLimit 8 (the most that the behavior allows now) -> "
        "ObservedOnly 8 (an observer writes nothing)"
    )
    assert status == {
        "observedGeneration": 3,
        "metric": "gpu",
        "target": "20",
        "current": "189",
        "demandState": "DemandKnown",
        "podsWithSamples": "4/4",
        "currentReplicas": 4,
        "desiredReplicas": 10,
        "minReplicas": 0,
        "maxReplicas": 50,
        "reactiveReplicas": 10,
        "bound": "spec",
        "timeZone": "UTC",
        "periods": [],
        "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "targetMetric": {"name": "gpu", "type": "Resource", "targets": "20"},
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {"name": "gpu", "current": {"averageUtilization": 189}},
            }
        ],
    }


async def test_the_unknown_is_left_out_and_never_null() -> None:
    status = await status_of(FakeDemand(state=DemandState.EMPTY))
    assert "current" not in status
    assert None not in status.values()
    assert status["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "gpu", "current": {}}}
    ]


@pytest.mark.parametrize("state", [DemandState.FRESH, DemandState.SOURCE_DOWN])
async def test_every_status_is_what_the_resource_definition_allows(state: DemandState) -> None:
    status = await status_of(FakeDemand(state=state))
    [version] = definition()["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]["properties"]["status"]
    assert validation.problems(status, schema, "status") == []


def test_a_resource_that_cannot_be_read_keeps_what_was_known() -> None:
    status = invalid_status(
        invalid("spec.metrics: is missing"), {"current": "5"}, now_seconds=NOW, generation=4
    )
    assert status["current"] == "5"
    assert status["observedGeneration"] == 4
    assert [one["type"] for one in status["conditions"]] == ["SpecValid", "ScalingActive"]


async def test_a_reason_chain_is_one_bounded_line() -> None:
    one = subject()
    [outcome] = await AutoscalerEngine(FakeDemand()).round([one], now_seconds=NOW)
    assert "\n" not in reason_text(outcome)
    assert len(reason_text(outcome)) <= 500
    assert time_text(0) == "1970-01-01T00:00:00Z"
