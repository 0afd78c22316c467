"""A real Prometheus on loopback, filled with a history that the test chose.

    from fakes.prometheus_server import RecordedSeries, running_prometheus, write_history

    @pytest.fixture(scope="session")
    def prometheus(tmp_path_factory) -> Iterator[PrometheusServer]:
        folder = tmp_path_factory.mktemp("prometheus")
        load = RecordedSeries("load", {"pod": "web-0"}, start_seconds=T0, values=[1.0, None, 2.0])
        write_history(folder, [load])
        with running_prometheus(folder) as server:
            yield server

- `RecordedSeries(name, labels, start_seconds=..., values=..., step_seconds=60)`: one series; None
  is "no sample" (a gap), NaN and infinity are samples with that value. Old dates are fine.
- `write_history(folder, series)`: makes blocks with promtool (100,000 samples take about 1 s).
- `running_prometheus(folder, config=..., web_config=..., arguments=...)`: starts Debian's binary on
  a port that the kernel picks, waits for its own word that it is ready, and stops it afterwards.
  `config` and `web_config` are the text of the two YAML files; with `tls_server_config` in the
  second, `server.url` begins with https.
- `server.url`, `server.log()` (what it printed so far).

Prometheus itself holds a sample for 5 minutes: a gap shows in an answer only when it is longer.
"""

import math
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_TIMEOUT_SECONDS = 60
STOP_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """One series and its samples, `values[i]` at `start_seconds + i * step_seconds`."""

    name: str
    labels: Mapping[str, str]
    start_seconds: float
    values: Sequence[float | None]
    step_seconds: float = 60

    def lines(self) -> Iterator[str]:
        """Yield the series in OpenMetrics text."""
        labels = ",".join(f'{name}="{_escape(value)}"' for name, value in self.labels.items())
        for index, value in enumerate(self.values):
            if value is not None:
                at = self.start_seconds + index * self.step_seconds
                yield f"{self.name}{{{labels}}} {_number(value)} {at:.3f}\n"


class PrometheusServer:
    """A Prometheus that runs: `url` without a slash at its end, and what it has logged."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.url = ""
        self._process = process
        self._lines: list[str] = []
        self._settled = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def log(self) -> str:
        """Return all that it printed so far."""
        return "".join(self._lines)

    def wait_until_ready(self) -> None:
        """Return when it serves, or raise with its last words."""
        is_settled = self._settled.wait(START_TIMEOUT_SECONDS)
        if not is_settled or not self.url:
            raise RuntimeError(f"prometheus did not start:\n{self.log()[-4000:]}")

    def stop(self) -> None:
        """End this process and no other."""
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(STOP_TIMEOUT_SECONDS)
        if self._process.stderr:
            self._process.stderr.close()

    def _read(self) -> None:
        """Keep the pipe empty; learn the port from the log, and that the server is ready."""
        address, is_ready = "", False  # these lines come in any order
        for line in self._process.stderr or ():
            self._lines.append(line)
            if found := re.search(r'msg="TLS is (enabled|disabled).*address=(\S+)', line):
                address = f"{'https' if found[1] == 'enabled' else 'http'}://{found[2]}"
            is_ready |= "Server is ready to receive web requests" in line
            if is_ready and address:
                self.url = address
                self._settled.set()
        self._settled.set()  # it ended


def write_history(folder: Path, series: Iterable[RecordedSeries]) -> None:
    """Add the series to the data folder of a Prometheus that does not run yet."""
    text = folder / "history.openmetrics"
    with text.open("w") as file:
        for one in sorted(series, key=lambda one: one.name):  # a family has to be in one piece
            file.writelines(one.lines())
        file.write("# EOF\n")
    command = ["promtool", "tsdb", "create-blocks-from", "--max-block-duration=168h"]
    command += ["openmetrics", str(text), str(folder / "data")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    text.unlink()
    if done.returncode:
        raise RuntimeError(f"promtool: {done.stderr or done.stdout}")


@contextmanager
def running_prometheus(
    folder: Path,
    *,
    config: str = "global: {}\n",
    web_config: str | None = None,
    arguments: Sequence[str] = (),
    prefix: Sequence[str] = (),
    listen: str = "127.0.0.1:0",
) -> Iterator[PrometheusServer]:
    """Run a Prometheus over `folder` while the block runs; `prefix` is a command that execs it."""
    (folder / "prometheus.yml").write_text(config)
    command = [
        *prefix,
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address={listen}",
        *arguments,
    ]
    if web_config is not None:
        (folder / "web.yml").write_text(web_config)
        command.append(f"--web.config.file={folder / 'web.yml'}")
    server = PrometheusServer(
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    )
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))
