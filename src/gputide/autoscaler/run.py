"""The controller's shell: watch, read, decide, write, serve, until stopped."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from gputide.autoscaler import catalog, metrics
from gputide.autoscaler.api import Pages
from gputide.autoscaler.checkpoint import Checkpoint
from gputide.autoscaler.cluster.caches import Caches
from gputide.autoscaler.cluster.metrics_api import KubeMetrics
from gputide.autoscaler.cluster.scales import Scales
from gputide.autoscaler.cluster.writer import Writer
from gputide.autoscaler.control import Control
from gputide.autoscaler.demand.prometheus import PrometheusDemand, ReadSettings
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import Key, Prediction
from gputide.autoscaler.predict import predict
from gputide.autoscaler.settings import AutoscalerSettings
from gputide.autoscaler.sources import CONFIG_MAP, NAMESPACE, PrometheusChoice, address_from
from gputide.autoscaler.upkeep import Upkeep
from gputide.autoscaler.wire import unit_of_source
from gputide.clock import Clock
from gputide.errors import GputideError, InputError
from gputide.exposition import Family
from gputide.exposition.rows import by, families, one
from gputide.kube.client import KubeClient
from gputide.kube.lease import Election
from gputide.kube.membership import Membership
from gputide.kube.mirror import Mirror
from gputide.kube.model import CONFIG_MAPS
from gputide.kubeapi.serve import serve
from gputide.prometheus.settings import PrometheusSettings

log = structlog.stdlib.get_logger()

ROUND_DEADLINE_PERIODS = 4
CHECKPOINT_SECONDS = 60.0
PREDICTIONS_AT_A_TIME = 2


@dataclass(slots=True, kw_only=True)
class Controller:
    """Everything that one controller is made of."""

    client: KubeClient
    clock: Clock
    control: Control
    engine: AutoscalerEngine
    source: PrometheusDemand
    upkeep: Upkeep
    choice: PrometheusChoice
    addresses: Mirror[object]
    election: Election | None
    membership: Membership | None
    checkpoint: Checkpoint | None
    period_seconds: float
    read_token: Callable[[], str]
    rounds: Counter[str] = field(default_factory=Counter)
    _predictions: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(PREDICTIONS_AT_A_TIME)
    )

    @property
    def is_leader(self) -> bool:
        """Whether this replica writes: all that there is, or its own share."""
        leads = self.election is None or self.election.is_leader
        return leads and (self.membership is None or self.membership.may_write)

    def may_write(self, key: Key) -> bool:
        """Whether this replica writes for one autoscaler, now."""
        return self.is_leader and self.is_mine(key)

    def is_mine(self, key: Key) -> bool:
        """Whether one autoscaler falls to this replica; all do where none are shared."""
        return self.membership is None or self.membership.is_mine(str(key))

    async def predict(self, key: Key) -> Prediction | None:
        """Return the observer's data of one autoscaler; a few at a time."""
        async with self._predictions:
            return await predict(self.engine, key, now_seconds=self.clock.now_seconds())

    def why_unready(self) -> str:
        """Return why rounds tell nothing yet; empty when they do."""
        if not self.control.caches.is_synced:
            return self.control.caches.problem()
        return "" if self.rounds["ok"] else "no round was made yet"

    def families(self) -> tuple[Family, ...]:
        """Return the controller's metrics."""
        own = families(
            {
                catalog.LEADER: one(self.is_leader),
                catalog.MEMBERS: one(len(self.membership.members) if self.membership else 1),
                catalog.ROUNDS: by("outcome", self.rounds),
                catalog.ROUND_SECONDS: one(self.control.newest.seconds),
                catalog.WRITES: by("outcome", self.control.writer.writes),
                catalog.QUERIES: by("outcome", self.source.queries),
                catalog.LOADED: one(self.upkeep.loaded_rows),
                catalog.FITTED: one(self.upkeep.fitted_rows),
                catalog.HISTORY_BYTES: one(self.engine.ring.size_bytes),
            }
        )
        told = metrics.outcome_families(self.control.outcomes)
        return (*metrics.build_family(), *own, *told)

    def pages(self) -> Pages:
        """Return what is served."""
        return Pages(
            read_outcomes=lambda: self.control.outcomes,
            read_unit=self._unit,
            predict=self.predict,
            read_families=self.families,
            why_unready=self.why_unready,
            read_token=self.read_token,
        )

    def _unit(self, key: Key) -> str:
        row = self.engine.rows.by_key.get(key)
        return unit_of_source(row.wanted[0].source) if row is not None and row.wanted else ""


