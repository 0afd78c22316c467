"""One source of load for every command: files, a stream, a query, a resource, or made here."""

import io
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.ahpa_yaml import ahpa_yaml
from fakes.clock import FakeClock
from fakes.prometheus_server import (
    PrometheusServer,
    RecordedSeries,
    running_prometheus,
    write_history,
)
from gputide.backtest.load.csv import CsvOptions
from gputide.cli.source import Load, Source, read_load
from gputide.errors import SettingError
from gputide.prometheus.settings import PrometheusSettings

T0 = 1_700_000_040  # a whole minute
DAY = 1440


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    folder = tmp_path_factory.mktemp("prometheus")
    busy = [50 + 40 * math.sin(i * math.tau / DAY) for i in range(DAY)]
    pods = [
        {"namespace": "default", "pod": f"bert-intent-detection-7d9c5b8f6-x2kp{i}", "UUID": f"g{i}"}
        for i in range(2)
    ]
    write_history(folder, [RecordedSeries("DCGM_FI_DEV_GPU_UTIL", pod, T0, busy) for pod in pods])
    with running_prometheus(folder) as running:
        yield running


def load(
    source: Source, reading: CsvOptions | None = None, server: PrometheusServer | None = None
) -> Load:
    settings = PrometheusSettings(url=server.url) if server else None
    clock = FakeClock(now_seconds=T0 + DAY * 60)
    return read_load(source, reading or CsvOptions(), settings, clock)


def test_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"timestamp,x,y\n{T0},1,2\n{T0 + 60},3,4\n")
    source = Source(csv=(str(tmp_path / "b.csv"), str(tmp_path / "a.csv")))

    found = load(source, CsvOptions(value_column="y"))

    assert [trace.name for trace in found.traces] == ["b", "a"]
    assert found.traces[0].demand.tolist() == [2, 4]
    assert found.ahpa is None


def test_a_stream_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"timestamp,value\n{T0},1\n{T0 + 60},2\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))

    assert load(Source(csv=("/dev/stdin",))).traces[0].name == "stdin"


def test_the_projects_own_traces_are_made() -> None:
    assert len(load(Source(generated=True)).traces) == 12


def test_a_query_is_asked_up_to_the_clocks_now(server: PrometheusServer) -> None:
    source = Source(query="sum(DCGM_FI_DEV_GPU_UTIL) / 100", days=0.5)

    (trace,) = load(source, CsvOptions(unit="GPUs", time_zone="Asia/Shanghai"), server).traces

    assert len(trace.demand) == DAY // 2
    assert trace.start_utc.timestamp() == T0 + DAY // 2 * 60
    assert (trace.unit, trace.time_zone) == ("GPUs", "Asia/Shanghai")


def test_several_series_are_summed_on_request(server: PrometheusServer) -> None:
    summed = load(Source(query="DCGM_FI_DEV_GPU_UTIL", days=1), CsvOptions(sum=True), server)

    assert summed.traces[0].demand[0] == pytest.approx(100)


@pytest.mark.parametrize(
    ("query", "scale"), [(None, 1), ("3 * sum(DCGM_FI_DEV_GPU_UTIL) / 100", 3)]
)
def test_a_resource_names_its_load_unless_a_query_does(
    server: PrometheusServer, tmp_path: Path, query: str | None, scale: float
) -> None:
    path = tmp_path / "fib.yaml"
    path.write_text(ahpa_yaml())
    source = Source(ahpa=path, query=query, days=1)

    found = load(source, CsvOptions(time_zone="UTC"), server)

    assert found.ahpa is not None
    assert found.traces == (found.ahpa.trace,)
    assert found.traces[0].demand[0] == pytest.approx(scale)


@pytest.mark.parametrize(
    ("source", "has_server", "expected"),
    [
        (Source(), False, "load: give exactly one .* none is given"),
        (Source(csv=("a",), generated=True), False, "--csv and --generated are given"),
        (Source(csv=("a",), query="up"), True, "--csv and --query are given"),
        (Source(csv=("a",), ahpa=Path("x")), True, "--csv and --ahpa are given"),
        (Source(query="up"), False, "prometheus: missing: the server that --query asks"),
        (Source(ahpa=Path("x")), False, "prometheus: missing: the server that --ahpa asks"),
        (Source(), True, "query: missing"),
        (Source(generated=True), True, "prometheus: cannot go together with --generated"),
    ],
)
def test_what_is_not_one_whole_source_is_refused(
    source: Source, *, has_server: bool, expected: str
) -> None:
    server = PrometheusSettings(url="http://p:9090") if has_server else None

    with pytest.raises(SettingError, match=expected):
        source.check(server)
