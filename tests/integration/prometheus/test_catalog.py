"""The demand queries give the right number on series as exporters write them."""

import pytest

from fakes.prometheus_server import PrometheusServer
from gputide.prometheus.catalog import Metric, capacity_query, demand_query, ready_query
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings
from gputide.prometheus.workload import Workload

AT = 1_772_409_600 + 600
BERT = Workload(namespace="default", name="bert-intent-detection")


async def value(server: PrometheusServer, expression: str) -> float:
    async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
        found = await prometheus.query(expression, at_seconds=AT)
    assert found.labels == ({},)
    return float(found.values[0])


@pytest.mark.parametrize(
    ("metric", "demand"),
    [
        (Metric.GPU, 0.75),  # 50 % under one style of labels, once; 25 % under the other
        (Metric.GPU_ENGINE, 0.25),
        (Metric.GPU_MEMORY, 2.0**30),
        (Metric.CPU, 0.5),
        (Metric.MEMORY, 2e9),
        (Metric.RPS, 0.5),
        (Metric.RESPONSE_TIME, 0.5),
    ],
)
async def test_demand_is_the_sum_over_the_workloads_pods_in_base_units(
    prometheus_server: PrometheusServer, metric: Metric, demand: float
) -> None:
    assert await value(prometheus_server, demand_query(metric, BERT)) == pytest.approx(demand)


async def test_ready_pods_come_from_the_cluster_state(prometheus_server: PrometheusServer) -> None:
    assert await value(prometheus_server, ready_query(Metric.GPU, BERT)) == 3


async def test_without_the_cluster_state_pods_with_the_metric_are_counted(
    prometheus_server: PrometheusServer,
) -> None:
    unlisted = Workload(namespace="other", name="bert-intent-detection")

    assert await value(prometheus_server, ready_query(Metric.GPU, unlisted)) == 1


@pytest.mark.parametrize(("metric", "capacity"), [(Metric.GPU, 1.0), (Metric.CPU, 0.5)])
async def test_capacity_is_what_a_pod_requests(
    prometheus_server: PrometheusServer, metric: Metric, capacity: float
) -> None:
    assert await value(prometheus_server, capacity_query(metric, BERT) or "") == capacity


async def test_a_workload_without_pods_has_no_demand_rather_than_zero(
    prometheus_server: PrometheusServer,
) -> None:
    absent = Workload(namespace="default", name="absent")
    async with Prometheus(PrometheusSettings(url=prometheus_server.url)) as prometheus:
        for metric in Metric:
            found = await prometheus.query(demand_query(metric, absent), at_seconds=AT)
            assert found.labels == ()
