"""The shell: serves what settings ask for until cancelled, then lets requests finish."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import structlog

from gputide import __version__
from gputide.clock import Clock, utc_from_unix
from gputide.errors import GputideError
from gputide.exposition.rows import Rows, by, one
from gputide.kubeapi.serve import Serving, listening, serve
from gputide.kubeapi.tls import ServerTls
from gputide.metricsapi import catalog
from gputide.metricsapi.build import Asked, Built, Work, build
from gputide.metricsapi.certificate import ServingFiles, ensure, not_after
from gputide.metricsapi.selfmetrics import SelfMetrics
from gputide.metricsapi.settings import ServingSettings

log = structlog.stdlib.get_logger()
GRACE_SECONDS = 10.0
AGAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server that serves: its ports (which may have been asked for as 0), its certificate."""

    port: int
    metrics_port: int | None
    files: ServingFiles


def _unheard(_running: Running) -> None:
    """Tell nobody."""


async def run(asked: Asked, clock: Clock, *, started: Callable[[Running], None] = _unheard) -> None:
    """Serve until cancelled; `started` hears of it once connections are accepted."""
    async with AsyncExitStack() as stack:
        built = await build(asked, clock, stack)
        files = _files(asked.serving, clock)
        tls = ServerTls(
            cert_file=files.cert_file,
            key_file=files.key_file,
            client_authorities=built.access.client_authorities,
        )
        page = SelfMetrics(built.api.counted, lambda: rows(built, files.cert_file))
        stop = asyncio.Event()
        tls.context()  # a certificate that cannot be used is said before anything listens
        api, plain = _listeners(asked.serving)
        async with asyncio.TaskGroup() as tasks:
            works = [tasks.create_task(_forever(work, clock)) for work in built.works]
            serving = [serve(built.api.app, api, stop=stop, serving=Serving(tls=tls))]
            serving += [] if plain is None else [serve(page, plain, stop=stop)]
            servers = [tasks.create_task(one) for one in serving]
            running = Running(
                port=api.getsockname()[1],
                metrics_port=None if plain is None else plain.getsockname()[1],
                files=files,
            )
            log.info("serving", port=running.port, metrics_port=running.metrics_port)
            started(running)
            try:
                await asyncio.wait(servers, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stop.set()
                await asyncio.wait(servers, timeout=GRACE_SECONDS)
                for work in works:
                    work.cancel()


def rows(built: Built, cert_file: Path) -> Rows:
    """Return the server's own metrics beside the counts of requests."""
    rules, forwarding = built.ruled, built.forwarding
    return {
        catalog.BUILD: [((("version", __version__),), 1.0)],
        catalog.QUESTIONS: by("kind", built.api.asked()),
        catalog.PASSED_ON: by("kind", built.api.passed_on()),
        catalog.FORECAST_FAILURES: one(built.forecasts.failures),
        catalog.CERTIFICATE: one(not_after(cert_file)),
        catalog.FORWARD_UP: one(None if forwarding is None else not forwarding.problem),
        **({} if rules is None else rules.rows()),
    }


async def _forever(work: Work, clock: Clock) -> None:
    """Do a work until cancelled; an error of ours is logged, and it begins anew."""
    while True:
        try:
            await work()
        except GputideError as error:
            log.warning("begins anew", error=str(error))
        await clock.sleep(AGAIN_SECONDS)


def _files(settings: ServingSettings, clock: Clock) -> ServingFiles:
    if settings.tls_cert_file is not None and settings.tls_private_key_file is not None:
        return ServingFiles(
            cert_file=settings.tls_cert_file, key_file=settings.tls_private_key_file
        )
    files = ensure(settings.cert_dir, settings.tls_name, utc_from_unix(clock.now_seconds()))
    log.info("serving with a certificate of our own", ca_bundle=str(files.ca_file))
    return files


def _listeners(settings: ServingSettings) -> tuple[socket.socket, socket.socket | None]:
    api = listening(settings.bind_address, settings.secure_port)
    if not settings.metrics_address:
        return api, None
    try:
        return api, listening(*settings.metrics_host_and_port)
    except GputideError:
        api.close()
        raise
