"""An exporter, a gateway and a site whose scrapes must go on whatever others do."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from fakes.exporter_page import CountingExporter
from fakes.tunnel import Cloud, RunningGateway, running_agent, start_gateway
from gputide.clock import SystemClock
from gputide.tunnel.agent.site import Allowance

NODE = "edge-gpu-001"


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path / "cloud", SystemClock())


@dataclass
class Neighbour:
    """A site that behaves, scraped all the time; `slowest_seconds` of its scrapes."""

    gateway: RunningGateway
    slowest_seconds: float = 0.0
    served: int = 0
    failed: list[str] = field(default_factory=list)

    async def scrape_for_ever(self) -> None:
        loop = asyncio.get_running_loop()
        url = f"http://127.0.0.1:{self.gateway.entrances['pages']}/metrics"
        async with httpx2.AsyncClient(trust_env=False, timeout=5) as client:
            while True:
                started = loop.time()
                answer = await client.get(url, headers={"Host": NODE})
                self.slowest_seconds = max(self.slowest_seconds, loop.time() - started)
                self.served += 1
                if answer.status_code != 200:
                    self.failed.append(answer.reason_phrase)
                await SystemClock().sleep(0.02)

    async def goes_on(self) -> None:
        """Wait for two more scrapes, and see that none ever failed."""
        before = self.served
        async with asyncio.timeout(5):
            while self.served < before + 2:
                await SystemClock().sleep(0.01)
        assert not self.failed


@pytest.fixture
async def exporter() -> AsyncIterator[CountingExporter]:
    async with CountingExporter.running() as made:
        yield made


@pytest.fixture
async def neighbour(
    cloud: Cloud, exporter: CountingExporter, tmp_path: Path
) -> AsyncIterator[Neighbour]:
    gateway = start_gateway(cloud, exporter_port=exporter.port)
    async with running_agent(
        cloud,
        tmp_path / "neighbour",
        gateway,
        nodes={NODE: "127.0.0.1"},
        allowances=(Allowance(port=exporter.port, paths=("/metrics",)),),
    ):
        made = Neighbour(gateway)
        scraping = asyncio.create_task(made.scrape_for_ever())
        await made.goes_on()
        yield made
        scraping.cancel()
        await asyncio.gather(scraping, return_exceptions=True)
    await gateway.stop()
