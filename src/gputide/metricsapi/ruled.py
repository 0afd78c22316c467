"""The rules' side of the server: sources, explanation and reload, as one."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from math import isfinite
from typing import Any

from gputide.clock import Clock
from gputide.errors import SettingError
from gputide.metricsapi.ports import CustomSource, Explainer, ExternalSource
from gputide.metricsapi.selfmetrics import Rows
from gputide.metricsapi.settings import MetricsSettings
from gputide.prometheus.settings import PrometheusSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What the rules file gives: who answers, what runs beside it, and its own metrics."""

    external: ExternalSource
    custom: CustomSource
    explainer: Explainer
    works: Sequence[Callable[[], Coroutine[Any, Any, None]]]
    rows: Callable[[], Rows]


async def ruled(
    settings: MetricsSettings, server: PrometheusSettings, clock: Clock, stack: AsyncExitStack
) -> Ruled:
    """Return the parts; the stack closes the connections to Prometheus."""
    raise SettingError("config", "not here yet")


def quantity(value: float) -> str | None:
    if not isfinite(value):
        return None
    milli = round(value * 1000)
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"
