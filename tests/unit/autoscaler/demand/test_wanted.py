from typing import Any

import pytest

from fakes.autoscalers import autoscaler_object
from gputide.autoscaler.demand.assess import Wanted
from gputide.autoscaler.demand.model import ApiSource, PodsSource, SeriesSource
from gputide.autoscaler.demand.wanted import wanted_of, workload_of
from gputide.errors import SettingError
from gputide.scaling import read_autoscaler


def wanted(metric: dict[str, Any], queries: dict[str, str] | None = None) -> Wanted:
    found = read_autoscaler(autoscaler_object(metrics=[metric]))
    return wanted_of(found, queries or {}, window_seconds=120)[0]


def resource(name: str, **target: object) -> dict[str, Any]:
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def external(**metric: object) -> dict[str, Any]:
    target = {"type": "AverageValue", "averageValue": "10"}
    return {"type": "External", "external": {"metric": metric, "target": target}}


def test_a_resource_is_read_for_all_pods_by_one_query() -> None:
    found = wanted(resource("gpu", type="Utilization", averageUtilization=20))
    assert isinstance(found.source, PodsSource)
    assert found.is_share
    assert found == wanted(resource("gpu", type="Utilization", averageUtilization=90))


def test_a_persons_own_query_takes_the_place_and_keeps_the_unit() -> None:
    own = "sum by (namespace, pod) (my_gpu)"
    found = wanted(resource("gpu", type="Utilization", averageUtilization=20), {"gpu": own})
    assert isinstance(found.source, PodsSource)
    assert (found.source.query.expression, found.source.query.unit) == (own, "GPUs")
    new = wanted(resource("tokens", type="AverageValue", averageValue="5"), {"tokens": own})
    assert isinstance(new.source, PodsSource)


def test_a_resource_that_nobody_can_read_is_named() -> None:
    with pytest.raises(SettingError, match=r"metrics\[0\].resource.name: 'tokens' is no known"):
        wanted(resource("tokens", type="AverageValue", averageValue="5"))
    with pytest.raises(SettingError, match="rps is measured by AverageValue alone, unless a query"):
        wanted(resource("rps", type="Utilization", averageUtilization=5))


def test_an_external_metric_is_asked_of_the_api_or_by_its_query() -> None:
    selector = {
        "matchLabels": {"queue": "a"},
        "matchExpressions": [{"key": "zone", "operator": "In", "values": ["x", "y"]}],
    }
    found = wanted(external(name="depth", selector=selector))
    assert found.source == ApiSource(
        name="depth",
        namespace="default",
        label_selector="queue=a,zone in (x,y)",
        is_external=True,
    )
    own = wanted(external(name="depth"), {"depth": 'sum(depth{ns="$namespace", app="$workload"})'})
    assert own.source == SeriesSource(
        name="depth", expression='sum(depth{ns="default", app="web"})'
    )


def test_a_workload_of_another_kind_has_no_pods_whose_names_we_know() -> None:
    ref = {"apiVersion": "x.io/v1", "kind": "Rollout", "name": "web"}
    found = read_autoscaler(autoscaler_object(scaleTargetRef=ref, metrics=[external(name="d")]))
    assert workload_of(found) is None
    with pytest.raises(SettingError, match="cannot name pods of Rollout"):
        wanted_of(found, {"d": "sum(d)"}, window_seconds=120)
