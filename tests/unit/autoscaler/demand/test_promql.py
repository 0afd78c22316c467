import re

import pytest

from gputide.autoscaler.demand.catalog import QUERIES, Shape
from gputide.autoscaler.demand.promql import current_query, is_groupable, past_query
from gputide.errors import SettingError
from gputide.prometheus.catalog import Metric
from gputide.prometheus.workload import Workload

RPS = QUERIES[Metric.RPS, Shape.AMOUNT].expression
WEB = Workload(namespace="shop", name="web")
API = Workload(namespace="core", name="api.v2")


def test_the_whole_cluster_is_asked_at_once() -> None:
    assert current_query(RPS, age_seconds=90, window_seconds=120) == (
        'sum by (namespace, pod) ((rate(http_requests_total{namespace!=""}[120s])'
        ' and timestamp(http_requests_total{namespace!=""}) >= time() - 90))'
    )


def test_the_past_of_several_workloads_is_one_query_by_workload() -> None:
    assert past_query(RPS, [WEB, API], how="sum", window_seconds=120) == (
        "sum by (namespace, workload) (label_replace(sum by (namespace, pod) "
        '(rate(http_requests_total{namespace=~"core|shop", '
        'pod=~"api[.]v2-[a-z0-9]+-[a-z0-9]{5}|web-[a-z0-9]+-[a-z0-9]{5}"}[120s])), '
        '"workload", "$1", "pod", "^(.+)-[a-z0-9]+-[a-z0-9]{5}$"))'
    )


def test_a_name_that_pods_do_not_tell_is_asked_for_alone() -> None:
    long = Workload(namespace="shop", name="w" * 60)
    assert not is_groupable(long)
    assert '"workload", "wwww' in past_query(RPS, [long], how="sum", window_seconds=60)
    with pytest.raises(SettingError, match="one by one"):
        past_query(RPS, [long, WEB], how="sum", window_seconds=60)
    with pytest.raises(SettingError, match="of one kind"):
        past_query(
            RPS,
            [WEB, Workload(namespace="shop", name="db", kind="StatefulSet")],
            how="sum",
            window_seconds=60,
        )


@pytest.mark.parametrize("key", QUERIES, ids=str)
def test_every_query_is_filled_in_to_the_last_word(key: tuple[Metric, Shape]) -> None:
    expression = QUERIES[key].expression
    filled = (
        current_query(expression, age_seconds=90, window_seconds=120),
        past_query(expression, [WEB], how="sum", window_seconds=120),
    )
    for text in filled:
        assert not re.search(r"\$[a-z]", text)
    now, past = filled
    assert now.count("timestamp(") == expression.count("$fresh(") + expression.count("$rate(")
    assert now.count("timestamp(") > 0
    assert "timestamp(" not in past
