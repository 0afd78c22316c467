"""One real Prometheus with nine days of minutes for all tests of the client."""

import math
from collections.abc import Iterator

import pytest

from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)

START = 1_772_409_600  # 2026-03-02 00:00 UTC, a Monday
DAYS = 9
MINUTES = DAYS * 1440
FIRST_POD = "bert-intent-detection-7b486f6bf-aaaaa"
SECOND_POD = "bert-intent-detection-7b486f6bf-bbbbb"


def load(minute: int) -> float:
    """Return a day's wave, exact in binary so that sums compare equal."""
    return float(minute % 1440)


def gpu(uuid: str, values: list[float | None], **labels: str) -> RecordedSeries:
    labels = {"UUID": uuid, "gpu": "0", **labels}
    return RecordedSeries("DCGM_FI_DEV_GPU_UTIL", labels, START, values)


def history() -> list[RecordedSeries]:
    wave: list[float | None] = [load(m) for m in range(MINUTES)]
    gaps = [None if 2000 <= m < 2600 else value for m, value in enumerate(wave)]
    odd: list[float | None] = [1.0, math.nan, math.inf, -math.inf, 1e300, 5.0]
    exported = {"exported_namespace": "default", "namespace": "monitoring", "pod": "exporter-0"}
    pods = {"namespace": "default", "pod": FIRST_POD}
    return [
        RecordedSeries("load", {"pod": "a"}, START, wave),
        RecordedSeries("load", {"pod": "b"}, START, gaps),
        RecordedSeries("odd", {}, START, odd),
        RecordedSeries("named", {"text": 'quo"te\\back\nline', "le": "+Inf"}, START, [math.inf]),
        # Two exporters under two styles of labels, one GPU scraped by two jobs, one pod of another.
        gpu("GPU-1", [50.0] * 60, exported_pod=FIRST_POD, instance="x:1", **exported),
        gpu("GPU-1", [50.0] * 60, exported_pod=FIRST_POD, instance="x:2", **exported),
        gpu("GPU-2", [25.0] * 60, namespace="default", pod=SECOND_POD),
        gpu("GPU-3", [90.0] * 60, namespace="default", pod="bert-other-7b486f6bf-ccccc"),
        gpu("GPU-4", [90.0] * 60, namespace="other", pod=SECOND_POD),
        *_cluster(pods),
    ]


def _cluster(pods: dict[str, str]) -> list[RecordedSeries]:
    ramp: list[float | None] = [30.0 * m for m in range(60)]  # half a core, or half a request
    ready = {"namespace": "default", "deployment": "bert-intent-detection"}
    requests = {**pods, "container": "bert", "unit": "core"}
    cpu = "container_cpu_usage_seconds_total"
    return [
        RecordedSeries(cpu, {**pods, "container": "bert", "id": "/x"}, START, ramp),
        RecordedSeries(cpu, {**pods, "container": "", "id": "/"}, START, ramp),
        RecordedSeries(
            "container_memory_working_set_bytes", {**pods, "container": "bert"}, START, [2e9] * 60
        ),
        RecordedSeries("DCGM_FI_DEV_FB_USED", {**pods, "UUID": "GPU-1"}, START, [1024.0] * 60),
        RecordedSeries(
            "DCGM_FI_PROF_GR_ENGINE_ACTIVE", {**pods, "UUID": "GPU-1"}, START, [0.25] * 60
        ),
        RecordedSeries("http_requests_total", pods, START, ramp),
        RecordedSeries("http_request_duration_seconds_sum", pods, START, ramp),
        RecordedSeries(
            "http_request_duration_seconds_count", pods, START, [2.0 * (v or 0) for v in ramp]
        ),
        RecordedSeries("kube_deployment_status_replicas_ready", ready, START, [3.0] * 60),
        RecordedSeries(
            "kube_pod_container_resource_requests",
            {**requests, "resource": "cpu"},
            START,
            [0.5] * 60,
        ),
        RecordedSeries(
            "kube_pod_container_resource_requests",
            {**requests, "resource": "nvidia_com_gpu"},
            START,
            [1.0] * 60,
        ),
    ]


@pytest.fixture(scope="session")
def prometheus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """Return a server that holds `history()`."""
    folder = tmp_path_factory.mktemp("prometheus")
    write_history(folder, history())
    with running_prometheus(folder) as server:
        yield server
