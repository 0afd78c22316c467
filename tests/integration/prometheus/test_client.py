"""The client against Debian's Prometheus: what it asks is answered, and read as it was meant."""

import math
from collections.abc import AsyncIterator
from dataclasses import replace

import numpy as np
import pytest

from fakes.prometheus_server import PrometheusServer
from gputide.errors import InputError, QueryError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.model import Combination, RangeResult, combine
from gputide.prometheus.settings import PrometheusSettings

START = 1_772_409_600
MINUTES = 9 * 1440
END = START + (MINUTES - 1) * 60
WAVE = np.arange(MINUTES) % 1440


@pytest.fixture
async def prometheus(prometheus_server: PrometheusServer) -> AsyncIterator[Prometheus]:
    async with Prometheus(PrometheusSettings(url=prometheus_server.url)) as client:
        yield client


async def whole(prometheus: Prometheus, expression: str) -> RangeResult:
    return await prometheus.query_range(
        expression, start_seconds=START, end_seconds=END, step_seconds=60
    )


async def test_nine_days_of_minutes_come_in_pieces_on_one_grid(prometheus: Prometheus) -> None:
    found = await whole(prometheus, 'load{pod="a"}')

    assert (found.start_seconds, found.step_seconds, found.columns) == (START, 60, MINUTES)
    assert [one.labels for one in found.series] == [{"__name__": "load", "pod": "a"}]
    np.testing.assert_array_equal(found.series[0].values, WAVE)


async def test_prometheus_itself_refuses_that_many_points_at_once(prometheus: Prometheus) -> None:
    question = [("query", "load"), ("start", str(START)), ("end", str(END)), ("step", "60")]
    with pytest.raises(QueryError, match="exceeded maximum resolution of 11,000 points"):
        await prometheus.fetch("/api/v1/query_range", question)


async def test_a_gap_is_unknown_once_prometheus_stops_looking_back(prometheus: Prometheus) -> None:
    found = await whole(prometheus, 'load{pod="b"}')
    unknown = np.flatnonzero(np.isnan(found.series[0].values)).tolist()

    assert unknown[0] in {2004, 2005}  # Prometheus 3 stops at 5 minutes, 2 just after
    assert unknown == list(range(unknown[0], 2600))


async def test_several_series_are_summed_by_us_as_by_prometheus(prometheus: Prometheus) -> None:
    ours = combine(await whole(prometheus, "load"), Combination.SUM)
    theirs = combine(await whole(prometheus, "sum(load)"), Combination.REFUSE)

    np.testing.assert_array_equal(ours.values, theirs.values)
    assert ours.series_count == 2


async def test_several_series_are_refused_with_their_labels(prometheus: Prometheus) -> None:
    found = await whole(prometheus, "load")

    with pytest.raises(InputError, match=r'2 series where one is wanted \(load\{pod="a"\}'):
        combine(found, Combination.REFUSE)


async def test_the_span_is_aligned_to_the_step(prometheus: Prometheus) -> None:
    found = await prometheus.query_range(
        'load{pod="a"}', start_seconds=START + 0.5, end_seconds=START + 200, step_seconds=60
    )

    assert found.start_seconds == START + 60
    assert found.series[0].values.tolist() == [1.0, 2.0, 3.0]


async def test_a_short_answer_limit_only_makes_the_pieces_smaller(
    prometheus_server: PrometheusServer,
) -> None:
    settings = PrometheusSettings(url=prometheus_server.url, max_response_bytes=50_000)
    async with Prometheus(settings) as prometheus:
        found = await whole(prometheus, 'load{pod="a"}')

    np.testing.assert_array_equal(found.series[0].values, WAVE)


async def test_an_answer_over_the_limit_is_an_error_where_nothing_can_shrink(
    prometheus_server: PrometheusServer,
) -> None:
    settings = PrometheusSettings(url=prometheus_server.url, max_response_bytes=1024)
    async with Prometheus(settings) as prometheus:
        with pytest.raises(QueryError, match="larger than 1024 bytes"):
            await prometheus.query('{__name__=~".+"}', at_seconds=START)


