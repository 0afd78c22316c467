"""What the tunnel costs: a scrape's added latency, bytes, scrapes a second, memory of idle agents.

    PYTHONPATH=tests python bench/tunnel.py [--seconds 5] [--agents 1000] [--only idle]

Gateway, agent, exporter and the plain reverse tunnel beside it (asyncssh) are processes of their
own; the clients are this one. All share the machine: read the ratios, not the absolutes.
"""

import argparse
import asyncio
import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import asyncssh

from fakes.exporter_process import exporter_process
from fakes.programs import Program, Programs, free_ports, wait_until
from fakes.relay import relay
from gputide.clock import SystemClock
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.dialer import Dialer
from gputide.tunnel.agent.fetch import Fetcher
from gputide.tunnel.agent.handler import AgentHandler
from gputide.tunnel.agent.join import parse_gateway
from gputide.tunnel.agent.site import Site
from gputide.tunnel.protocol import Hello
from gputide.tunnel.tls import client_context

GPUTIDE = (sys.executable, "-m", "gputide")
NODE = "edge-gpu-001"
ONE_WAY_SECONDS = 0.04
PAGES = 20
DIALLING = 32
"""Idle agents that shake hands at a time."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Scrapes of one client set."""

    per_second: float
    median_ms: float
    p99_ms: float


