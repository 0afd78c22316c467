from typing import Any

import pytest

from fakes.autoscalers import NOW, FakeDemand, subject
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import DemandState, Obstacle, Subject
from gputide.autoscaler.status.conditions import Condition, conditions_of, invalid, to_objects


async def found(one: Subject, source: FakeDemand | None = None) -> dict[str, Condition]:
    source = source or FakeDemand()
    if source.state is DemandState.FRESH and not source.pods:
        source.use(0.8, one)
    [outcome] = await AutoscalerEngine(source).round([one], now_seconds=NOW)
    return {condition.type: condition for condition in conditions_of(one, outcome)}


async def test_all_is_well() -> None:
    conditions = await found(subject())
    assert {name: one.status for name, one in conditions.items()} == {
        "SpecValid": "True",
        "AbleToScale": "True",
        "ScalingActive": "True",
        "ScalingLimited": "False",
        "DemandKnown": "True",
        "ForecastReady": "False",
        "BoundsInForce": "True",
    }
    assert conditions["ForecastReady"].message == "the history is being read"


async def test_an_observer_is_not_active_and_says_why() -> None:
    active = (await found(subject(scaleStrategy="observer")))["ScalingActive"]
    assert (active.status, active.reason) == ("False", "ObservedOnly")


async def test_an_obstacle_is_named() -> None:
    able = (await found(subject(obstacle=Obstacle.HPA_ON_TARGET)))["AbleToScale"]
    assert (able.status, able.reason, able.message) == (
        "False",
        "HorizontalPodAutoscalerOnTarget",
        "in the way",
    )


async def test_the_unknown_is_false_and_the_partial_unknown() -> None:
    down = await found(subject(), FakeDemand(state=DemandState.SOURCE_DOWN))
    assert (down["DemandKnown"].status, down["DemandKnown"].reason) == (
        "False",
        "SourceUnreachable",
    )
    assert down["ScalingActive"].status == "False"
    half = await found(subject(), FakeDemand(pods={"web-0": 0.1}))
    assert (half["DemandKnown"].status, half["DemandKnown"].reason) == (
        "Unknown",
        "PodsWithoutSample",
    )


@pytest.mark.parametrize("end", ["2022-12-16 00:00:00"])
async def test_a_window_that_has_ended_is_told(end: str) -> None:
    window = {
        "startTime": "2021-12-16 00:00:00",
        "endTime": end,
        "bounds": [{"cron": "* 9-15 ? * MON-FRI", "minReplicas": 10, "maxReplicas": 50}],
    }
    bounds = (await found(subject(instanceBounds=[window])))["BoundsInForce"]
    assert bounds.status == "False"
    assert "ended 2022-12-16" in bounds.message
    assert "1 to 50 replicas count instead" in bounds.message


def test_a_bad_resource_says_which_field() -> None:
    names = [(one.type, one.status, one.message) for one in invalid("spec.metrics: is missing")]
    assert names == [
        ("SpecValid", "False", "spec.metrics: is missing"),
        ("ScalingActive", "False", "spec.metrics: is missing"),
    ]


def test_the_time_changes_with_the_status_alone() -> None:
    one = Condition(type="DemandKnown", status="True", reason="a", message="b")
    before: list[dict[str, Any]] = to_objects([one], [], now_text="t1", generation=1)
    again = Condition(type="DemandKnown", status="True", reason="c", message="d")
    same = to_objects([again], before, now_text="t2", generation=2)
    assert (same[0]["lastTransitionTime"], same[0]["reason"]) == ("t1", "c")
    turned = Condition(type="DemandKnown", status="False", reason="c")
    assert (
        to_objects([turned], before, now_text="t2", generation=2)[0]["lastTransitionTime"] == "t2"
    )
