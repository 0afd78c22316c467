"""A certificate that nears its end is renewed over the link, for a key of its own."""

from pathlib import Path

from fakes.tunnel import Cloud, running_agent, start_gateway
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.renewal import renew_once
from gputide.tunnel.agent.site import Allowance


async def test_the_new_certificate_is_for_the_same_names_and_another_key(
    cloud: Cloud, tmp_path: Path
) -> None:
    gateway = start_gateway(cloud)
    async with running_agent(
        cloud,
        tmp_path / "agent",
        gateway,
        nodes={"edge-gpu-001": "127.0.0.1"},
        allowances=(Allowance(port=9400, paths=("/metrics",)),),
    ) as agent:
        files = AgentFiles(directory=tmp_path / "agent")
        before, old_pem = files.identity(), files.tls.key.read_bytes()
        assert await renew_once(files, agent.dialer.up)

    after = files.identity()
    assert (after.name, after.site, after.nodes) == (before.name, before.site, before.nodes)
    assert after.serial != before.serial
    key = files.tls.key.read_bytes().partition(b"-----BEGIN PRIVATE KEY")[2]
    assert key
    assert key not in old_pem
    assert files.tls.key.stat().st_mode & 0o777 == 0o600
    assert gateway.gateway.desk.outcomes["renewed"] == 1
    await gateway.stop()


async def test_without_a_gateway_the_old_one_stays(cloud: Cloud, tmp_path: Path) -> None:
    gateway = start_gateway(cloud)
    async with running_agent(
        cloud,
        tmp_path / "agent",
        gateway,
        nodes={"edge-gpu-001": "127.0.0.1"},
        allowances=(Allowance(port=9400, paths=("/metrics",)),),
    ) as agent:
        links = agent.dialer.up
    files = AgentFiles(directory=tmp_path / "agent")
    before = files.identity()
    assert not await renew_once(files, links)
    assert not await renew_once(files, [])
    assert files.identity() == before
    await gateway.stop()
