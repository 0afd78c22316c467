"""Each hop broken in turn: the doctor names that one, and none before it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.exporter_page import CountingExporter
from fakes.programs import free_ports
from fakes.tunnel import Cloud, RunningGateway, bound, running_agent, start_gateway
from gputide.tunnel.agent.site import Allowance
from gputide.tunnel.doctor import Finding, Hop, Question, State, examine, lines
from gputide.tunnel.gateway.ops import ops_app
from gputide.tunnel.web import serve_app

NODE = "edge-gpu-001"


@pytest.fixture
async def gateway(
    cloud: Cloud, exporter: CountingExporter, tmp_path: Path
) -> AsyncIterator[RunningGateway]:
    made = start_gateway(cloud, exporter_port=exporter.port)
    async with running_agent(
        cloud,
        tmp_path / "agent",
        made,
        nodes={NODE: "127.0.0.1"},
        allowances=(Allowance(port=exporter.port, paths=("/metrics",)),),
    ):
        yield made
    await made.stop()


def question(gateway: RunningGateway, exporter: CountingExporter) -> Question:
    entrance = f"127.0.0.1:{gateway.entrances['pages']}"
    return Question(node=NODE, port=exporter.port, entrance=entrance)


def broken(findings: tuple[Finding, ...]) -> Finding:
    """Return the one hop that is broken, having seen that all before it pass."""
    assert [one.hop for one in findings] == list(Hop)
    states = [one.state for one in findings]
    at = states.index(State.BROKEN)
    assert set(states[:at]) <= {State.OK}
    assert set(states[at + 1 :]) <= {State.NOT_REACHED}
    assert findings[at].mend
    return findings[at]


async def test_a_node_that_can_be_scraped_passes_every_hop(
    gateway: RunningGateway, exporter: CountingExporter
) -> None:
    app = ops_app(
        gateway.gateway.registry,
        tuple,
        default_port=9400,
        read_now=gateway.gateway.clock.monotonic_seconds,
        name="gw-1",
    )
    listening = bound()
    serving = asyncio.create_task(serve_app(app, listening))
    ops = f"http://127.0.0.1:{listening.getsockname()[1]}"
    asked = replace(question(gateway, exporter), ops=(ops,))

    findings = await examine(asked)

    assert [one.state for one in findings] == [State.OK] * len(Hop)
    text = "\n".join(lines(findings))
    assert f"session     {ops}: agent agent-1 of site s1" in text
    assert "bytes in" in text
    unknown = await examine(replace(asked, node="edge-gpu-009"))
    assert broken(unknown).text.endswith(f"{ops}: edge-gpu-009: no agent ever spoke for it here")
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    listening.close()


async def test_the_proxy_is_a_way_in_too(
    gateway: RunningGateway, exporter: CountingExporter
) -> None:
    proxy = f"http://127.0.0.1:{gateway.entrances['proxy']}"
    findings = await examine(replace(question(gateway, exporter), entrance="", proxy=proxy))
    assert [one.state for one in findings] == [State.OK] * len(Hop)


async def test_a_name_that_does_not_resolve_is_the_first_hop() -> None:
    found = broken(await examine(Question(node="edge-gpu-001.invalid", port=9400)))
    assert found.hop is Hop.NAME
    assert "--hosts-file" in found.mend


async def test_an_entrance_where_nobody_listens(exporter: CountingExporter) -> None:
    (dead,) = free_ports(1)
    asked = Question(node=NODE, port=exporter.port, entrance=f"127.0.0.1:{dead}")
    found = broken(await examine(asked))
    assert found.hop is Hop.ENTRANCE
    assert found.text.startswith("0 of 1 answer")


async def test_a_client_that_is_not_on_the_list(cloud: Cloud, exporter: CountingExporter) -> None:
    gateway = start_gateway(cloud, exporter_port=exporter.port, allowed=lambda _client: False)
    found = broken(await examine(question(gateway, exporter)))
    assert found.hop is Hop.ENTRANCE
    assert "--allow-client" in found.mend
    await gateway.stop()


async def test_a_node_without_an_agent(gateway: RunningGateway, exporter: CountingExporter) -> None:
    asked = replace(question(gateway, exporter), node="edge-gpu-009")
    found = broken(await examine(asked))
    assert found.hop is Hop.SESSION
    assert found.text == "edge-gpu-009: no agent ever spoke for it here"


async def test_a_page_that_the_site_does_not_allow(
    gateway: RunningGateway, exporter: CountingExporter
) -> None:
    found = broken(await examine(replace(question(gateway, exporter), path="/debug")))
    assert found.hop is Hop.ALLOW_LIST


async def test_an_exporter_that_does_not_run(
    cloud: Cloud, exporter: CountingExporter, tmp_path: Path
) -> None:
    (dead,) = free_ports(1)
    gateway = start_gateway(cloud, exporter_port=dead)
    async with running_agent(
        cloud,
        tmp_path / "agent",
        gateway,
        nodes={NODE: "127.0.0.1"},
        allowances=(Allowance(port=dead, paths=("/metrics",)),),
    ):
        found = broken(await examine(replace(question(gateway, exporter), port=dead)))
    assert found.hop is Hop.EXPORTER
    await gateway.stop()


async def test_gateway_pages_that_cannot_be_read_are_named_and_break_nothing(
    gateway: RunningGateway, exporter: CountingExporter
) -> None:
    (dead,) = free_ports(1)
    asked = replace(question(gateway, exporter), ops=(f"http://127.0.0.1:{dead}",))
    findings = await examine(asked)
    assert all(one.state is State.OK for one in findings)
    assert "does not say" in "\n".join(lines(findings))
