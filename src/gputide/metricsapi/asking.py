"""`gputide metricsapi explain`: the same explanation, asked of Prometheus without a server."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from gputide.clock import Clock
from gputide.metricsapi.explain import lines
from gputide.metricsapi.ruled import ruled
from gputide.metricsapi.settings import MetricsSettings
from gputide.prometheus.settings import PrometheusSettings


async def explanation(
    config: Path, server: PrometheusSettings, clock: Clock, *, metric: str, namespace: str
) -> Sequence[str]:
    """Return the lines that say why a metric has, or has not, values."""
    async with AsyncExitStack() as stack:
        rules = await ruled(config, MetricsSettings(config=config), server, clock, stack)
        return tuple(lines(await rules.explainer.explain(metric, namespace)))