async def test_odd_samples_are_read_as_prometheus_prints_them(prometheus: Prometheus) -> None:
    found = await prometheus.query_range(
        "odd", start_seconds=START, end_seconds=START + 300, step_seconds=60
    )

    np.testing.assert_array_equal(
        found.series[0].values, [1.0, math.nan, math.inf, -math.inf, 1e300, 5.0]
    )


async def test_labels_come_out_as_they_were_written(prometheus: Prometheus) -> None:
    found = await prometheus.query("named", at_seconds=START)

    assert found.labels == ({"__name__": "named", "text": 'quo"te\\back\nline', "le": "+Inf"},)
    assert found.values.tolist() == [math.inf]
    assert found.at_seconds.tolist() == [START]


async def test_an_instant_query_is_grouped_by_labels(prometheus: Prometheus) -> None:
    found = await prometheus.query("load", at_seconds=START + 600)

    assert found.by("pod") == {("a",): 10.0, ("b",): 10.0}


async def test_a_scalar_is_taken_at_the_servers_own_now(prometheus: Prometheus) -> None:
    found = await prometheus.query("1 + 1")

    assert found.values.tolist() == [2.0]
    assert found.at_seconds[0] > START


async def test_an_empty_answer_stays_empty(prometheus: Prometheus) -> None:
    assert (await prometheus.query("nothing")).labels == ()
    found = await whole(prometheus, "nothing")
    assert (found.series, found.columns) == ((), MINUTES)


async def test_a_query_too_long_for_an_address_is_posted(prometheus: Prometheus) -> None:
    expression = " + ".join(["1"] * 2000)

    assert (await prometheus.query(expression)).values.tolist() == [2000.0]


async def test_series_and_labels_are_discovered(prometheus: Prometheus) -> None:
    found = await prometheus.series(["load", "odd"], start_seconds=START, end_seconds=END)

    assert sorted(labels.get("pod", "") for labels in found) == ["", "a", "b"]
    assert "exported_pod" in await prometheus.label_names()
    assert await prometheus.label_names(["load"]) == ("__name__", "pod")
    assert await prometheus.label_values("pod", ["load"]) == ("a", "b")
    assert "odd" in await prometheus.label_values("__name__")


async def test_the_server_says_what_it_is(prometheus: Prometheus) -> None:
    assert await prometheus.is_ready()
    assert (await prometheus.build_information()).version.startswith("2.")
    assert await prometheus.metadata() == {}  # nothing is scraped


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("load[", "HTTP 400: bad_data"),
        ("load{", "parse error"),
        ("load * on() group_left load", "HTTP 422: execution: found duplicate series"),
        ("", "HTTP 400: bad_data"),
    ],
)
async def test_a_wrong_query_fails_with_the_servers_own_words(
    prometheus: Prometheus, expression: str, words: str
) -> None:
    with pytest.raises(QueryError, match=words) as caught:
        await prometheus.query(expression, at_seconds=START)
    assert str(caught.value).startswith(f"{prometheus.target}: ")

    with pytest.raises(QueryError, match="HTTP 4"):
        await whole(prometheus, expression)


async def test_a_range_selector_is_no_instant_value(prometheus: Prometheus) -> None:
    with pytest.raises(QueryError, match="the query gives a matrix"):
        await prometheus.query("load[5m]", at_seconds=START)


async def test_a_path_that_is_not_there_says_so(prometheus_server: PrometheusServer) -> None:
    settings = PrometheusSettings(url=f"{prometheus_server.url}/select/0")
    async with Prometheus(settings) as prometheus:
        with pytest.raises(QueryError, match=r"HTTP 404.*is the path before /api/v1 right"):
            await prometheus.query("load")


async def test_a_server_that_is_not_there_is_not_ready(
    prometheus_server: PrometheusServer,
) -> None:
    settings = PrometheusSettings(url=prometheus_server.url)
    async with Prometheus(replace(settings, url="http://127.0.0.1:1")) as prometheus:
        assert not await prometheus.is_ready()
