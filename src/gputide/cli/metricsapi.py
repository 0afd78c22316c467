"""`gputide metricsapi`: Kubernetes' metrics APIs, served from Prometheus and forecasts."""

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from gputide.cli.group import new_group
from gputide.cli.logs import configure_logs
from gputide.cli.process import run_until_stopped
from gputide.clock import SystemClock
from gputide.metricsapi.settings import MetricsSettings, ServingSettings
from gputide.prometheus.settings import PrometheusSettings

SERVING = Group("Serving", sort_key=1)
METRICS = Group("Metrics", sort_key=2)
SERVER = Group("Prometheus", sort_key=3)

app = new_group("metricsapi")


@app.default
def serve(
    serving: Annotated[ServingSettings, Parameter(name="*", group=SERVING)] = ServingSettings(),
    *,
    metrics: Annotated[MetricsSettings, Parameter(name="*", group=METRICS)] = MetricsSettings(),
    server: Annotated[PrometheusSettings | None, Parameter(name="*", group=SERVER)] = None,
) -> None:
    """Serve custom, external and prediction metrics as an aggregated API server."""
    from gputide.metricsapi.build import Asked
    from gputide.metricsapi.run import run

    configure_logs(serving.log_format)
    asked = Asked(serving=serving, metrics=metrics, prometheus=server)
    asyncio.run(run_until_stopped(run(asked, SystemClock())))


@app.command
def explain(
    metric: str,
    /,
    *,
    config: Path,
    namespace: str = "default",
    server: Annotated[PrometheusSettings, Parameter(name="*", group=SERVER)],
) -> None:
    """Say why a metric has, or has not, values: rule by rule, with the queries that are sent.

    Parameters
    ----------
    metric:
        Name of the metric, as the API calls it.
    config:
        Rules, in prometheus-adapter's format; `default`: those for GPUs that come along.
    namespace:
        Namespace that is asked about.
    server:
        The Prometheus to ask.

    """
    from gputide.metricsapi.asking import explanation

    asked = explanation(config, server, SystemClock(), metric=metric, namespace=namespace)
    for line in asyncio.run(asked):
        print(line)  # noqa: T201 what was asked for
