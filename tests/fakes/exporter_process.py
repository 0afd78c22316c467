"""`gputide exporter` as a process of its own, on a port that the kernel picks.

with exporter_process("--simulate", "t4") as exporter:
    urlopen(exporter.url + "/metrics")
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

START_LINES = 20
STOP_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class ExporterProcess:
    """An exporter that serves."""

    process: "subprocess.Popen[str]"
    port: int

    def stop(self) -> int:
        """Ask it to end, as systemd and the kubelet do; return its exit code."""
        self.process.terminate()
        return self.process.wait(STOP_TIMEOUT_SECONDS)


@contextmanager
def exporter_process(*arguments: str) -> Iterator[ExporterProcess]:
    """Start one, wait for its own word that it serves, and end it afterwards."""
    command = [sys.executable, "-m", "gputide", "exporter", "--address", "127.0.0.1:0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield ExporterProcess(process, _port(process))
        finally:
            if process.poll() is None:
                process.kill()


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stderr is not None
    said = []
    for _ in range(START_LINES):
        said.append(process.stderr.readline())
        found = re.search(r"event=serving.* port=(\d+)", said[-1])
        if found is not None:
            return int(found[1])
        if not said[-1]:
            break
    raise RuntimeError(f"the exporter does not serve: {''.join(said)}")
