"""Explanations, and samples that are no news any more, asked of a real Prometheus."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from gputide.clock import SystemClock
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.explain import RuleExplainer
from gputide.metricsapi.ports import ExternalAsk
from gputide.metricsapi.prometheus import Source
from gputide.metricsapi.query import RuleExternal, RuleValues
from gputide.metricsapi.rules.wire import parse_rules
from gputide.metricsapi.series import SeriesIndex
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

RULES = """
rules:
  - seriesQuery: 'gpu'
    resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
    name: {as: gpu_util}
    metricsQuery: 'avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'
  - seriesQuery: 'gpu_other'
    resources: {template: "<<.Resource>>"}
    name: {as: gpu_util}
  - seriesQuery: 'bare'
    resources: {template: "<<.Resource>>"}
  - seriesQuery: 'unscoped'
    resources: {overrides: {pod: {resource: pod}}}
  - seriesQuery: '{__name__=~"debug_.*"}'
    seriesFilters: [{is: "^debug_"}, {isNot: "_x$"}]
    resources: {template: "<<.Resource>>"}
externalRules:
  - seriesQuery: 'ended_total'
    resources: {namespaced: false}
    name: {as: ended_rate}
    metricsQuery: 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[30m])) by (model)'
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    now = datetime.now(UTC).timestamp()  # noqa: TID251 the real server has the real time

    def series(name: str, *values: float, newest: float = 15, **labels: str) -> RecordedSeries:
        start = now - newest - 60 * (len(values) - 1)
        return RecordedSeries(name, labels, start_seconds=start, values=values)

    counter = [60.0 * index for index in range(11)]
    folder = tmp_path_factory.mktemp("prometheus")
    write_history(
        folder,
        [
            series("gpu", 40, 41, namespace="default", pod="a"),
            series("gpu", 1, float("nan"), namespace="default", pod="b"),
            series("gpu", 99, 99, namespace="other", pod="a"),
            series("gpu_other", 1, 1, namespace="default", node="n"),
            series("bare", 1, 1, instance="x", UUID="y"),
            series("unscoped", 1, 1, pod="a"),
            series("debug_x", 1, 1, pod="a"),
            series("ended_total", *counter, newest=600, model="ended"),
            series("ended_total", *counter, model="goes-on"),
        ],
    )
    with running_prometheus(folder) as running:
        yield running


async def explained(server: PrometheusServer, metric: str) -> tuple[str, list[dict[str, Any]]]:
    async with Prometheus(PrometheusSettings(url=server.url), clock=SystemClock()) as prometheus:
        source, rules = Source(prometheus), parse_rules(RULES, "rules.yaml")
        index = SeriesIndex(source, SystemClock(), rules, max_age_seconds=900)
        explainer = RuleExplainer(
            index, source, RuleValues(source), SystemClock(), max_age_seconds=900
        )
        told = await explainer.explain(metric, "default")
        return told["verdict"], told["rules"]


async def test_values_and_their_ages_are_told_and_what_is_no_number(
    server: PrometheusServer,
) -> None:
    verdict, rows = await explained(server, "gpu_util")

    assert verdict == "rules[0] has it for objects (before rules[1], which have it, too)"
    assert rows[0]["queries"] == [
        'avg(gpu{namespace="default"}) by (namespace)',
        'avg(gpu{namespace="default",pod="NAME"}) by (pod)',
    ]
    assert [(one["object"], one["value"]) for one in rows[0]["values"]] == [("pods/a", "41")]
    assert 15 <= rows[0]["values"][0]["ageSeconds"] < 200
    no_number = "values are not a number, infinite or too large"
    assert rows[0]["problem"] == f"namespaces: all 1 {no_number}; pods: 1 {no_number}"
    assert sorted(rows[1]["resources"]) == ["namespaces", "nodes"]


async def test_a_series_without_a_label_of_a_resource_says_which_it_has(
    server: PrometheusServer,
) -> None:
    _, rows = await explained(server, "bare")

    assert rows[2]["problem"] == (
        "no label of the series names a resource; it has UUID, __name__, instance"
    )


async def test_a_rule_that_would_mix_namespaces_is_explained_and_stops_nothing(
    server: PrometheusServer,
) -> None:
    verdict, rows = await explained(server, "unscoped")

    assert verdict == "rules[3] has it for objects"
    assert "rules[3] says no label for namespaces" in rows[3]["problem"]
    assert len(rows) == 6


async def test_the_filter_that_keeps_a_series_out_is_named(server: PrometheusServer) -> None:
    verdict, rows = await explained(server, "debug_x")

    assert verdict == "no rule has it"
    problem = "none of its series is taken: debug_x by seriesFilters[1] (isNot)"
    assert rows[4]["problem"] == problem


async def test_a_rate_over_samples_that_have_ended_is_stale_whatever_else_goes_on(
    server: PrometheusServer,
) -> None:
    async with Prometheus(PrometheusSettings(url=server.url), clock=SystemClock()) as prometheus:
        source, rules = Source(prometheus), parse_rules(RULES, "rules.yaml")
        index = SeriesIndex(source, SystemClock(), rules, max_age_seconds=900)
        external = RuleExternal(index, RuleValues(source))
        found = await external.read(ExternalAsk(namespace="default", metric="ended_rate"))
        assert [one.labels for one in found or ()] == [(("model", "goes-on"),)]
        with pytest.raises(StatusError, match="stale: no sample of the last 300 s"):
            await external.read(
                ExternalAsk(namespace="default", metric="ended_rate", selector="model=ended")
            )
