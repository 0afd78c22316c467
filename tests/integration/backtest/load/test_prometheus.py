"""History from a real Prometheus becomes a trace, or an error that says what to check."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from gputide.backtest.load.prometheus import HistoryOptions, Span, read_beside, read_history
from gputide.backtest.model import Trace
from gputide.errors import GputideError, QueryError, SettingError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

T0 = 1_700_000_040  # a whole minute
MINUTES = 3000
NOW = T0 + 60 * MINUTES + 30  # half a minute after the last whole one


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    folder = tmp_path_factory.mktemp("prometheus")
    count = MINUTES + 1  # the last sample lies in the minute that still goes on
    gap = [None if 100 <= i < 130 else 2.0 for i in range(count)]
    series = [
        RecordedSeries("load", {"pod": "web-0"}, T0, [float(i) for i in range(count)]),
        RecordedSeries("fleet", {"pod": "a"}, T0, [1.0] * count),
        RecordedSeries("fleet", {"pod": "b"}, T0, gap),
        RecordedSeries("gappy", {}, T0 + 5, gap),
        RecordedSeries("unknown", {}, T0, [float("nan")] * count),
        RecordedSeries("ended", {}, T0, [5.0] * (count - 600)),
    ]
    write_history(folder, series)
    with running_prometheus(folder) as running:
        yield running


def read(server: PrometheusServer, query: str, *, days: float = 1, **options: object) -> Trace:
    async def ask() -> Trace:
        async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
            wanted = HistoryOptions(days=days, **options)  # type: ignore[arg-type]  # test's own
            return await read_history(prometheus, query, wanted, now_seconds=NOW)

    return asyncio.run(ask())


def refused(server: PrometheusServer, query: str, **options: object) -> str:
    with pytest.raises(GputideError) as caught:
        read(server, query, **options)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_a_query_becomes_its_whole_minutes(server: PrometheusServer) -> None:
    trace = read(server, "load", time_zone="Asia/Shanghai", unit="GPUs")

    assert trace.demand.tolist() == list(range(MINUTES - 1440, MINUTES))
    assert trace.start_utc.timestamp() == NOW - 30 - 86_400
    assert (trace.name, trace.unit, trace.time_zone) == ("load", "GPUs", "Asia/Shanghai")
    assert trace.warnings == ()


def test_saturated_minutes_are_marked_from_the_value_given(server: PrometheusServer) -> None:
    trace = read(server, "load", saturated_at=MINUTES - 2)

    assert trace.is_censored is not None
    assert trace.is_censored[-3:].tolist() == [False, True, True]


def test_the_minute_that_still_goes_on_is_left_out(server: PrometheusServer) -> None:
    assert read(server, "load").demand[-1] == MINUTES - 1


def test_an_end_can_be_given(server: PrometheusServer) -> None:
    trace = read(server, "load", until=str(T0 + 60 * 2000 + 59))
    iso = read(server, "load", until="2023-11-16T07:34:30")

    assert trace.demand[-1] == 1999
    assert iso.demand[-1] == 1999


def test_days_are_counted_in_utc_and_it_says_so(server: PrometheusServer) -> None:
    (warning,) = read(server, "load").warnings

    assert "UTC (--time-zone" in warning


def test_a_gap_is_unknown_and_younger_history_is_said(server: PrometheusServer) -> None:
    trace = read(server, "gappy", days=14, time_zone="UTC")

    assert np.flatnonzero(np.isnan(trace.demand)).tolist() == list(range(104, 130))
    assert trace.start_utc.timestamp() == T0 + 60
    assert trace.warnings == (
        "history begins 2.1 days before its end, 14 were asked for",
        "1 gap, 26 minutes in all (0.87 %): unknown",
    )


def test_a_series_that_ended_is_said(server: PrometheusServer) -> None:
    trace = read(server, "ended", time_zone="UTC")

    assert trace.demand[-1] == 5
    assert trace.warnings == ("the newest sample is 9.9 h older than the end asked for",)


def test_several_series_are_refused_or_summed(server: PrometheusServer) -> None:
    assert "2 series where one is wanted" in refused(server, "fleet")
    assert set(read(server, "fleet", days=2, sum=True).demand) == {1.0, 3.0}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("nothing", "nothing: empty result from 2023-11-16 00:14Z to 2023-11-17 00:13Z: check the"),
        ("unknown", "unknown: holds no number from 2023-11-16"),
        ("load - 2900", "load - 2900: falls to -1340: no demand is negative"),
        ("sum(", "parse error"),
        ('load{pod="x"}', "empty result"),
    ],
)
def test_what_tells_no_demand_is_refused(
    server: PrometheusServer, query: str, expected: str
) -> None:
    assert expected in refused(server, query)


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with running_prometheus(tmp_path) as stopped:
        pass

    with pytest.raises(QueryError, match=stopped.url):
        read(stopped, "load")


def test_another_query_is_read_over_the_same_minutes(server: PrometheusServer) -> None:
    async def ask() -> None:
        async with Prometheus(PrometheusSettings(url=server.url)) as prometheus:
            options = HistoryOptions(days=1)
            trace = await read_history(prometheus, "load", options, now_seconds=NOW)
            pods = await read_beside(prometheus, "count(fleet)", trace)
            assert pods is not None
            assert pods.tolist() == [2] * 1440
            assert await read_beside(prometheus, "nothing", trace) is None

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        ({"days": 0}, "days"),
        ({"days": 400}, "days"),
        ({"days": float("nan")}, "days"),
        ({"time_zone": "Mars"}, "time-zone"),
    ],
)
def test_options_that_cannot_be_are_refused(wrong: dict[str, object], setting: str) -> None:
    with pytest.raises(SettingError, match=setting):
        HistoryOptions(**wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("until", ["soon", "1889-01-01", "1e20", "nan"])
def test_an_end_that_cannot_be_is_refused(until: str) -> None:
    with pytest.raises(SettingError, match="until"):
        HistoryOptions(until=until).span(now_seconds=NOW)


def test_an_end_in_the_future_is_now() -> None:
    options = HistoryOptions(days=1, until="2099-01-01")

    assert options.span(now_seconds=120_050) == Span(first_seconds=33_600, last_seconds=119_940)
