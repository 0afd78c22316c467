"""A gateway and agents on loopback, with real TLS, sockets and certificates."""

import asyncio
import os
import random
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gputide.clock import Clock, SystemClock
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.join import GatewayUrl, join
from gputide.tunnel.agent.offline.spool import Spool
from gputide.tunnel.agent.run import Agent, new_agent
from gputide.tunnel.agent.run import run as run_agent
from gputide.tunnel.agent.site import Allowance, Site
from gputide.tunnel.exchange import Exchange
from gputide.tunnel.gateway.desk import Desk
from gputide.tunnel.gateway.registry import Connection
from gputide.tunnel.gateway.run import EntranceSocket, Gateway
from gputide.tunnel.gateway.run import run as run_gateway
from gputide.tunnel.identity.authority import Authority, open_authority
from gputide.tunnel.identity.certificate import key_pem, new_key, new_request
from gputide.tunnel.identity.files import write_whole
from gputide.tunnel.identity.revoked import RevocationList
from gputide.tunnel.identity.tokens import DirectoryTokens, format_token, new_token, parse_token
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code, Limits
from gputide.tunnel.tls import TlsFiles, server_context


def bound() -> socket.socket:
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen(1024)  # whoever comes before the server runs waits for it
    return made


async def until(is_so: Callable[[], bool], *, seconds: float = 10) -> None:
    """Wait for something that other tasks bring about."""
    async with asyncio.timeout(seconds):
        while not is_so():
            await SystemClock().sleep(0.01)


@dataclass
class Cloud:
    """The gateways' shared directory."""

    directory: Path
    clock: Clock

    @property
    def authority(self) -> Authority:
        return open_authority(self.directory, now_seconds=self.clock.now_seconds())

    @property
    def tokens(self) -> DirectoryTokens:
        return DirectoryTokens(self.directory / "tokens")

    def token(self, *nodes: str, ttl_seconds: float = 600, uses: int = 1, site: str = "s1") -> str:
        token, record = new_token(
            nodes=nodes,
            site=site,
            not_after_seconds=self.clock.now_seconds() + ttl_seconds,
            uses=uses,
            fingerprint=self.authority.fingerprint,
            random=os.urandom,
        )
        self.tokens.add(record)
        return format_token(token)

    def server_files(self, name: str) -> TlsFiles:
        key = new_key()
        pem = self.authority.sign_gateway(
            new_request(key, name),
            names=("localhost", "127.0.0.1"),
            lifetime_seconds=3600,
            now_seconds=self.clock.now_seconds(),
        )
        path = self.directory / f"{name}.pem"
        write_whole(path, pem + key_pem(key))
        return TlsFiles(certificate=path, key=path, authority=self.directory / "ca.crt")


async def _nowhere(_connection: Connection, _exchange: Exchange) -> None:
    """Stands for a receiver that the test puts in later."""
    raise TunnelRefusedError(Code.UNREACHABLE, "no Prometheus yet")


@dataclass
class RunningGateway:
    gateway: Gateway
    url: GatewayUrl
    entrances: dict[str, int]
    task: asyncio.Task[None]
    refused: dict[str, Counter[str]] = field(default_factory=dict)
    """What the listeners turned away."""

    def behind(self, port: int) -> "RunningGateway":
        """The same gateway, as an agent sees it that dials another port (a line to it)."""
        return replace(self, url=GatewayUrl(host=self.url.host, port=port))

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def start_gateway(
    cloud: Cloud,
    name: str = "gw-1",
    *,
    exporter_port: int = 9400,
    lifetime_seconds: float = 3600,
    allowed: Callable[[str], bool] = lambda _client: True,
    accepts_backfill: bool = False,
    limits: Limits | None = None,
) -> RunningGateway:
    files = cloud.server_files(name)
    gateway = Gateway(
        name=name,
        desk=Desk(cloud.authority, cloud.tokens, cloud.clock, lifetime_seconds=lifetime_seconds),
        revocations=RevocationList(cloud.directory),
        context=lambda: server_context(files),
        clock=cloud.clock,
        is_client_allowed=allowed,
        limits=limits,
        streams={"backfill": _nowhere} if accepts_backfill else {},
    )
    door, pages, proxy, tls = bound(), bound(), bound(), bound()
    entrances = (
        EntranceSocket(listening=pages, port=exporter_port),
        EntranceSocket(listening=proxy, port=None),
        EntranceSocket(listening=tls, port=exporter_port, is_tls=True),
    )
    ports = {"pages": pages, "proxy": proxy, "tls": tls}
    turned_away: dict[str, Counter[str]] = {}
    return RunningGateway(
        gateway=gateway,
        url=GatewayUrl(host="localhost", port=door.getsockname()[1]),
        entrances={key: one.getsockname()[1] for key, one in ports.items()},
        task=asyncio.create_task(run_gateway(gateway, door, entrances, turned_away)),
        refused=turned_away,
    )


@asynccontextmanager
async def running_agent(
    cloud: Cloud,
    directory: Path,
    *gateways: RunningGateway,
    nodes: dict[str, str],
    allowances: tuple[Allowance, ...],
    spool: Spool | None = None,
    limits: Limits | None = None,
    joins_as: tuple[str, ...] | None = None,
) -> AsyncIterator[Agent]:
    """An agent that joined the first gateway, and whose links to all of them are up.

    `joins_as`: the nodes of its certificate, where they are not those it speaks for.
    """
    files = AgentFiles(directory=directory)
    names = tuple(nodes) if joins_as is None else joins_as
    token = parse_token(cloud.token(*names))
    await join(gateways[0].url, token, name="agent-1", nodes=names, files=files)
    agent = new_agent(
        Site(nodes=nodes, allowances=allowances),
        files,
        tuple(one.url for one in gateways),
        clock=SystemClock(),
        random=random.random,
        spool=spool,
        limits=limits,
    )
    task = asyncio.create_task(run_agent(agent, SystemClock()))
    try:
        await until(
            lambda: (
                len(agent.dialer.up) == len(gateways)
                and all(len(one.gateway.registry) for one in gateways)
            )
        )
        yield agent
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
