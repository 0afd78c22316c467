"""Two edge sites behind a bad line, scraped by name through two gateways, and what is missing.

    PYTHONPATH=tests python bench/edge_sites.py [--nodes 200] [--steady 180] [--cut 600]

A real Prometheus scrapes every node every 15 s, by node name (its own /etc/hosts names both
gateways for each), at 80 ms round trip and 2 % loss. One gateway is killed (kill -9) and started
again, then one site's lines are cut. Needs root, for the mount namespace of Prometheus' hosts file.
Every site's nodes are addresses of loopback; their pages come from the simulated exporter.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import httpx2

from fakes.programs import Program, Programs, free_ports, wait_until
from fakes.prometheus_server import running_prometheus
from fakes.relay import Line, relay
from gputide.clock import SystemClock

GPUTIDE = (sys.executable, "-m", "gputide")
GATEWAYS = ("127.0.0.2", "127.0.0.3")
SITES = ("a", "b")
INTERVAL_SECONDS = 15
DELAY_SECONDS, LOSS_RATIO = 0.04, 0.02
SERIES = 'DCGM_FI_DEV_GPU_UTIL{gpu="0"}'
CONFIG = """\
global: {{scrape_interval: 15s, scrape_timeout: 10s}}
storage: {{tsdb: {{out_of_order_time_window: 1h}}}}
scrape_configs:
- job_name: edge
  file_sd_configs: [{{files: ["{folder}/targets.json"]}}]
"""


def node_address(site: int, number: int) -> str:
    """Return a node's address at its site."""
    return f"127.{10 + site}.{number // 250}.{number % 250 + 1}"


def node_name(site: int, number: int) -> str:
    """Return a node's name."""
    return f"edge-{SITES[site]}-{number:03}"


@dataclass
class Exporters:
    """All nodes' exporters on one port: the page of a two-GPU node, a value of which counts."""

    page: bytes
    count: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests."""
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.count += 1
                body = self.page.replace(b"} 0\n", b"} %d\n" % (self.count % 100))
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
                writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@dataclass
class Rig:
    """Gateways, agents, their lines, and the Prometheus that asks."""

    folder: Path
    programs: Programs
    port: int
    nodes: int
    doors: dict[str, int] = field(default_factory=dict)
    gateways: dict[str, Program] = field(default_factory=dict)
    lines: list[list[Line]] = field(default_factory=list)
    url: str = ""

    def start_gateway(self, address: str, prometheus_port: int) -> None:
        """Start the gateway of an address."""
        self.gateways[address] = self.programs.start(
            f"gateway-{address}",
            [
                *(*GPUTIDE, "gateway", "--directory", self.folder / "gateways"),
                *("--name", address, "--server-name", "127.0.0.1"),
                *("--agents-address", f"{address}:{self.doors[address]}"),
                *("--listen-host", address, "--http-port", str(self.port)),
                *("--tls-port", "10250=0", "--proxy-address", "", "--ops-address", f"{address}:0"),
                *("--prometheus-url", f"http://127.0.0.1:{prometheus_port}"),
            ],
        )

    def start_agent(self, site: int) -> None:
        """Join a site's agent by a token of its own, and start it."""
        own, keys = f"edge-{SITES[site]}-*", self.folder / "gateways"
        made = ("gateway", "token", "create", "--nodes", own, "--site", SITES[site])
        token = self.run(*made, "--directory", keys)
        path = self.folder / f"token-{site}"
        path.write_text(token.split()[-1])
        directory = self.folder / f"agent-{site}"
        urls = [f"https://127.0.0.1:{line.port}" for line in self.lines[site]]
        nodes = [f"{node_name(site, n)}={node_address(site, n)}" for n in range(self.nodes)]
        joined = [part for node in nodes for part in ("--node", node)]
        self.run("agent", "join", urls[0], "--token-file", path, "--directory", directory, *joined)
        gateways = [part for url in urls for part in ("--gateway", url)]
        self.programs.start(
            f"agent-{site}",
            [
                *(*GPUTIDE, "agent", "--directory", directory, *gateways, *joined),
                *("--allow", f"{self.port}:/metrics", "--metrics-address", ""),
            ],
        )

    def run(self, *arguments: str | Path) -> str:
        """Run one of gputide's commands and return what it printed."""
        command = [*GPUTIDE, *map(str, arguments)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        return done.stdout

    def write_names(self) -> None:
        """Write Prometheus' hosts file and its targets."""
        hosts, targets = [], []
        for site in range(len(SITES)):
            for number in range(self.nodes):
                name = node_name(site, number)
                hosts += [f"{address} {name}" for address in GATEWAYS]
                labels = f'"labels": {{"site": "{SITES[site]}"}}'
                targets.append(f'{{"targets": ["{name}:{self.port}"], {labels}}}')
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "\n".join(hosts) + "\n")
        (self.folder / "targets.json").write_text(f"[{', '.join(targets)}]")

    async def query(self, text: str) -> list[dict[str, object]]:
        """Return what an instant query finds."""
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
            answer = await client.get(f"{self.url}/api/v1/query", params={"query": text})
            return list(answer.json()["data"]["result"])

    async def number(self, text: str) -> float:
        """Return the one value that a query finds."""
        found = await self.query(text)
        return float(found[0]["value"][1]) if found else float("nan")  # type: ignore[index]


