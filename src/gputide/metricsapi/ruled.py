"""The rules' side of the server: sources, explanation and reload, as one."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import structlog

from gputide.clock import Clock
from gputide.exposition.rows import Rows, by, one
from gputide.metricsapi import catalog
from gputide.metricsapi.explain import RuleExplainer
from gputide.metricsapi.ports import CustomSource, Explainer, ExternalSource
from gputide.metricsapi.prometheus import Source
from gputide.metricsapi.query import RuleCustom, RuleExternal, RuleValues
from gputide.metricsapi.reload import RulesFile
from gputide.metricsapi.rules.model import Rules
from gputide.metricsapi.rules.wire import parse_rules
from gputide.metricsapi.series import SeriesIndex
from gputide.metricsapi.settings import MetricsSettings
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

log = structlog.stdlib.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What the rules file gives: who answers, what runs beside it, and its own metrics."""

    external: ExternalSource
    custom: CustomSource
    explainer: Explainer
    works: Sequence[Callable[[], Coroutine[Any, Any, None]]]
    rows: Callable[[], Rows]


DEFAULT = Path("default")
"""Instead of a file: the rules for GPUs that come along."""


def rules_file(path: Path) -> Path:
    """Return the file that `--config` means; a file that is called `default` is that file."""
    if path == DEFAULT and not path.exists():
        return Path(str(files("gputide.metricsapi.rules").joinpath("default.yaml")))
    return path


async def ruled(
    path: Path,
    settings: MetricsSettings,
    server: PrometheusSettings,
    clock: Clock,
    stack: AsyncExitStack,
) -> Ruled:
    """Return the parts; the stack closes the connections to Prometheus. Raise InputError."""
    file = RulesFile(rules_file(path), parse_rules)
    source = Source(await stack.enter_async_context(Prometheus(server, clock=clock)))
    index = SeriesIndex(source, clock, Rules(), max_age_seconds=settings.max_age_seconds)
    index.use(file.rules)
    asked = RuleValues(source)

    async def relist() -> None:
        while True:
            await index.look()
            await clock.sleep(settings.relist_seconds)

    async def take(rules: Rules) -> None:
        index.use(rules)
        await index.look()

    async def follow() -> None:
        await file.follow(clock, take)

    return Ruled(
        external=RuleExternal(index, asked),
        custom=RuleCustom(index, asked),
        explainer=RuleExplainer(
            index, source, asked, clock, max_age_seconds=settings.max_age_seconds
        ),
        works=(relist, follow),
        rows=lambda: rows(file, source),
    )


def rows(file: RulesFile[Rules], source: Source) -> Rows:
    """Return the rules' own metrics."""
    sections = {"rules": len(file.rules.custom), "externalRules": len(file.rules.external)}
    return {
        catalog.QUERIES: one(source.queries),
        catalog.QUERY_FAILURES: one(source.failures),
        catalog.RULES: by("section", sections),
        catalog.RULES_LOADED: one(not file.problem),
        catalog.RELOADS: one(file.reloads),
        catalog.RELOAD_FAILURES: one(file.failures),
    }
