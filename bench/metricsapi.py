"""What the metrics API costs: requests a second, times to answer, memory beside many series.

    PYTHONPATH=tests python bench/metricsapi.py [--json FILE] [--seconds 5] [--series 100000]

A real Prometheus with that many series of one rule, the server as its command runs it (one process,
TLS, one core at most), clients with connections that stay. Each answer is kept for a second, as by
default; `uncached` asks for another selector each time, so that every request is a PromQL query.
The clients run on the same machine and take a part of it.
"""

import argparse
import asyncio
import json
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from fakes.prometheus_server import RecordedSeries, running_prometheus, write_history
from gputide.clock import SystemClock

PATH = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/load"
DISCOVERY = "/apis/external.metrics.k8s.io/v1beta1"
RULES = """
externalRules:
  - seriesQuery: 'load{namespace!=""}'
    resources: {overrides: {namespace: {resource: namespace}}}
    metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    what: str
    clients: int
    requests_per_second: float
    median_ms: float
    p99_ms: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--series", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(Path(folder), seconds=given.seconds, series=given.series)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


def measured(folder: Path, *, seconds: float, series: int) -> dict[str, object]:
    """Return the figures of one run."""
    now = SystemClock().now_seconds()
    write_history(folder, [_recorded(index, now, series) for index in range(series)])
    (folder / "rules.yaml").write_text(RULES)
    rows: list[Row] = []
    with running_prometheus(folder) as prometheus:
        process, port = _started(folder, prometheus.url)
        try:
            context = ssl.create_default_context(cafile=str(folder / "certificates/ca.crt"))
            for what, path in (
                ("one metric", lambda _: PATH),
                ("uncached", lambda n: f"{PATH}?labelSelector=app%21%3Dnone-{n}"),
                ("discovery", lambda _: DISCOVERY),
            ):
                for clients in (1, 16, 64):
                    load = _load(port, context, path, clients=clients, seconds=seconds)
                    rows.append(Row(what, clients, *asyncio.run(load)))
                    print(rows[-1])
            memory = _resident_mib(process.pid)
            print(f"server: {memory:.0f} MiB resident, {series} series in Prometheus")
        finally:
            process.terminate()
            process.wait(30)
    return {"rows": [asdict(row) for row in rows], "resident_mib": memory, "series": series}


def _recorded(index: int, now: float, count: int) -> RecordedSeries:
    labels = {
        "namespace": "default" if index < 64 else f"n{index % 500}",
        "pod": f"pod-{index:06}-5d7c9f8b6b",
        "app": f"app-{index % 1000}",
        "instance": f"10.0.{index * 250 // count}.1:9400",
    }
    return RecordedSeries("load", labels, start_seconds=now - 60, values=[1.0, 2.0])


def _started(folder: Path, prometheus: str) -> "tuple[subprocess.Popen[str], int]":
    command = [
        *(sys.executable, "-m", "gputide", "metricsapi", "--without-cluster"),
        *("--authorization=none", "--bind-address=127.0.0.1", "--secure-port=0"),
        *("--metrics-address=", f"--cert-dir={folder / 'certificates'}"),
        *(f"--config={folder / 'rules.yaml'}", f"--prometheus-url={prometheus}"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 our own command
    for line in process.stderr or ():
        if "event=serving" in line:
            return process, int(line.partition("port=")[2].split()[0])
    raise RuntimeError("the server did not start")


async def _load(
    port: int,
    context: ssl.SSLContext,
    path: Callable[[int], str],
    *,
    clients: int,
    seconds: float,
) -> tuple[float, float, float]:
    """Return requests a second, the median and the 99th percentile in milliseconds."""
    times: list[float] = []
    numbers = iter(range(10**9))
    opened = [
        await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
        for _ in range(clients)
    ]
    end = time.perf_counter() + seconds

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (started := time.perf_counter()) < end:
            writer.write(f"GET {path(next(numbers))} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            await reader.readexactly(length)
            times.append(time.perf_counter() - started)

    began = time.perf_counter()
    await asyncio.gather(*(client(*one) for one in opened))
    took = time.perf_counter() - began
    for _, writer in opened:
        writer.close()
    times.sort()
    milliseconds = [times[int(len(times) * share)] * 1000 for share in (0.5, 0.99)]
    return round(len(times) / took, 1), round(milliseconds[0], 2), round(milliseconds[1], 2)


def _resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