def new_controller(
    client: KubeClient,
    clock: Clock,
    settings: AutoscalerSettings,
    *,
    prometheus: PrometheusSettings | None = None,
    election: Election | None = None,
    membership: Membership | None = None,
) -> Controller:
    """Return a controller that is not running yet; with a membership it does its own share."""
    read = ReadSettings(
        max_age_seconds=settings.engine.max_sample_age_seconds,
        window_seconds=settings.engine.rate_window_seconds,
    )
    source = PrometheusDemand(None, read, metrics_api=KubeMetrics(client))
    engine = AutoscalerEngine(source, settings.engine, queries=settings.queries)
    addresses = Mirror(
        client,
        CONFIG_MAPS,
        address_from,
        clock,
        namespace=NAMESPACE,
        field_selector=f"metadata.name={CONFIG_MAP}",
    )
    control = Control(
        caches=Caches(
            client,
            clock,
            namespace=settings.namespace,
            default_time_zone=settings.time_zone,
        ),
        scales=Scales(client, clock),
        engine=engine,
        writer=Writer(client, clock),
        clock=clock,
    )
    made = Controller(
        client=client,
        clock=clock,
        control=control,
        engine=engine,
        source=source,
        upkeep=Upkeep(engine, clock),
        choice=PrometheusChoice(prometheus, addresses, source.use),
        addresses=addresses,  # type: ignore[arg-type]  # only run
        election=election,
        membership=membership,
        checkpoint=Checkpoint(settings.state_dir) if settings.state_dir else None,
        period_seconds=settings.period_seconds,
        read_token=lambda: read_token(settings.token_file),
    )
    control.owns, control.may_write = made.is_mine, made.may_write
    return made


def read_token(path: Path | None) -> str:
    """Return the token as the file has it now, for it may change; "" where there is none."""
    if path is None:
        return ""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    if not token:
        raise InputError(str(path), "holds no token")
    return token


async def run(controller: Controller, listening: socket.socket | None) -> None:
    """Run until cancelled."""
    if controller.checkpoint is not None and (state := controller.checkpoint.read()) is not None:
        controller.engine.restore(state)
        log.info("state restored", autoscalers=len(state.get("keys", ())))
    stop = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            await controller.choice.start()
            group.create_task(controller.control.caches.run())
            group.create_task(controller.addresses.run())
            group.create_task(controller.choice.follow())
            group.create_task(controller.upkeep.run())
            group.create_task(_rounds(controller))
            if controller.election is not None:
                group.create_task(controller.election.run())
            if controller.membership is not None:
                group.create_task(controller.membership.run())
            if listening is not None:
                group.create_task(serve(controller.pages().app(), listening, stop=stop))
    finally:
        stop.set()
        save(controller)
        await controller.choice.close()


def save(controller: Controller) -> None:
    """Write the state, where there is any and a place for it."""
    if controller.checkpoint is not None and controller.engine.rows.order:
        controller.checkpoint.write(controller.engine.save())


async def _rounds(controller: Controller) -> None:
    """Make a round each period; one that fails or takes too long is told, and the next one made."""
    clock = controller.clock
    await controller.control.caches.wait_synced()
    if controller.membership is not None:
        await controller.membership.wait_seen()  # a first round without ours would forget them
    log.info("cluster known", autoscalers=len(controller.control.caches.declared.objects))
    saved_at = clock.monotonic_seconds()
    while True:
        started = clock.monotonic_seconds()
        await _round(controller)
        if clock.monotonic_seconds() - saved_at >= CHECKPOINT_SECONDS:
            saved_at = clock.monotonic_seconds()
            save(controller)
        took = clock.monotonic_seconds() - started
        await clock.sleep(max(controller.period_seconds - took, 0.1))


async def _round(controller: Controller) -> None:
    deadline = controller.period_seconds * ROUND_DEADLINE_PERIODS
    try:
        async with asyncio.timeout(deadline):
            made = await controller.control.once()
    except TimeoutError:
        controller.rounds["too_long"] += 1
        log.warning("round broken off", seconds=deadline)
        return
    except GputideError as error:
        controller.rounds["failed"] += 1
        log.warning("round failed", error=str(error))
        return
    controller.rounds["ok"] += 1
    if made.scaled or made.failed or made.statuses:
        log.info(
            "round",
            autoscalers=made.subjects,
            scaled=made.scaled,
            failed=made.failed,
            statuses=made.statuses,
            seconds=round(made.seconds, 3),
        )
