"""The load of the tutorial's resource, out of a real Prometheus with a DCGM exporter's metrics."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fakes.ahpa_yaml import ahpa_yaml
from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from fakes.shared import TUTORIALS
from gputide.backtest.load.ahpa import AhpaLoad, read_ahpa
from gputide.backtest.load.ahpa_file import read_ahpa_file
from gputide.backtest.load.prometheus import HistoryOptions
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.sizing import PodSettings
from gputide.errors import GputideError, InputError, SettingError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

T0 = 1_643_587_200  # Monday, 31 January 2022, 0:00 UTC: within the sample's window
DAY = 1440
TUTORIAL = TUTORIALS / "fib-gpu.yaml"
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
        metric: {name: queue_length}
        target: {type: AverageValue, averageValue: "35"}
"""
POD = "bert-intent-detection-7d9c5b8f6-x2k"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    folder = tmp_path_factory.mktemp("prometheus")
    minutes = np.arange(2 * DAY)
    tide = 60 + 40 * np.sin(minutes * 2 * np.pi / DAY)  # 20 to 100 %
    series = [
        RecordedSeries(
            "DCGM_FI_DEV_GPU_UTIL",
            {"namespace": "default", "pod": f"{POD}p{i}", "UUID": f"GPU-{i}", "gpu": str(i)},
            T0,
            tide.tolist(),
        )
        for i in range(3)
    ]
    stranger = {"namespace": "other", "pod": f"{POD}p0", "UUID": "GPU-9", "gpu": "9"}
    series.append(RecordedSeries("DCGM_FI_DEV_GPU_UTIL", stranger, T0, [100.0] * len(minutes)))
    request = {"namespace": "default", "pod": f"{POD}p0", "container": "c", "resource": "cpu"}
    series.append(
        RecordedSeries("kube_pod_container_resource_requests", request, T0, [4.0] * len(minutes))
    )
    usage = {"namespace": "default", "pod": f"{POD}p0", "container": "c", "cpu": "total"}
    series.append(
        RecordedSeries(
            "container_cpu_usage_seconds_total", usage, T0, (minutes * 60 * 1.5).tolist()
        )
    )
    series.append(RecordedSeries("queue_length", {"queue": "a"}, T0, [90.0] * len(minutes)))
    write_history(folder, series)
    with running_prometheus(folder) as running:
        yield running


def load(
    server: PrometheusServer, path: Path, *, query: str | None = None, zone: str | None = None
) -> AhpaLoad:
    async def ask() -> AhpaLoad:
        async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
            return await read_ahpa(
                prometheus,
                read_ahpa_file(path, time_zone=zone),
                HistoryOptions(days=2),
                query=query,
                now_seconds=T0 + 2 * DAY * 60,
            )

    return asyncio.run(ask())