async def get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> bytes:
    """Return a page over a connection that stays."""
    head = f"GET /metrics HTTP/1.1\r\nHost: {NODE}:{port}\r\n"
    writer.write(f"{head}X-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n".encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in answer.partition(b"\r\n")[0], answer
    found = re.search(rb"(?i)content-length: (\d+)", answer)
    assert found
    return await reader.readexactly(int(found[1]))


async def speed(address: tuple[str, int], port: int, *, clients: int, seconds: float) -> Speed:
    """Return what so many clients get that ask again at once."""
    took: list[float] = []
    ends = time.perf_counter() + seconds

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(*address)
        await get(reader, writer, port)
        while (started := time.perf_counter()) < ends:
            await get(reader, writer, port)
            took.append(time.perf_counter() - started)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(clients)))
    took.sort()
    return Speed(
        len(took) / seconds, statistics.median(took) * 1000, took[len(took) * 99 // 100] * 1000
    )


def run(*arguments: str | Path) -> str:
    """Run one of gputide's commands and return what it printed."""
    command = [*GPUTIDE, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


class Rig:
    """A gateway and what belongs to it."""

    def __init__(self, folder: Path, programs: Programs, exporter_ports: tuple[int, ...]) -> None:
        self.folder, self.programs = folder, programs
        self.ports = exporter_ports
        self.door, self.ops, *local = free_ports(2 + len(exporter_ports))
        self.local = dict(zip(exporter_ports, local, strict=True))
        pairs = [f"{port}={mine}" for port, mine in self.local.items()]
        self.gateway = programs.start(
            "gateway",
            [
                *(*GPUTIDE, "gateway", "--directory", folder / "gateway"),
                *("--server-name", "127.0.0.1", "--agents-address", f"127.0.0.1:{self.door}"),
                *("--listen-host", "127.0.0.1", "--tls-port", "10250=0", "--proxy-address", ""),
                *("--ops-address", f"127.0.0.1:{self.ops}"),
                *(part for pair in pairs for part in ("--http-port", pair)),
            ],
        )
        log = self.gateway.log
        wait_until("the gateway serves", lambda: "gateway serves" in log(), self.gateway)

    def join(self, name: str, nodes: str, *, port: int | None = None) -> Path:
        """Have an agent join; return its directory."""
        made = ("gateway", "token", "create", "--nodes", nodes)
        path = self.folder / f"token-{name}"
        path.write_text(run(*made, "--directory", self.folder / "gateway").split()[-1])
        url = f"https://127.0.0.1:{port or self.door}"
        run(
            *("agent", "join", url, "--token-file", path, "--name", name),
            *("--directory", self.folder / name, "--node", f"{nodes.replace('*', '1')}=127.0.0.1"),
        )
        return self.folder / name

    def start_agent(self, *, port: int | None = None, name: str = "agent") -> Program:
        """Start an agent that dials `port`."""
        directory = self.join(name, NODE, port=port)
        allowed = [part for one in self.ports for part in ("--allow", f"{one}:/metrics")]
        return self.programs.start(
            name,
            [
                *(*GPUTIDE, "agent", "--directory", directory, "--metrics-address", ""),
                *(*allowed, "--spool-mebibytes", "0"),
            ],
        )

    async def counted(self, name: str) -> float:
        """Return a value of the gateway's own metrics."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.ops)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        text = (await reader.read(-1)).decode()
        writer.close()
        found = re.search(rf"(?m)^{name}(?:{{[^}}]*}})? (\S+)", text)
        return float(found[1]) if found else 0.0


def linked(agent: Program) -> None:
    """Wait for an agent's link."""
    wait_until("the link is up", lambda: "gateway link up" in agent.log(), agent)


async def throughput(rig: Rig, page_port: int, seconds: float) -> None:
    """Compare scrapes a second: direct, through the tunnel, through SSH."""
    agent = await asyncio.to_thread(rig.start_agent)
    await asyncio.to_thread(linked, agent)
    async with AsyncExitStack() as stack:
        forwarded: int = await stack.enter_async_context(ssh_forward(rig, page_port))
        ways = {
            "direct": page_port,
            "gputide tunnel": rig.local[page_port],
            "asyncssh reverse forward": forwarded,
        }
        for clients in (1, 64):
            for name, port in ways.items():
                found = await speed(
                    ("127.0.0.1", port), page_port, clients=clients, seconds=seconds
                )
                print(
                    f"{name:28} {clients:3} at a time: {found.per_second:7.0f} scrapes/s,"
                    f" median {found.median_ms:7.2f} ms, p99 {found.p99_ms:7.2f} ms",
                    flush=True,
                )
    agent.stop()


class ssh_forward:  # noqa: N801  used as a context, as those of contextlib
    """A port that SSH forwards back to the exporter, by two processes."""

    def __init__(self, rig: Rig, page_port: int) -> None:
        self._rig, self._page_port = rig, page_port

    async def __aenter__(self) -> int:
        key = self._rig.folder / "ssh-key"
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(key)
        door, forwarded = free_ports(2)
        me = [sys.executable, __file__, "--part"]
        server = self._rig.programs.start("sshd", [*me, "ssh-server", str(door), str(key)])
        await asyncio.to_thread(wait_until, "sshd", lambda: "ready" in server.log(), server)
        client = self._rig.programs.start(
            "ssh", [*me, "ssh-client", str(door), str(key), str(forwarded), str(self._page_port)]
        )
        await asyncio.to_thread(wait_until, "ssh", lambda: "ready" in client.log(), client)
        self._programs = server, client
        return forwarded

    async def __aexit__(self, *_: object) -> None:
        for one in self._programs:
            one.kill()


class AnySsh(asyncssh.SSHServer):
    """Lets the benchmark's own client in."""

    def begin_auth(self, username: str) -> bool:
        """Ask for nothing."""
        return not username

    def server_requested(self, listen_host: str, listen_port: int) -> bool:
        """Forward any port."""
        return bool(listen_host and listen_port)


async def part(name: str, arguments: list[str]) -> None:
    """Be one of the processes beside."""
    if name == "page":
        page = await asyncio.to_thread(Path(arguments[1]).read_bytes)
        await serve_page(int(arguments[0]), page)
    elif name == "ssh-server":
        await asyncssh.listen(
            "127.0.0.1", int(arguments[0]), server_host_keys=[arguments[1]], server_factory=AnySsh
        )
    else:
        door, _, forwarded, target = arguments
        connection = await asyncssh.connect(
            "127.0.0.1", int(door), known_hosts=None, username="bench", config=None
        )
        await connection.forward_remote_port("127.0.0.1", int(forwarded), "127.0.0.1", int(target))
    print("ready", flush=True)
    await asyncio.Event().wait()


async def serve_page(port: int, page: bytes) -> None:
    """Serve one page for ever."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
    answer = head + b"Content-Length: %d\r\n\r\n" % len(page) + page

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    await asyncio.start_server(serve, "127.0.0.1", port)


async def latency(rig: Rig, page_port: int, seconds: float) -> None:
    """Print what a line of 80 ms round trip adds to a scrape."""
    direct = await speed(("127.0.0.1", page_port), page_port, clients=1, seconds=1)
    async with relay(("127.0.0.1", rig.door), delay_seconds=ONE_WAY_SECONDS) as line:
        agent = await asyncio.to_thread(rig.start_agent, port=line.port, name="far-agent")
        await asyncio.to_thread(linked, agent)
        await asyncio.sleep(0.2)  # noqa: TID251  the other end's greeting is still on the line
        address = ("127.0.0.1", rig.local[page_port])
        through = await speed(address, page_port, clients=1, seconds=seconds)
        agent.stop()
    async with relay(("127.0.0.1", page_port), delay_seconds=ONE_WAY_SECONDS) as line:
        bare = await speed(("127.0.0.1", line.port), page_port, clients=1, seconds=seconds)
    added = through.median_ms - direct.median_ms
    print(
        f"line of {2000 * ONE_WAY_SECONDS:.0f} ms round trip: direct median"
        f" {direct.median_ms:.2f} ms, through the tunnel {through.median_ms:.2f} ms:"
        f" {added:.2f} ms added = one round trip + {added - 2000 * ONE_WAY_SECONDS:.2f} ms"
        f" (the line alone, without a tunnel: {bare.median_ms:.2f} ms)",
        flush=True,
    )


async def wire(rig: Rig, exporter_port: int) -> None:
    """Print bytes on the wire beside gzip, for consecutive pages of a real exporter."""
    agent = await asyncio.to_thread(rig.start_agent, name="page-agent")
    await asyncio.to_thread(linked, agent)
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.local[exporter_port])
    pages = [await get(reader, writer, exporter_port)]
    wire_name, link_name = "gputide_gateway_page_wire_bytes_total", "gputide_gateway_link_bytes"
    before, link = await rig.counted(wire_name), await rig.counted(f"{link_name}_total")
    for _ in range(PAGES):
        await asyncio.sleep(1.1)  # noqa: TID251  the exporter reads its GPUs once a second
        pages.append(await get(reader, writer, exporter_port))
    packed = (await rig.counted(wire_name) - before) / PAGES
    received = (await rig.counted(f"{link_name}_total") - link) / PAGES
    zipped = sum(len(gzip.compress(page, 6)) for page in pages[1:]) / PAGES
    changed = sum(
        sum(a != b for a, b in zip(one.split(b"\n"), two.split(b"\n"), strict=False))
        for one, two in pairwise(pages)
    ) / sum(page.count(b"\n") for page in pages[1:])
    print(
        f"page of an 8-GPU node: {len(pages[-1])} bytes, {changed:.0%} of lines change; gzip -6"
        f" {zipped:.0f}, through the tunnel {packed:.0f} (with frames both ways, pings"
        f" {received:.0f}): {zipped / packed:.1f} times less than gzip",
        flush=True,
    )
    writer.close()
    agent.stop()


class Crowd:
    """Agents that are only connected: links of this process, one certificate for all."""

    def __init__(self, directory: Path, url: str) -> None:
        files = AgentFiles(directory=directory)
        self._context = client_context(files.tls)
        self._site = Site(nodes={"idle-1": "127.0.0.1"})
        self._fetcher, self._url = Fetcher(self._site), parse_gateway(url)
        self._free = asyncio.Semaphore(DIALLING)
        self._dialers: list[Dialer] = []

    @property
    def count(self) -> int:
        """How many have a link."""
        return sum(bool(dialer.up) for dialer in self._dialers)

    async def dial(self, number: int) -> None:
        """Be one of them until cancelled."""
        up = asyncio.Event()
        dialer = Dialer(
            gateways=(self._url,),
            context=lambda: self._context,
            hello=Hello(program="bench", name=f"idle-{number}", nodes=(f"idle-{number}",)),
            new_handler=lambda: AgentHandler(self._site, self._fetcher, {}),
            clock=SystemClock(),
            random=lambda: 1.0,
            on_change=up.set,
        )
        self._dialers.append(dialer)
        async with asyncio.TaskGroup() as group, self._free:
            group.create_task(dialer.run())
            await asyncio.wait_for(up.wait(), 20)


async def idle(rig: Rig, agents: int) -> None:
    """Print the gateway's memory with many agents that are only connected."""
    before = rss(rig.gateway)
    directory = await asyncio.to_thread(rig.join, "idle", "idle-*")
    crowd = Crowd(directory, f"https://127.0.0.1:{rig.door}")
    started = time.perf_counter()
    tasks = [asyncio.create_task(crowd.dial(number)) for number in range(agents)]
    while crowd.count < agents:
        await asyncio.sleep(0.1)  # noqa: TID251  waiting for real connections
        assert time.perf_counter() - started < 200, "not all agents got in"
    took = time.perf_counter() - started
    known = await rig.counted("gputide_gateway_agents")
    await asyncio.sleep(12)  # noqa: TID251  a round of pings
    print(
        f"{known:.0f} idle agents: gateway {rss(rig.gateway):.0f} MB resident ({before:.0f} MB"
        f" without), all connected in {took:.1f} s",
        flush=True,
    )
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def rss(program: Program) -> float:
    """Return a process' resident memory in MB."""
    text = Path(f"/proc/{program.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1000  # type: ignore[index]


async def main(seconds: float, agents: int, only: str) -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory() as name,
        Programs(Path(name)) as programs,
        exporter_process("--simulate", "h100x8", "--simulate-load", "tide") as exporter,
    ):
        folder = Path(name)
        (page_port,) = free_ports(1)
        page = folder / "page"
        page.write_text(run("exporter", "--once", "--simulate", "h100x8"))
        served = programs.start(
            "page", [sys.executable, __file__, "--part", "page", str(page_port), page]
        )
        wait_until("pages are served", lambda: "ready" in served.log(), served)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, page {page.stat().st_size}")
        rig = Rig(folder, programs, (page_port, exporter.port))
        if only in ("", "throughput"):
            await throughput(rig, page_port, seconds)
        if only in ("", "latency"):
            await latency(rig, page_port, seconds)
        if only in ("", "wire"):
            await wire(rig, exporter.port)
        if only in ("", "idle"):
            await idle(Rig(_made(folder / "idle"), programs, (page_port,)), agents)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--only", default="", choices=["", "throughput", "latency", "wire", "idle"])
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        asyncio.run(part(given.part[0], given.part[1:]))
    else:
        asyncio.run(main(given.seconds, given.agents, given.only))
