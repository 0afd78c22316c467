"""From settings to a gateway that serves: files, sockets, certificate, pages."""

import asyncio
import os
import socket
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import structlog

from gputide.clock import Clock
from gputide.errors import SettingError
from gputide.kube.client import KubeClient
from gputide.kube.settings import KubeSettings
from gputide.tunnel.backfilling import BACKFILL
from gputide.tunnel.gateway.backfill.receive import BackfillReceiver
from gputide.tunnel.gateway.desk import Desk
from gputide.tunnel.gateway.names import HostsFile
from gputide.tunnel.gateway.ops import ops_app
from gputide.tunnel.gateway.publish import (
    ConfigMapNames,
    FileNames,
    NameStore,
    publish_for_ever,
    publish_to_cluster,
)
from gputide.tunnel.gateway.run import EntranceSocket, Gateway, run
from gputide.tunnel.gateway.selfmetrics import Counts, gateway_families
from gputide.tunnel.gateway.server_files import ServerFiles
from gputide.tunnel.identity.authority import open_authority
from gputide.tunnel.identity.revoked import RevocationList
from gputide.tunnel.identity.tokens import DirectoryTokens
from gputide.tunnel.listener import bind
from gputide.tunnel.settings import GatewaySettings
from gputide.tunnel.tls import keep_buffers_small
from gputide.tunnel.web import serve_app

log = structlog.stdlib.get_logger()

TOKENS = "tokens"
SWEEP_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The sockets of a gateway; bound before anything else, so that a used port is told at once."""

    door: socket.socket
    entrances: tuple[EntranceSocket, ...]
    ops: socket.socket | None

    def addresses(self) -> dict[str, str]:
        """Return what listens where, for the log."""
        named = {"agents": self.door}
        for one in self.entrances:
            kind = "tls" if one.is_tls else "http"
            named["proxy" if one.port is None else f"{kind}-{one.port}"] = one.listening
        if self.ops is not None:
            named["ops"] = self.ops
        return {name: "{}:{}".format(*one.getsockname()[:2]) for name, one in named.items()}


@dataclass(slots=True, kw_only=True)
class Serving:
    """A gateway, ready to run."""

    gateway: Gateway
    bound: Bound
    counts: Counts = field(default_factory=Counts)
    receiver: BackfillReceiver | None = None


def bind_all(settings: GatewaySettings) -> Bound:
    """Bind every port, or raise SettingError."""
    entrances = [
        EntranceSocket(
            listening=bind(f"{settings.listen_host}:{local}", setting=setting),
            port=port,
            is_tls=is_tls,
        )
        for setting, ports, is_tls in (
            ("http-port", settings.http_ports, False),
            ("tls-port", settings.tls_ports, True),
        )
        for port, local in ports.items()
    ]
    if settings.proxy_address:
        proxy = bind(settings.proxy_address, setting="proxy-address")
        entrances.append(EntranceSocket(listening=proxy, port=None))
    ops = bind(settings.ops_address, setting="ops-address") if settings.ops_address else None
    return Bound(
        door=bind(settings.agents_address, setting="agents-address"),
        entrances=tuple(entrances),
        ops=ops,
    )


def prepare(settings: GatewaySettings, clock: Clock) -> Serving:
    """Return a gateway for these settings; raises SettingError and InputError."""
    if not settings.server_name:
        raise SettingError(
            "server-name", "name what agents reach this gateway by, such as gw.example.com"
        )
    name = settings.name or socket.gethostname()
    make_private(settings.directory)
    authority = open_authority(settings.directory, now_seconds=clock.now_seconds())
    files = ServerFiles(settings.directory, name, settings.server_name, authority, clock)
    bound = bind_all(settings)
    tokens = DirectoryTokens(settings.directory / TOKENS)
    receiver = _receiver(settings, clock)
    gateway = Gateway(
        name=name,
        streams={} if receiver is None else {BACKFILL: receiver.receive},
        desk=Desk(
            authority,
            tokens,
            clock,
            lifetime_seconds=settings.lifetime_seconds,
            gateways=settings.gateway_url,
        ),
        revocations=RevocationList(settings.directory),
        context=files.context,
        clock=clock,
        is_client_allowed=settings.client_networks.holds,
        gateways=settings.gateway_url,
    )
    return Serving(gateway=gateway, bound=bound, receiver=receiver)


def make_private(directory: Path) -> None:
    """Make a directory that only its owner can enter; SettingError where that fails."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if directory.stat().st_uid == os.getuid():
            directory.chmod(0o700)
    except OSError as error:
        raise SettingError("directory", f"{directory}: {error.strerror}") from error


async def serve(serving: Serving, settings: GatewaySettings) -> None:
    """Serve until cancelled."""
    gateway, bound = serving.gateway, serving.bound
    keep_buffers_small()
    log.info("gateway serves", name=gateway.name, **bound.addresses())
    async with asyncio.TaskGroup() as group:
        group.create_task(run(gateway, bound.door, bound.entrances, serving.counts.refused))
        if bound.ops is not None:
            app = ops_app(
                gateway.registry,
                lambda: gateway_families(
                    gateway.registry,
                    gateway.service,
                    gateway.door,
                    _counted(serving),
                    now_seconds=gateway.clock.monotonic_seconds(),
                ),
                default_port=next(iter(settings.http_ports), 9400),
                read_now=gateway.clock.monotonic_seconds,
                name=gateway.name,
            )
            group.create_task(serve_app(app, bound.ops))
        group.create_task(_publish(gateway, settings))
        group.create_task(_backfill(serving, settings))
        group.create_task(_sweep(settings.directory, gateway.clock))


def _receiver(settings: GatewaySettings, clock: Clock) -> BackfillReceiver | None:
    """Return what takes offline pages; None where the settings name no Prometheus."""
    if not settings.prometheus_url:
        return None
    return BackfillReceiver(
        settings.prometheus_url,
        clock,
        ProcessPoolExecutor(1, mp_context=get_context("spawn")),
        honor_labels=settings.backfill_honor_labels,
    )


async def _backfill(serving: Serving, settings: GatewaySettings) -> None:
    """Keep what takes offline pages open until cancelled."""
    if serving.receiver is None:
        return
    async with serving.receiver:
        log.info("offline pages are taken", prometheus=settings.prometheus_url)
        await asyncio.Event().wait()


async def _publish(gateway: Gateway, settings: GatewaySettings) -> None:
    """Publish node names where the settings want them."""
    stores: list[NameStore] = []
    if settings.hosts_file is not None:
        stores.append(FileNames(HostsFile(settings.hosts_file)))
    addresses = settings.advertise_address
    if settings.names_in_cluster:
        async with KubeClient(KubeSettings(kubeconfig=settings.kubeconfig)) as client:
            stores.append(ConfigMapNames(client, gateway.clock))
            await publish_to_cluster(
                gateway.registry, client, tuple(stores), addresses, gateway.clock
            )
    elif stores:
        await publish_for_ever(gateway.registry, tuple(stores), addresses, gateway.clock)


def _counted(serving: Serving) -> Counts:
    serving.counts.joins = Counter(serving.gateway.desk.outcomes)
    if serving.receiver is not None:
        serving.counts.backfilled = Counter(serving.receiver.outcomes)
    return serving.counts


async def _sweep(directory: Path, clock: Clock) -> None:
    """Remove expired tokens now and then."""
    while True:
        removed = DirectoryTokens(directory / TOKENS).sweep(now_seconds=clock.now_seconds())
        if removed:
            log.info("expired tokens removed", tokens=removed)
        await clock.sleep(SWEEP_SECONDS)