async def scrapes(rig: Rig, title: str, seconds: int) -> None:
    """Print what the last seconds' scrapes came to, by site."""
    for site in SITES:
        up = f'up{{site="{site}"}}[{seconds}s]'
        total = await rig.number(f"sum(count_over_time({up}))")
        failed = await rig.number(f"sum(count_over_time({up}) - sum_over_time({up}))")
        worst = await rig.number(f"max(count_over_time({up}) - sum_over_time({up}))")
        took = f'scrape_duration_seconds{{site="{site}"}}[{seconds}s]'
        median = await rig.number(f"quantile(0.5, quantile_over_time(0.5, {took}))")
        slow = await rig.number(f"quantile(0.99, quantile_over_time(0.99, {took}))")
        print(
            f"{title:34} site {site}: {total:6.0f} scrapes, {failed:4.0f} failed (at most"
            f" {worst:.0f} a node), median {median * 1000:4.0f} ms, p99 {slow * 1000:5.0f} ms",
            flush=True,
        )


async def gaps(rig: Rig, seconds: int) -> None:
    """Print the longest time without a sample of the page, over all nodes, by site."""
    for site in SITES:
        selector = SERIES.replace("{", f'{{site="{site}", ')
        longest, over = 0.0, 0
        series = await rig.query(f"{selector}[{seconds}s]")
        for one in series:
            times = [float(at) for at, _ in one["values"]]  # type: ignore[attr-defined]
            gap = max((late - early for early, late in pairwise(times)), default=float("inf"))
            longest, over = max(longest, gap), over + (gap > INTERVAL_SECONDS * 1.5)
        print(
            f"{'samples of the whole time':34} site {site}: {len(series)} nodes, longest gap"
            f" {longest:.1f} s, {over} nodes with one above {INTERVAL_SECONDS * 1.5:g} s",
            flush=True,
        )


async def play(rig: Rig, prometheus_port: int, steady: int, cut: int) -> None:
    """Have one thing happen after the other, and print what came of it."""
    sleep = SystemClock().sleep
    await sleep(60)  # the first pages, and both agents' links to both gateways
    await sleep(steady)
    await scrapes(rig, "steady", steady)
    rig.gateways[GATEWAYS[0]].kill()
    await sleep(90)
    await scrapes(rig, "a gateway killed", 90)
    rig.start_gateway(GATEWAYS[0], prometheus_port)
    await sleep(60)
    await scrapes(rig, "started again", 60)
    for line in rig.lines[0]:
        line.cut()
    await sleep(cut)
    await scrapes(rig, f"site a cut off for {cut} s", cut)
    for line in rig.lines[0]:
        line.mend()
    await sleep(30)
    await sleep(120)
    await scrapes(rig, "after the reconnect, with backfill", 120)
    await gaps(rig, 60 + steady + 90 + 60 + cut + 150 - 60)


def node_page() -> bytes:
    """Return the page of a node with two GPUs."""
    command = [*GPUTIDE, "exporter", "--once", "--simulate", "a10x2"]
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603


async def main(nodes: int, steady: int, cut: int) -> None:
    """Set everything up, play, and end what was started."""
    exporters = Exporters(await asyncio.to_thread(node_page))
    addresses = [node_address(site, n) for site in range(len(SITES)) for n in range(nodes)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with AsyncExitStack() as stack:
            port, prometheus_port, *doors = free_ports(4)
            server = await asyncio.start_server(exporters.serve, addresses, port)
            programs = stack.enter_context(Programs(folder))
            rig = Rig(folder, programs, port, nodes, dict(zip(GATEWAYS, doors, strict=True)))
            await _start(rig, stack, prometheus_port)
            await play(rig, prometheus_port, steady, cut)
            for one in rig.gateways.values():
                log = one.log()
                print(f"{one.name}: {log.count('scrape failed')} scrapes failed in its log")
            server.close()


async def _start(rig: Rig, stack: AsyncExitStack, prometheus_port: int) -> None:
    for address in GATEWAYS:
        rig.start_gateway(address, prometheus_port)
        program = rig.gateways[address]
        await asyncio.to_thread(
            wait_until, "a gateway serves", lambda p=program: "gateway serves" in p.log(), program
        )
    for _ in SITES:
        rig.lines.append(
            [
                await stack.enter_async_context(
                    relay(
                        (address, rig.doors[address]),
                        delay_seconds=DELAY_SECONDS,
                        loss_ratio=LOSS_RATIO,
                    )
                )
                for address in GATEWAYS
            ]
        )
    for site in range(len(SITES)):
        await asyncio.to_thread(rig.start_agent, site)
    rig.write_names()
    mount = f'mount --bind {rig.folder}/hosts /etc/hosts && exec "$@"'
    prometheus = stack.enter_context(
        await asyncio.to_thread(
            running_prometheus,
            rig.folder,
            config=CONFIG.format(folder=rig.folder),
            arguments=["--web.enable-remote-write-receiver"],
            prefix=["unshare", "--mount", "sh", "-c", mount, "sh"],
            listen=f"127.0.0.1:{prometheus_port}",
        )
    )
    rig.url = prometheus.url


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--steady", type=int, default=180)
    parser.add_argument("--cut", type=int, default=600)
    asyncio.run(main(**vars(parser.parse_args())))
