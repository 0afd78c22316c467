import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import httpx2
import pytest
import trustme

from fakes.tunnel import Cloud, RunningGateway, running_agent, start_gateway, until
from gputide.clock import SystemClock
from gputide.tunnel.agent.run import Agent
from gputide.tunnel.agent.site import Allowance

VALUES = Random(1)
PAGE = b"".join(
    b'DCGM_FI_DEV_GPU_UTIL{gpu="%d",Hostname="edge-gpu-001"} %d\n' % (n % 8, VALUES.randrange(101))
    for n in range(2000)
)


class Exporter:
    """A tiny exporter: what it got, and what it answers."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.pages = 0
        self.wait = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await self._head(reader):
            self.heads.append(head)
            if "/slow" in head:
                await self.wait.wait()
            self.pages += 1
            body = PAGE.replace(b"} 37\n", b"} %d\n" % self.pages)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
        writer.close()

    async def _head(self, reader: asyncio.StreamReader) -> str:
        try:
            return (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return ""


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path / "cloud", SystemClock())


@pytest.fixture
async def exporter() -> AsyncIterator[tuple[Exporter, int]]:
    made = Exporter()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    async with server:
        yield made, server.sockets[0].getsockname()[1]
        made.wait.set()


@pytest.fixture
async def tunnel(
    cloud: Cloud, exporter: tuple[Exporter, int], tmp_path: Path
) -> AsyncIterator[tuple[RunningGateway, Agent]]:
    gateway = start_gateway(cloud, exporter_port=exporter[1])
    allowances = (Allowance(port=exporter[1], paths=("/metrics", "/slow")),)
    nodes = {"edge-gpu-001": "127.0.0.1"}
    async with running_agent(
        cloud, tmp_path / "agent", gateway, nodes=nodes, allowances=allowances
    ) as agent:
        yield gateway, agent
    await gateway.stop()


async def test_a_page_is_fetched_by_node_name_and_costs_little_the_second_time(
    tunnel: tuple[RunningGateway, Agent], exporter: tuple[Exporter, int]
) -> None:
    gateway, _ = tunnel
    url = f"http://127.0.0.1:{gateway.entrances['pages']}/metrics"
    headers = {
        "Host": "edge-gpu-001",
        "X-Prometheus-Scrape-Timeout-Seconds": "5",
        "Cookie": "stays outside",
    }
    async with httpx2.AsyncClient(trust_env=False) as client:
        first = await client.get(url, headers=headers)
        before = gateway.gateway.service.wire_bytes
        second = await client.get(url, headers=headers)

    assert first.status_code == second.status_code == 200
    assert first.headers["content-type"] == "text/plain; version=0.0.4"
    assert first.content == PAGE.replace(b"} 37\n", b"} 1\n")
    assert second.content == PAGE.replace(b"} 37\n", b"} 2\n")
    assert gateway.gateway.service.wire_bytes - before < before / 5
    assert "Cookie" not in exporter[0].heads[0]
    assert f"Host: edge-gpu-001:{exporter[1]}" in exporter[0].heads[0]


async def test_the_reason_of_a_failure_stands_in_the_status_line(
    tunnel: tuple[RunningGateway, Agent], exporter: tuple[Exporter, int]
) -> None:
    gateway, _ = tunnel
    base = f"http://127.0.0.1:{gateway.entrances['pages']}"
    async with httpx2.AsyncClient(trust_env=False) as client:

        async def reason(node: str, path: str, seconds: str = "5") -> tuple[int, str]:
            answer = await client.get(
                base + path,
                headers={"Host": node, "X-Prometheus-Scrape-Timeout-Seconds": seconds},
            )
            return answer.status_code, answer.reason_phrase

        assert await reason("edge-gpu-009", "/metrics") == (
            502,
            "edge-gpu-009: no agent ever spoke for it here",
        )
        assert await reason("edge-gpu-001", "/debug") == (
            403,
            f"/debug on port {exporter[1]} of edge-gpu-001 is not on the allow-list",
        )
        status, text = await reason("edge-gpu-001", "/slow", "0.3")
        assert (status, text[:12]) == (504, "edge-gpu-001")


async def test_after_the_agent_left_its_nodes_are_named_as_gone(
    cloud: Cloud, exporter: tuple[Exporter, int], tmp_path: Path
) -> None:
    gateway = start_gateway(cloud, exporter_port=exporter[1])
    async with running_agent(
        cloud,
        tmp_path / "agent",
        gateway,
        nodes={"edge-gpu-001": "127.0.0.1"},
        allowances=(Allowance(port=exporter[1], paths=("/metrics",)),),
    ):
        pass
    await until(lambda: not len(gateway.gateway.registry))
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(
            f"http://127.0.0.1:{gateway.entrances['pages']}/metrics",
            headers={"Host": "edge-gpu-001"},
        )
    assert answer.status_code == 502
    assert answer.reason_phrase.startswith("edge-gpu-001 offline 0s (site s1, no link")
    await gateway.stop()


async def test_the_proxy_takes_the_absolute_form_and_connect(
    cloud: Cloud, exporter: tuple[Exporter, int], tmp_path: Path
) -> None:
    gateway = start_gateway(cloud)
    async with running_agent(
        cloud,
        tmp_path / "agent",
        gateway,
        nodes={"edge-gpu-001": "127.0.0.1"},
        allowances=(Allowance(port=exporter[1]),),
    ):
        proxy = f"http://127.0.0.1:{gateway.entrances['proxy']}"
        async with httpx2.AsyncClient(trust_env=False, proxy=proxy) as client:
            answer = await client.get(f"http://edge-gpu-001:{exporter[1]}/metrics")
            assert answer.content == PAGE.replace(b"} 37\n", b"} 1\n")
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.entrances["proxy"])
        writer.write(f"CONNECT edge-gpu-001:{exporter[1]} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: raw\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        writer.close()
    await gateway.stop()


async def test_tls_passes_unopened_by_the_name_in_its_hello(cloud: Cloud, tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("edge-gpu-001").configure_cert(context)
    made = Exporter()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    gateway = start_gateway(cloud, exporter_port=port)
    async with (
        server,
        running_agent(
            cloud,
            tmp_path / "agent",
            gateway,
            nodes={"edge-gpu-001": "127.0.0.1"},
            allowances=(Allowance(port=port),),
        ),
    ):
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)
        reader, writer = await asyncio.open_connection(
            "127.0.0.1",
            gateway.entrances["tls"],
            ssl=trusting,
            server_hostname="edge-gpu-001",
        )
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: n\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        writer.close()
        made.wait.set()
    await gateway.stop()


async def test_any_of_two_gateways_serves_and_one_that_dies_takes_nothing_along(
    cloud: Cloud, exporter: tuple[Exporter, int], tmp_path: Path
) -> None:
    first = start_gateway(cloud, "gw-1", exporter_port=exporter[1])
    second = start_gateway(cloud, "gw-2", exporter_port=exporter[1])
    async with running_agent(
        cloud,
        tmp_path / "agent",
        first,
        second,
        nodes={"edge-gpu-001": "127.0.0.1"},
        allowances=(Allowance(port=exporter[1], paths=("/metrics",)),),
    ):
        await first.stop()
        async with httpx2.AsyncClient(trust_env=False) as client:
            answer = await client.get(
                f"http://127.0.0.1:{second.entrances['pages']}/metrics",
                headers={"Host": "edge-gpu-001"},
            )
        assert answer.status_code == 200
    await second.stop()
