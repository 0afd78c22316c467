"""The exporter's shell: collect, render, serve, wait."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import structlog

from gputide.clock import Clock
from gputide.exporter.collect import Collector
from gputide.exporter.collection.watch import ErrorKind
from gputide.exporter.http.negotiate import Encoding
from gputide.exporter.http.published import Published
from gputide.exporter.http.server import Address, Server
from gputide.exporter.http.site import Health, Site
from gputide.exporter.http.web_file import WebFile
from gputide.exporter.model import DeviceState, Snapshot
from gputide.exporter.page.model import tail
from gputide.exporter.render import Renderer
from gputide.exporter.selfmetrics import SelfMetrics
from gputide.exposition import Family, Format

log = structlog.stdlib.get_logger()
RENDER, RELOAD = "render", "web_config"
ERROR_KINDS = (*(kind.value for kind in ErrorKind), RENDER, RELOAD)
_PATIENCE = 3
"""Intervals without a new page after which the exporter calls itself ill."""

_LEAST_PATIENCE_SECONDS = 15.0
_FIRST_ROUNDS = 2
"""Readings of each GPU before a page that is printed once: profiling and processes need two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How to serve."""

    address: Address
    interval_seconds: float
    web: WebFile | None = None


class Exporter:
    """The newest page, and what is to be said about how it came to be."""

    def __init__(
        self,
        collector: Collector,
        renderer: Renderer,
        clock: Clock,
        version: str,
        serving: Serving,
    ) -> None:
        self._collector = collector
        self._renderer = renderer
        self._clock = clock
        self._serving = serving
        self._own = SelfMetrics(version, error_kinds=ERROR_KINDS)
        self._errors: Counter[str] = Counter()
        self._said: object = None
        self._snapshot = collector.snapshot()
        self._rendered_at_seconds = -inf
        self._published = Published(renderer.render(self._snapshot))

    @property
    def published(self) -> Published:
        """The newest page."""
        return self._published

    def refresh(self) -> None:
        """Render the newest snapshot; where that fails, the page before stays and ages."""
        snapshot = self._collector.snapshot()
        try:
            self._published = Published(self._renderer.render(snapshot))
        except Exception:  # a bug in one page must not end the collection; /health tells
            self._errors[RENDER] += 1
            log.exception("rendering a page met a bug")
            return
        self._snapshot = snapshot
        self._rendered_at_seconds = self._clock.monotonic_seconds()
        self._own.count_collection(_duration(snapshot))
        self._say(snapshot)

    def health(self) -> Health:
        """Return whether pages come in time."""
        age = self._clock.monotonic_seconds() - self._rendered_at_seconds
        patience = max(_PATIENCE * self._serving.interval_seconds, _LEAST_PATIENCE_SECONDS)
        problem = self._collector.problem()
        if not problem and age > patience:
            problem = f"no page was made within {patience:g} s"
        return Health(problem=problem, age_seconds=age, notes=_notes(self._snapshot))

    def own_families(self) -> tuple[Family, ...]:
        """Return the metrics of this process."""
        return self._own.families(
            age_seconds=self._clock.monotonic_seconds() - self._rendered_at_seconds,
            errors=self._all_errors(),
        )

    def count_scrape(self, target: Format) -> None:
        """Note that a page goes out."""
        self._own.count_scrape(target)

    def _all_errors(self) -> Mapping[str, int]:
        collected = self._collector.counts().errors_total
        errors = {kind.value: count for kind, count in collected.items()}
        web = self._serving.web
        errors[RELOAD] = 0 if web is None else web.reload_errors
        return errors | self._errors

    def _say(self, snapshot: Snapshot) -> None:
        """Log a line where the node is not as it was the round before."""
        states = Counter(status.state.value for status in snapshot.devices)
        said = (states, _notes(snapshot))
        if said == self._said:
            return
        self._said = said
        is_well = set(states) <= {DeviceState.UP.value} and not said[1]
        tell = log.info if is_well else log.warning
        tell("node", gpus=len(snapshot.devices), **states, problems=list(said[1]))


async def run(exporter: Exporter, collector: Collector, clock: Clock, serving: Serving) -> None:
    """Collect and serve until cancelled.

    The address is taken first, so that a second exporter by mistake ends before it touches the
    driver; clients are let in when there is a page, or when the driver has had its time.
    """
    tls = None if serving.web is None else serving.web.tls()
    server = Server(Site(exporter, clock, serving.web).answer, tls=tls)
    await server.bind(serving.address)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(collector.run())
            await collector.first_snapshot()
            exporter.refresh()
            await server.start()
            scheme = "http" if tls is None else "https"
            log.info("serving", address=str(serving.address), port=server.port, scheme=scheme)
            tasks.create_task(_publish(exporter, clock, serving.interval_seconds))
    finally:
        await server.close()


async def once(exporter: Exporter, collector: Collector) -> bytes:
    """Return one whole page in text format, made of readings taken now."""
    collector.start()
    try:
        await collector.first_snapshot(rounds=_FIRST_ROUNDS)
        exporter.refresh()
        end = tail(exporter.own_families(), Format.TEXT)
        return exporter.published.encode(Format.TEXT, Encoding.IDENTITY, end)
    finally:
        collector.close()


async def _publish(exporter: Exporter, clock: Clock, interval_seconds: float) -> None:
    while True:
        await clock.sleep(interval_seconds)
        exporter.refresh()


def _duration(snapshot: Snapshot) -> float | None:
    """Return how long the slowest GPU's reading took; they are read at the same time."""
    known = [each.read_duration_seconds for each in snapshot.devices]
    return max((each for each in known if each is not None), default=None)


def _notes(snapshot: Snapshot) -> tuple[str, ...]:
    """Return what cannot be read on the node."""
    devices = (
        f"GPU {each.device.index} is {each.state.value}: {each.problem}"
        for each in snapshot.devices
        if each.state is not DeviceState.UP
    )
    ownership = snapshot.ownership
    problems = (*ownership.problems, *ownership.detail_problems)
    return (*filter(None, (snapshot.problem,)), *devices, *problems)
