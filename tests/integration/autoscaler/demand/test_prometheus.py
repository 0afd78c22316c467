"""The catalog's queries, asked of a real Prometheus."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fakes.http_server import http_server
from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from gputide.autoscaler.demand.catalog import QUERIES, Shape
from gputide.autoscaler.demand.model import ApiSource, PastRequest, PodsSource, SeriesSource
from gputide.autoscaler.demand.prometheus import (
    PrometheusDemand,
    ReadSettings,
    chunks,
    pods_answer,
)
from gputide.autoscaler.demand.promql import current_query
from gputide.autoscaler.model import DemandState
from gputide.clock import SystemClock
from gputide.prometheus.catalog import Metric
from gputide.prometheus.client import Prometheus
from gputide.prometheus.model import InstantResult
from gputide.prometheus.settings import PrometheusSettings
from gputide.prometheus.workload import Workload

START = 1_790_000_040
MINUTES = 120
GPU = PodsSource(name="gpu", query=QUERIES[Metric.GPU, Shape.SHARE])
END = START + 60 * (MINUTES - 1)


def series(name: str, value: float, **labels: str) -> RecordedSeries:
    return RecordedSeries(name, labels, start_seconds=START, values=[value] * MINUTES)


def util(value: float, *, gpu: str, **labels: str) -> RecordedSeries:
    return series("DCGM_FI_DEV_GPU_UTIL", value, UUID=f"GPU-{gpu}", **labels)


def process(value: float, *, gpu: str, pod: str, pid: str) -> RecordedSeries:
    return series(
        "DCGM_CUSTOM_PROCESS_SM_UTIL",
        value,
        UUID=f"GPU-{gpu}",
        NamespaceName="shop",
        PodName=pod,
        ProcessId=pid,
    )


WEB = [f"web-7d4b9c-abcd{n}" for n in range(4)]
RECORDED = [
    # one whole GPU, scraped twice: it counts once
    util(40, gpu="a", namespace="shop", pod=WEB[0], job="one"),
    util(40, gpu="a", namespace="shop", pod=WEB[0], job="two"),
    # without honor_labels: the pod of the workload is in exported_pod
    util(30, gpu="b", exported_namespace="shop", exported_pod=WEB[1], pod="exporter-x"),
    # a GPU that two pods share, copied whole to both; their processes tell them apart
    util(90, gpu="c", namespace="shop", pod=WEB[2]),
    util(90, gpu="c", namespace="shop", pod=WEB[3]),
    process(20, gpu="c", pod=WEB[2], pid="1"),
    process(5, gpu="c", pod=WEB[2], pid="2"),
    process(60, gpu="c", pod=WEB[3], pid="3"),
    process(39, gpu="a", pod=WEB[0], pid="4"),  # of a whole GPU: its utilization tells already
    util(70, gpu="d", namespace="core", pod="db-0"),
    RecordedSeries(
        "http_requests_total",
        {"namespace": "shop", "pod": WEB[0]},
        start_seconds=START,
        values=[120.0 * minute for minute in range(MINUTES)],
    ),
    series("queue_depth", 7, queue="a"),
    series("queue_depth", 5, queue="b"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    folder: Path = tmp_path_factory.mktemp("prometheus")
    write_history(folder, RECORDED)
    with running_prometheus(folder) as prometheus:
        yield prometheus


def request(name: str, namespace: str = "shop", kind: str = "Deployment") -> PastRequest:
    workload = Workload(namespace=namespace, name=name, kind=kind)
    return PastRequest(row=name, workload=workload, source=GPU)


async def test_the_past_is_by_workload_and_shared_gpus_are_counted_by_process(
    server: PrometheusServer,
) -> None:
    async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
        source = PrometheusDemand(prometheus)
        past = await source.past(
            [request("web"), request("db", "core", "StatefulSet"), request("nobody")],
            start_seconds=START,
            end_seconds=END,
        )
        pods = await source.past_pods(request("web"), start_seconds=START, end_seconds=END)

    assert past.problem == ""
    np.testing.assert_allclose(past.rows["web"], 0.40 + 0.30 + 0.25 + 0.60)
    np.testing.assert_allclose(past.rows["db"], 0.70)
    assert np.isnan(past.rows["nobody"]).all()
    assert len(past.rows["web"]) == MINUTES
    assert pods is not None
    assert set(pods.tolist()) == {4.0}


async def test_samples_that_are_too_old_are_not_demand(server: PrometheusServer) -> None:
    async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
        source = PrometheusDemand(prometheus)
        found = await source.read([GPU], now_seconds=SystemClock().now_seconds())
    assert found[GPU].state is DemandState.FRESH
    assert found[GPU].pods == {}


@pytest.mark.parametrize(("age", "is_known"), [(90, True), (30, False)])
async def test_a_rate_holds_no_longer_than_a_sample_may_be_old(
    server: PrometheusServer, *, age: float, is_known: bool
) -> None:
    query = QUERIES[Metric.RPS, Shape.AMOUNT].expression
    asked = current_query(query, age_seconds=age, window_seconds=600)
    async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
        found = await prometheus.query_range(
            asked, start_seconds=END + 60, end_seconds=END + 60, step_seconds=60
        )
    assert len(found.series) == is_known
    for one in found.series:
        np.testing.assert_allclose(one.values, 2.0, rtol=0.1)


async def test_a_series_of_its_own_is_summed_and_an_empty_one_is_unknown(
    server: PrometheusServer,
) -> None:
    queue = SeriesSource(name="queue", expression=f"queue_depth @ {END}")
    nothing = SeriesSource(name="none", expression="no_such_series")
    broken = SeriesSource(name="broken", expression=f"(queue_depth / 0) @ {END}")
    wrong = SeriesSource(name="wrong", expression="sum(")
    async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
        found = await PrometheusDemand(prometheus).read(
            [queue, nothing, broken, wrong], now_seconds=0
        )
    assert (found[queue].value, found[queue].series_count) == (12.0, 2)
    assert (found[nothing].value, found[nothing].state) == (None, DemandState.EMPTY)
    assert found[broken].state in (DemandState.NOT_A_NUMBER, DemandState.SOURCE_REFUSED)
    assert found[wrong].state is DemandState.SOURCE_REFUSED
    assert "parse error" in found[wrong].text


@pytest.mark.parametrize("key", QUERIES, ids=str)
async def test_prometheus_takes_every_query(
    server: PrometheusServer, key: tuple[Metric, Shape]
) -> None:
    source = PodsSource(name=key[0], query=QUERIES[key])
    asked = PastRequest(row=0, workload=Workload(namespace="shop", name="web"), source=source)
    async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
        demand = PrometheusDemand(prometheus)
        [answer] = (await demand.read([source], now_seconds=0)).values()
        past = await demand.past([asked], start_seconds=START, end_seconds=START + 600)
    assert answer.state is DemandState.FRESH
    assert past.problem == ""


async def test_a_server_that_is_away_is_named_and_nothing_is_raised() -> None:
    settings = PrometheusSettings(url="http://127.0.0.1:1", timeout_seconds=2)
    async with Prometheus(settings) as prometheus:
        source = PrometheusDemand(prometheus)
        [answer] = (await source.read([GPU], now_seconds=0)).values()
        past = await source.past([request("web")], start_seconds=START, end_seconds=END)
    assert answer.state is DemandState.SOURCE_DOWN
    assert "127.0.0.1:1" in answer.text
    assert past.rows == {}
    assert "127.0.0.1:1" in past.problem


async def test_a_slow_server_does_not_hold_a_round_up() -> None:
    async with http_server(lambda _request: None) as server:
        settings = PrometheusSettings(url=server.url, timeout_seconds=30)
        async with Prometheus(settings) as prometheus:
            source = PrometheusDemand(prometheus, ReadSettings(deadline_seconds=0.2))
            [answer] = (await source.read([GPU], now_seconds=0)).values()
    assert (answer.state, answer.text) == (
        DemandState.SOURCE_DOWN,
        "no answer within 0.2 s",
    )


async def test_without_a_server_it_is_said_that_none_is_configured() -> None:
    api = ApiSource(name="x", namespace="a", label_selector="", is_external=True)
    found = await PrometheusDemand(None).read([GPU, api], now_seconds=0)
    assert {one.state for one in found.values()} == {DemandState.NOT_CONFIGURED}
    past = await PrometheusDemand(None).past([], start_seconds=0, end_seconds=0)
    assert past.problem == "no Prometheus is configured"


async def test_why_there_is_none_reaches_whoever_asks() -> None:
    source = PrometheusDemand(None)
    source.use(None, "the ConfigMap names none")
    [answer] = (await source.read([GPU], now_seconds=0)).values()
    assert answer.text == "the ConfigMap names none"


def test_one_query_holds_workloads_of_one_kind_whose_names_their_pods_tell() -> None:
    many = [request(f"w{n}") for n in range(45)]
    long = request("w" * 60)
    sets = [request(f"s{n}", kind="StatefulSet") for n in range(2)]
    assert sorted(len(chunk) for chunk in chunks([*many, long, *sets])) == [1, 2, 5, 40]


def test_two_series_of_one_pod_are_seen() -> None:
    result = InstantResult(
        expression="x",
        labels=({"namespace": "a", "pod": "p"}, {"namespace": "a", "pod": "p", "x": "y"}),
        values=np.array([1.0, np.inf]),
        at_seconds=np.zeros(2),
    )
    answer = pods_answer(result, 0)
    assert answer.duplicates == {("a", "p")}
    assert np.isnan(answer.pods["a", "p"])
