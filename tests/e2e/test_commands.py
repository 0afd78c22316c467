"""The real process: what a shell and a pipe see."""

import asyncio
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.ahpa_yaml import ahpa_yaml
from fakes.http_server import http_server, response
from fakes.prometheus_server import RecordedSeries, running_prometheus, write_history

T0 = 1_700_000_040  # a whole minute
DAY = 1440
TIMEOUT_SECONDS = 300


def gputide(
    folder: Path, *arguments: str, stdin: bytes | None = None
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "gputide", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def rows(days: float) -> list[tuple[int, float]]:
    count = round(days * DAY)
    return [(T0 + 60 * i, 50 + 40 * math.sin(i * math.tau / DAY)) for i in range(count)]


def as_csv(days: float) -> bytes:
    return "\n".join(
        ["timestamp,value", *(f"{at},{value:.3f}" for at, value in rows(days))]
    ).encode()


def assert_refused(done: "subprocess.CompletedProcess[bytes]", folder: Path, expected: str) -> None:
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (2, b"", 1)
    assert expected in lines[0]
    assert not [path.name for path in folder.rglob("*") if path.name.startswith(("out", ".out"))]


def test_a_forecast_goes_through_pipes(tmp_path: Path) -> None:
    done = gputide(tmp_path, "forecast", "--csv", "-", "--json", "-", stdin=as_csv(3))

    assert (done.returncode, done.stderr) == (0, b"")
    (trace,) = json.loads(done.stdout)["traces"]
    assert trace["name"] == "stdin"
    assert len(trace["median"]) == DAY


@pytest.mark.parametrize("command", ["backtest", "forecast"])
def test_bad_input_leaves_one_line_and_nothing_else(tmp_path: Path, command: str) -> None:
    (tmp_path / "good.csv").write_bytes(as_csv(3))
    (tmp_path / "bad.csv").write_bytes(as_csv(3) + b"\n1,2")

    files = ["--csv", "good.csv", "bad.csv"]
    done = gputide(tmp_path, command, *files, "--json", "out.json")

    assert_refused(done, tmp_path, "bad.csv:4322: time '1' lies outside 1990-2100")


@pytest.mark.parametrize("command", ["backtest", "forecast"])
def test_a_server_that_refuses_is_said_in_one_line(tmp_path: Path, command: str) -> None:
    async def ask() -> "subprocess.CompletedProcess[bytes]":
        refusal = response(b"", "401 Unauthorized")
        async with http_server(lambda _: refusal) as server:
            asked = ("--prometheus", server.url, "--query", "up", "--json", "out.json")
            return await asyncio.to_thread(gputide, tmp_path, command, *asked)

    assert_refused(asyncio.run(ask()), tmp_path, "401")


def test_a_resource_and_its_history_become_a_backtest_and_a_forecast(tmp_path: Path) -> None:
    start = 1_767_571_200  # Monday, 5 January 2026
    values = [value for _, value in rows(9)]
    pod = {"namespace": "default", "pod": "bert-intent-detection-7d9c5b8f6-x2kp1", "UUID": "g"}
    write_history(tmp_path, [RecordedSeries("DCGM_FI_DEV_GPU_UTIL", pod, start, values)])
    (tmp_path / "fib.yaml").write_text(ahpa_yaml(("maxReplicas: 100", "maxReplicas: 30")))

    with running_prometheus(tmp_path) as server:
        source = ["--prometheus", server.url, "--ahpa", "fib.yaml", "--time-zone", "UTC"]
        source += ["--days", "9", "--until", str(start + 9 * DAY * 60)]
        quick = ["--policies", "hpa", "--policies", "gputide-one-target"]
        backtest = gputide(tmp_path, "backtest", *source, *quick, "--json", "out.json")
        forecast = gputide(tmp_path, "forecast", *source, "--json", "-")

    assert backtest.returncode == 0, backtest.stderr.decode()
    (report,) = json.loads((tmp_path / "out.json").read_text())["traces"]
    assert report["trace"]["name"] == "default/fib-gpu"
    assert report["trace"]["steps"] == 9 * DAY
    assert report["workload"]["max_replicas"] == 30
    assert report["workload"]["start_delay_seconds"] == 180
    assert report["quantile"] == 0.95
    assert any("spec.instanceBounds[0] ended" in warning for warning in report["warnings"])
    assert forecast.returncode == 0, forecast.stderr.decode()
    (trace,) = json.loads(forecast.stdout)["traces"]
    assert trace["unit"] == "GPUs"
    assert trace["quantile"] == 0.95
