"""`gputide metricsapi`: Kubernetes' metrics APIs, served from Prometheus and forecasts."""

import asyncio
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
