"""The rules that come along, asked of a real Prometheus under either style of labels."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from gputide.clock import SystemClock
from gputide.metricsapi.asking import explanation
from gputide.metricsapi.ports import CustomAsk, ExternalAsk, Resource
from gputide.metricsapi.prometheus import Source
from gputide.metricsapi.query import RuleCustom, RuleExternal, RuleValues
from gputide.metricsapi.ruled import rules_file
from gputide.metricsapi.rules.wire import parse_rules
from gputide.metricsapi.series import SeriesIndex
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

RULES = parse_rules(rules_file(Path("default")).read_text(encoding="utf-8"), "default")
PODS, NAMESPACES = Resource(plural="pods"), Resource(plural="namespaces")
UTIL, ENGINE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
USED, FREE = "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"
GPUS = (("bert-0", "a", 60.0), ("bert-1", "b", 80.0), ("bert-1", "c", 49.0))
"""Pod, device, percent: 189 together."""


@pytest.fixture(scope="module", params=["", "exported_"], ids=["honored", "renamed"])
def server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[PrometheusServer]:
    now = datetime.now(UTC).timestamp()  # noqa: TID251 the real server has the real time
    prefix: str = request.param
    series = []
    for job in ("dcgm", "again"):  # two jobs scrape the same devices
        for pod, uuid, percent in GPUS:
            labels = {"pod": "exporter", "namespace": "gpu"} if prefix else {}
            labels |= {f"{prefix}pod": pod, f"{prefix}namespace": "default"}
            labels |= {"UUID": uuid, "gpu": "0", "job": job}
            samples = {UTIL: percent, ENGINE: percent / 100, USED: 1024.0, FREE: 3072.0}
            series += [
                RecordedSeries(name, labels, start_seconds=now - 75, values=[value] * 2)
                for name, value in samples.items()
            ]
    folder = tmp_path_factory.mktemp("prometheus")
    write_history(folder, series)
    with running_prometheus(folder) as running:
        yield running


def test_a_file_that_is_called_default_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rules_file(Path("default")).name == "default.yaml"
    Path("default").write_text("")
    assert rules_file(Path("default")) == Path("default")
    assert rules_file(Path("absent.yaml")) == Path("absent.yaml")


async def test_explain_takes_them_by_that_word(server: PrometheusServer) -> None:
    told = await explanation(
        Path("default"),
        PrometheusSettings(url=server.url),
        SystemClock(),
        metric="gpu_util",
        namespace="default",
    )
    assert "has it for objects; externalRules" in told[0]
    assert any("189 at" in line for line in told)


def test_each_metric_is_there_for_both_styles_of_labels() -> None:
    for rules in (RULES.custom, RULES.external):
        names = [one.api_name("S") for one in rules]
        assert sorted(names[::2]) == sorted(names[1::2])
        assert {next(iter(one.overrides)) for one in rules} == {"namespace", "exported_namespace"}


async def test_pods_and_namespaces_have_their_values(server: PrometheusServer) -> None:
    pods = await custom(server, PODS, "bert-0", "bert-1")
    whole = await custom(server, NAMESPACES, "default")

    assert pods == {
        "gpu_util": {"bert-0": "60", "bert-1": "64500m"},
        "gpu_engine_util": {"bert-0": "60", "bert-1": "64500m"},
        "gpu_memory_used_bytes": {"bert-0": "1073741824", "bert-1": "2147483648"},
        "gpu_memory_util": {"bert-0": "25", "bert-1": "25"},
    }
    assert whole == {
        "gpu_util": {"default": "63"},
        "gpu_engine_util": {"default": "63"},
        "gpu_memory_used_bytes": {"default": "3221225472"},
        "gpu_memory_util": {"default": "25"},
    }


async def test_external_metrics_are_the_sum_with_each_device_once(
    server: PrometheusServer,
) -> None:
    async with Prometheus(PrometheusSettings(url=server.url), clock=SystemClock()) as prometheus:
        index, asked = await looked(prometheus)
        source = RuleExternal(index, asked)
        found = {}
        for metric in ("gpu_util", "gpu_engine_util", "gpu_memory_used_bytes"):
            values = await source.read(ExternalAsk(namespace="default", metric=metric))
            found[metric] = [one.value for one in values or ()]

    assert found == {
        "gpu_util": ["189"],
        "gpu_engine_util": ["189"],
        "gpu_memory_used_bytes": ["3221225472"],
    }


async def custom(
    server: PrometheusServer, resource: Resource, *names: str
) -> Mapping[str, Mapping[str, str]]:
    async with Prometheus(PrometheusSettings(url=server.url), clock=SystemClock()) as prometheus:
        index, asked = await looked(prometheus)
        source = RuleCustom(index, asked)
        found: dict[str, dict[str, str]] = {}
        for metric in dict.fromkeys(row.metric for row in source.rows()):
            ask = CustomAsk(
                resource=resource,
                namespace="default",
                names=names,
                metric=metric,
                singular=resource.plural.removesuffix("s"),
            )
            found[metric] = {name: one.value for name, one in await source.read(ask)}
        return found


async def looked(prometheus: Prometheus) -> tuple[SeriesIndex, RuleValues]:
    source = Source(prometheus)
    index = SeriesIndex(source, SystemClock(), RULES, max_age_seconds=600)
    index.use(RULES)
    await index.look()
    return index, RuleValues(source)