def sample(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    path = tmp_path / "fib.yaml"
    path.write_text(ahpa_yaml(*changes))
    return path


def test_demand_is_the_sum_of_the_workloads_busy_gpus(
    server: PrometheusServer, tmp_path: Path
) -> None:
    trace = load(server, sample(tmp_path), zone="UTC").trace

    assert trace.name == "default/fib-gpu"
    assert (trace.unit, trace.time_zone, len(trace.demand)) == ("GPUs", "UTC", 2 * DAY)
    np.testing.assert_allclose(trace.demand[[0, 360, 1080]], [1.8, 3.0, 0.6])
    assert trace.replicas is not None
    assert set(trace.replicas) == {3}


def test_saturated_minutes_are_a_lower_bound(server: PrometheusServer, tmp_path: Path) -> None:
    trace = load(server, sample(tmp_path), zone="UTC").trace

    assert trace.is_censored is not None
    np.testing.assert_array_equal(trace.is_censored, trace.demand >= 3 * 0.95)
    assert 0.05 < trace.is_censored.mean() < 0.3


def test_target_quantile_lead_and_bounds_come_from_the_resource(
    server: PrometheusServer, tmp_path: Path
) -> None:
    changes = (("scaleUpForward: 180", "scaleUpForward: 240"), ("minReplicas: 0", "minReplicas: 2"))
    found = load(server, sample(tmp_path, *changes), zone="UTC")

    pods, replay = found.fit(PodSettings(), BacktestSettings())

    assert (pods.capacity_per_pod, pods.start_delay_seconds) == (1, 240)
    assert (pods.min_replicas, pods.max_replicas) == (2, 100)
    assert (replay.target_ratio, replay.quantile) == (0.2, 0.95)


def test_what_a_person_sets_wins(server: PrometheusServer, tmp_path: Path) -> None:
    found = load(server, sample(tmp_path), zone="UTC")
    mine = PodSettings(capacity_per_pod=2, start_delay_seconds=60, max_replicas=7)

    pods, replay = found.fit(mine, BacktestSettings(quantile=0.9, target_ratio=0.5))

    assert pods == replace(mine, min_replicas=1)
    assert (replay.target_ratio, replay.quantile) == (0.5, 0.9)


def test_bounds_in_force_follow_the_cron_windows_minute_by_minute(
    server: PrometheusServer, tmp_path: Path
) -> None:
    found = load(server, sample(tmp_path), zone="Asia/Shanghai")

    assert found.trace.time_zone == "Asia/Shanghai"
    low, high = found.trace.min_replicas, found.trace.max_replicas
    assert low is not None
    assert high is not None
    assert low[[0, 59, 60]].tolist() == [4, 4, 10]  # 8:00, 8:59, 9:00 there
    assert set(high) == {50}


def test_outside_every_window_the_resources_own_bounds_count(
    server: PrometheusServer, tmp_path: Path
) -> None:
    found = load(server, sample(tmp_path, ("* 9-15 ? * MON-FRI", "* 9-15 ? * SUN")), zone="UTC")

    low = found.trace.min_replicas
    assert low is not None
    assert np.isnan(low[9 * 60 : 16 * 60]).all()
    assert not np.isnan(low[16 * 60 : 24 * 60]).any()


def test_what_is_assumed_or_does_nothing_is_said(server: PrometheusServer, tmp_path: Path) -> None:
    expired = ("2022-12-16 00:00:00", "2022-01-16 00:00:00")

    warnings = load(server, sample(tmp_path, expired)).trace.warnings

    assert "names no timeZone" in warnings[0]
    assert "how many GPUs a pod asks for is unknown: 1 is assumed" in warnings[1]
    assert "spec.instanceBounds[0] ended 2022-01-16" in warnings[2]
    assert len(warnings) == 3


def test_cpu_takes_its_capacity_from_the_pods_requests(
    server: PrometheusServer, tmp_path: Path
) -> None:
    found = load(server, sample(tmp_path, ("name: gpu\n", "name: cpu\n")), zone="UTC")

    assert found.capacity == 4
    np.testing.assert_allclose(found.trace.demand[10:20], 1.5, rtol=1e-6)
    assert found.trace.is_censored is None


def test_a_capacity_that_nobody_knows_is_asked_for(
    server: PrometheusServer, tmp_path: Path
) -> None:
    path = sample(tmp_path, ("name: gpu\n", "name: memory\n"))
    found = load(server, path, query="queue_length", zone="UTC")

    with pytest.raises(SettingError, match="capacity-per-pod: missing"):
        found.fit(PodSettings(), BacktestSettings())
    assert found.fit(PodSettings(mean_pods=5), BacktestSettings())[0].capacity_per_pod is None


def test_a_target_by_value_is_taken_as_a_share_of_a_pod(
    server: PrometheusServer, tmp_path: Path
) -> None:
    path = sample(tmp_path, (RESOURCE, EXTERNAL))
    found = load(server, path, zone="UTC")

    pods, replay = found.fit(PodSettings(), BacktestSettings())
    assert (pods.capacity_per_pod, replay.target_ratio) == (pytest.approx(50), pytest.approx(0.7))
    known = PodSettings(capacity_per_pod=100)
    assert found.fit(known, BacktestSettings())[1].target_ratio == pytest.approx(0.35)
    assert "a target of 35 is taken as 70% of it" in found.trace.warnings[1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("name: gpu\n", "name: rt\n"),
            "fib.yaml:15: spec.metrics[0].resource.name: rt is no",
        ),
        (("name: gpu\n", "name: gpux\n"), "fib.yaml:15: spec.metrics[0].resource.name: 'gpux' is"),
        (("name: bert-intent-detection", "name: absent"), "empty result from 2022-01-31 00:00Z"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    server: PrometheusServer, tmp_path: Path, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(GputideError) as caught:
        load(server, sample(tmp_path, change), zone="UTC")

    assert isinstance(caught.value, InputError)
    assert expected in str(caught.value)


@pytest.mark.shared
@pytest.mark.skipif(not TUTORIAL.is_file(), reason="no tutorial manifests beside the checkout")
def test_the_vendors_own_file_gives_the_same_load(server: PrometheusServer, tmp_path: Path) -> None:
    ours = load(server, sample(tmp_path), zone="Asia/Shanghai")
    theirs = load(server, TUTORIAL, zone="Asia/Shanghai")

    np.testing.assert_array_equal(theirs.trace.demand, ours.trace.demand)
    assert theirs.trace.min_replicas is not None
    assert ours.trace.min_replicas is not None
    np.testing.assert_array_equal(theirs.trace.min_replicas, ours.trace.min_replicas)
    assert theirs.fit(PodSettings(), BacktestSettings()) == ours.fit(
        PodSettings(), BacktestSettings()
    )
