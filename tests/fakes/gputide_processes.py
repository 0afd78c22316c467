"""`gputide` commands as processes, at today's time or at another (libfaketime moves it).

with Programs(folder) as programs:
    autoscaler = start_autoscaler(programs, kubeconfig, prometheus_url, "--time-zone", "Asia/Tokyo")
    autoscaler = start_autoscaler(programs, kubeconfig, prometheus_url, at=datetime(2022, 11, 8))
    autoscaler.program.kill()
"""

import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import httpx2

from fakes.programs import Program, Programs, free_ports, wait_until
from gputide.clock import SystemClock

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


@dataclass(frozen=True, slots=True)
class Serving:
    """A process, and where its plain HTTP pages are."""

    program: Program
    url: str

    def page(self, path: str) -> str:
        """Return one."""
        answer = httpx2.get(self.url + path, timeout=10, trust_env=False)
        return answer.raise_for_status().text


def start_autoscaler(
    programs: Programs,
    kubeconfig: Path,
    prometheus_url: str | None,
    *arguments: str,
    at: datetime | None = None,
) -> Serving:
    """Start the controller with rounds a second long; return once a round was made."""
    (port,) = free_ports(1)
    command = ["autoscaler", "--kubeconfig", str(kubeconfig), "--period", "1s"]
    command += ["--listen-address", f"127.0.0.1:{port}"]
    command += ["--prometheus-url", prometheus_url] if prometheus_url else []
    command += [] if "--leader-elect" in arguments else ["--no-leader-elect"]
    found = Serving(
        _start(programs, "autoscaler", [*command, *arguments], at), f"http://127.0.0.1:{port}"
    )
    wait_until("the autoscaler makes rounds", lambda: found.page("/readyz"), found.program)
    return found


def _start(
    programs: Programs, name: str, arguments: list[str], at: datetime | None = None
) -> Program:
    environment = {}
    if at is not None:
        assert FAKETIME, "Debian's package faketime is missing"
        environment = {
            "LD_PRELOAD": str(FAKETIME[0]),
            "FAKETIME": f"{at.timestamp() - SystemClock().now_seconds():+.0f}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
    return programs.start(name, [sys.executable, "-m", "gputide", *arguments], env=environment)
