"""The agents' door: whose certificate opens it, and what a hostile agent can do behind it."""

import asyncio
import ssl
from pathlib import Path

import pytest

from fakes.tunnel import Cloud, RunningGateway, running_agent, until
from gputide.clock import SystemClock
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.site import Allowance
from gputide.tunnel.carrier import PATH, WebSocketCarrier, dial
from gputide.tunnel.identity.authority import Authority
from gputide.tunnel.identity.certificate import key_pem, new_key, new_request
from gputide.tunnel.identity.files import write_whole
from gputide.tunnel.identity.revoked import Revoked, revoke
from gputide.tunnel.model import CarrierClosedError
from gputide.tunnel.protocol import Hello, Limits, Session, Side
from gputide.tunnel.tls import TlsFiles, client_context, joining_context
from integration.tunnel.conftest import NODE, Neighbour

HOUR = 3600.0


def shown(cloud: Cloud, signer: Authority, *, started_ago: float = 0.0) -> ssl.SSLContext:
    """Return a client's TLS with a certificate for NODE, by this signer."""
    key = new_key()
    pem = signer.sign_agent(
        new_request(key, "mallory"),
        name="mallory",
        site="s1",
        nodes=(NODE,),
        lifetime_seconds=HOUR,
        now_seconds=cloud.clock.now_seconds() - started_ago,
    )
    path = cloud.directory / f"mallory-{started_ago:g}-{signer.fingerprint[:8]}.pem"
    write_whole(path, pem + key_pem(key))
    return client_context(
        TlsFiles(certificate=path, key=path, authority=cloud.directory / "ca.crt")
    )


async def opened(gateway: RunningGateway, context: ssl.SSLContext) -> WebSocketCarrier:
    reader, writer = await asyncio.open_connection("localhost", gateway.url.port, ssl=context)
    return await dial(reader, writer, gateway.url.url(PATH))


async def why_closed(gateway: RunningGateway, context: ssl.SSLContext) -> str:
    with pytest.raises((CarrierClosedError, OSError)) as caught:
        await opened(gateway, context)
    return str(caught.value)


async def received_for_ever(carrier: WebSocketCarrier) -> None:
    while True:
        await carrier.receive()


async def test_without_a_certificate_there_is_no_link(cloud: Cloud, neighbour: Neighbour) -> None:
    gateway = neighbour.gateway
    context = joining_context(cloud.authority.pem.decode())
    assert await why_closed(gateway, context) == "refused: no certificate"
    assert gateway.gateway.door.refused["no_certificate"] == 1
    await neighbour.goes_on()


async def test_foreign_and_expired_certificates_end_in_the_handshake(
    cloud: Cloud, neighbour: Neighbour, tmp_path: Path
) -> None:
    gateway = neighbour.gateway
    foreign = Cloud(tmp_path / "foreign", SystemClock()).authority
    await why_closed(gateway, shown(cloud, foreign))
    await until(lambda: gateway.refused["agents"]["tls"] == 1)
    await why_closed(gateway, shown(cloud, cloud.authority, started_ago=2 * HOUR))
    await until(lambda: gateway.refused["agents"]["tls"] == 2)
    assert len(gateway.gateway.registry) == 1
    await neighbour.goes_on()


async def test_a_revoked_certificate_ends_its_link_and_opens_no_other(
    cloud: Cloud, neighbour: Neighbour, tmp_path: Path
) -> None:
    gateway = neighbour.gateway
    allowances = (Allowance(port=9400, paths=("/metrics",)),)
    async with running_agent(
        cloud, tmp_path / "other", gateway, nodes={"edge-gpu-002": "h"}, allowances=allowances
    ):
        await until(lambda: len(gateway.gateway.registry) == 2)
        identity = AgentFiles(directory=tmp_path / "other").identity()
        revoke(cloud.directory, Revoked(serial=f"{identity.serial:x}", why="stolen"))
        await until(lambda: len(gateway.gateway.registry) == 1)
        await until(lambda: gateway.gateway.door.refused["revoked"] >= 1)
    assert gateway.gateway.registry.nodes["edge-gpu-002"].why == "revoked"
    await neighbour.goes_on()


async def test_nobody_speaks_for_a_node_that_its_certificate_does_not_name(
    cloud: Cloud, neighbour: Neighbour, tmp_path: Path
) -> None:
    gateway = neighbour.gateway
    async with running_agent(
        cloud,
        tmp_path / "other",
        gateway,
        nodes={NODE: "127.0.0.1", "edge-gpu-002": "127.0.0.1"},
        joins_as=("edge-gpu-002",),
        allowances=(Allowance(port=1, paths=("/metrics",)),),
    ):
        await until(lambda: "edge-gpu-002" in gateway.gateway.registry.nodes)
        assert gateway.gateway.door.refused["node_name"] == 1
        await neighbour.goes_on()  # a scrape at the impostor's would fail


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b"\x82\xff" + (4 << 30).to_bytes(8) + b"mask", id="websocket"),
        pytest.param(None, id="session"),
    ],
)
async def test_a_frame_of_four_gigabytes_ends_that_link_alone(
    cloud: Cloud, neighbour: Neighbour, frame: bytes | None
) -> None:
    gateway = neighbour.gateway
    context = shown(cloud, cloud.authority)
    reader, writer = await asyncio.open_connection("localhost", gateway.url.port, ssl=context)
    carrier = await dial(reader, writer, gateway.url.url(PATH))
    if frame is None:
        await carrier.send(b"\x05\x00" + (1).to_bytes(4) + ((4 << 30) - 1).to_bytes(4) + b"x" * 100)
    else:
        writer.write(frame)
        await writer.drain()
    with pytest.raises((CarrierClosedError, OSError)):
        await asyncio.wait_for(received_for_ever(carrier), 5)
    await neighbour.goes_on()


async def test_an_agent_that_says_hello_and_then_nothing_is_dropped(
    cloud: Cloud, neighbour: Neighbour
) -> None:
    carrier = await opened(neighbour.gateway, shown(cloud, cloud.authority))
    hello = Hello(program="mallory", name="mallory", nodes=("edge-gpu-009",))
    session = Session(Side.AGENT, hello, Limits(), now_seconds=0)
    await carrier.send(session.data_to_send())
    # it may only speak for its own node, so nobody is told that the other one is here
    await until(lambda: len(neighbour.gateway.gateway.registry) == 2)
    assert "edge-gpu-009" not in neighbour.gateway.gateway.registry.nodes
    await carrier.close()
    await until(lambda: len(neighbour.gateway.gateway.registry) == 1)
    await neighbour.goes_on()
