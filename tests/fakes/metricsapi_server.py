"""The metrics API as its command runs it, in this process, over TLS on a free port.

async with metricsapi_server(tmp_path, forecast_url=(autoscaler.url,)) as api:
    answer = await api.client.get("/apis/external.metrics.k8s.io/v1beta1")
"""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from fakes.kubectl import Kubectl
from gputide.clock import Clock, SystemClock
from gputide.metricsapi.build import Asked
from gputide.metricsapi.run import Running, run
from gputide.metricsapi.settings import MetricsSettings, ServingSettings
from gputide.prometheus.settings import PrometheusSettings

NAME = "gputide-metricsapi"
NAMESPACE = "gputide-system"
STOP_SECONDS = 20
GROUP_VERSIONS = (
    ("custom.metrics.k8s.io", "v1beta2"),
    ("custom.metrics.k8s.io", "v1beta1"),
    ("external.metrics.k8s.io", "v1beta1"),
    ("metrics.alibabacloud.com", "v1beta1"),
)


@dataclass(frozen=True, slots=True)
class MetricsApiServer:
    """One that serves."""

    running: Running
    client: httpx2.AsyncClient
    """Verifies the server's certificate, and shows nothing of itself."""

    @property
    def url(self) -> str:
        """The API's address."""
        return f"https://127.0.0.1:{self.running.port}"

    @property
    def ca_pem(self) -> str:
        """The authority that an APIService has to be told."""
        assert self.running.files.ca_file is not None
        return self.running.files.ca_file.read_text()

    async def own_metrics(self) -> str:
        """Return the page of the server's own metrics."""
        url = f"http://127.0.0.1:{self.running.metrics_port}/metrics"
        async with httpx2.AsyncClient(trust_env=False) as plain:
            return (await plain.get(url)).text


@asynccontextmanager
async def metricsapi_server(
    folder: Path,
    *,
    serving: ServingSettings | None = None,
    prometheus: PrometheusSettings | None = None,
    clock: Clock | None = None,
    **metrics: Any,  # noqa: ANN401 any setting of metrics
) -> AsyncIterator[MetricsApiServer]:
    """Serve while the block runs; without `serving` it asks no cluster and allows all."""
    asked = Asked(
        serving=replace(
            serving or ServingSettings(without_cluster=True, authorization="none"),
            bind_address="127.0.0.1",
            secure_port=0,
            metrics_address="127.0.0.1:0",
            cert_dir=folder / "certificates",
        ),
        metrics=MetricsSettings(**metrics),
        prometheus=prometheus,
    )
    started: asyncio.Future[Running] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run(asked, clock or SystemClock(), started=started.set_result))
    await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED, timeout=STOP_SECONDS)
    if task.done():
        started.cancel()
        await task
    running = started.result()
    assert running.files.ca_file is not None
    context = ssl.create_default_context(cafile=str(running.files.ca_file))
    url = f"https://127.0.0.1:{running.port}"
    try:
        async with httpx2.AsyncClient(
            base_url=url, verify=context, trust_env=False, timeout=30
        ) as client:
            yield MetricsApiServer(running, client)
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=STOP_SECONDS)


def register(kubectl: Kubectl, server: MetricsApiServer) -> None:
    """Make the server's groups part of a cluster, as an administrator does."""
    bundle = base64.b64encode(server.ca_pem.encode()).decode()
    objects: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }
    ]
    for group, version in GROUP_VERSIONS:
        service = {"name": NAME, "namespace": NAMESPACE, "port": server.running.port}
        spec = {
            "group": group,
            "version": version,
            "service": service,
            "caBundle": bundle,
            "groupPriorityMinimum": 100,
            "versionPriority": 200 if version == "v1beta2" else 100,
        }
        objects.append(
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": f"{version}.{group}"},
                "spec": spec,
            }
        )
    kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, objects)))
