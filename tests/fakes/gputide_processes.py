"""`gputide` commands as processes, at today's time or at another (libfaketime moves it).

with Programs(folder) as programs:
    autoscaler = start_autoscaler(programs, kubeconfig, prometheus_url, "--time-zone", "Asia/Tokyo")
    autoscaler = start_autoscaler(programs, kubeconfig, prometheus_url, at=datetime(2022, 11, 8))
    autoscaler.program.kill()
"""

import base64
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from fakes.kubectl import Kubectl
from fakes.programs import Program, Programs, free_ports, wait_until
from gputide.clock import SystemClock

NAME, NAMESPACE = "gputide-metricsapi", "gputide-system"
GROUPS = ("external.metrics.k8s.io", "metrics.alibabacloud.com")
V1 = {"apiVersion": "v1"}
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


@contextmanager
def metrics_api(
    programs: Programs, kubectl: Kubectl, *arguments: str, kubeconfig: Path | None = None
) -> Iterator[Program]:
    """Run the metrics API as a part of the cluster while the block runs."""
    (port,) = free_ports(1)
    folder = programs.folder / f"certificates-{port}"
    command = ["metricsapi", "--kubeconfig", str(kubeconfig or kubectl.kubeconfig)]
    command += ["--bind-address", "127.0.0.1", "--secure-port", str(port), "--metrics-address", ""]
    program = _start(programs, "metricsapi", [*command, "--cert-dir", str(folder), *arguments])
    wait_until("it has a certificate", (folder / "ca.crt").exists, program)
    objects = api_services(port, (folder / "ca.crt").read_bytes())
    kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, objects)))
    try:
        names = [f"apiservice/{one['metadata']['name']}" for one in objects[2:]]
        kubectl("wait", "--for=condition=Available", *names, "--timeout=60s")
        yield program
    finally:
        kubectl("delete", *names)
        kubectl("delete", "namespace", NAMESPACE)


def api_services(port: int, ca_pem: bytes) -> list[dict[str, Any]]:
    """Return a namespace, a service that leads to this machine, and what registers the groups."""
    external = {"type": "ExternalName", "externalName": "localhost"}
    metadata = {"name": NAME, "namespace": NAMESPACE}
    objects: list[dict[str, Any]] = [
        {**V1, "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {**V1, "kind": "Service", "metadata": metadata, "spec": external},
    ]
    for group in GROUPS:
        spec = {
            "group": group,
            "version": "v1beta1",
            "service": {**metadata, "port": port},
            "caBundle": base64.b64encode(ca_pem).decode(),
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        }
        objects.append(
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": f"v1beta1.{group}"},
                "spec": spec,
            }
        )
    return objects


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
