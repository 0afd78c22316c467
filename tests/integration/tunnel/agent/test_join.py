"""Join tokens: each good for what it says, once, at the gateway it is for."""

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.tunnel import Cloud, RunningGateway, start_gateway
from gputide.clock import SystemClock
from gputide.tunnel.agent.credentials import AgentFiles
from gputide.tunnel.agent.join import join
from gputide.tunnel.identity.tokens import parse_token
from gputide.tunnel.joining import JoinError

NODES = ("edge-gpu-001",)


@pytest.fixture
async def gateway(cloud: Cloud):  # noqa: ANN201  pytest reads the kind off the yield
    made = start_gateway(cloud)
    yield made
    await made.stop()


async def refusal(
    gateway: RunningGateway, text: str, directory: Path, nodes: tuple[str, ...] = NODES
) -> str:
    files = AgentFiles(directory=directory)
    with pytest.raises(JoinError) as caught:
        await join(gateway.url, parse_token(text), name="a", nodes=nodes, files=files)
    assert not files.has_joined
    assert parse_token(text).secret not in str(caught.value)
    return str(caught.value)


async def test_what_a_token_gives_is_kept_from_others(
    gateway: RunningGateway, cloud: Cloud, tmp_path: Path
) -> None:
    files = AgentFiles(directory=tmp_path / "agent")
    token = parse_token(cloud.token("edge-gpu-*", site="plant-7"))
    await join(gateway.url, token, name="a", nodes=NODES, files=files)
    identity = files.identity()
    assert (identity.name, identity.site, identity.nodes) == ("a", "plant-7", NODES)
    assert files.tls.key.stat().st_mode & 0o777 == 0o600
    now = SystemClock().now_seconds()
    assert now + 2200 < files.renew_at_seconds() < now + 2500


async def test_replayed_expired_altered_and_foreign_tokens_are_refused_and_counted(
    gateway: RunningGateway, cloud: Cloud, tmp_path: Path
) -> None:
    used = cloud.token("edge-gpu-*")
    done = AgentFiles(directory=tmp_path / "done")
    await join(gateway.url, parse_token(used), name="a", nodes=NODES, files=done)
    assert "was used already" in await refusal(gateway, used, tmp_path / "a")

    assert "has expired" in await refusal(gateway, cloud.token("*", ttl_seconds=-1), tmp_path / "a")

    good = parse_token(cloud.token("edge-gpu-*"))
    altered = ".".join(("gpt1", good.id, "x" * len(good.secret), good.fingerprint))
    assert await refusal(gateway, altered, tmp_path / "a") == (
        f"{gateway.url.authority}: the join token is not valid here"
    )
    unknown = ".".join(("gpt1", "0" * len(good.id), good.secret, good.fingerprint))
    assert "is not valid here" in await refusal(gateway, unknown, tmp_path / "a")

    outcomes = gateway.gateway.desk.outcomes
    kinds = ("joined", "used", "expired", "altered", "unknown")
    assert {kind: outcomes[kind] for kind in kinds} == dict.fromkeys(kinds, 1)


async def test_a_wrong_name_is_refused_and_spends_nothing(
    gateway: RunningGateway, cloud: Cloud, tmp_path: Path
) -> None:
    text = cloud.token("edge-gpu-*")
    for nodes in (("cloud-gpu-001",), ("edge-gpu-001", "cloud-gpu-001"), ("*",)):
        assert "is not for node" in await refusal(gateway, text, tmp_path / "a", nodes)
    files = AgentFiles(directory=tmp_path / "agent")
    await join(gateway.url, parse_token(text), name="a", nodes=NODES, files=files)
    assert files.has_joined


async def test_a_token_goes_to_no_other_gateway(
    cloud: Cloud, tmp_path: Path, gateway: RunningGateway
) -> None:
    impostor = start_gateway(Cloud(tmp_path / "other", SystemClock()))
    text = await refusal(impostor, cloud.token("edge-gpu-*"), tmp_path / "a")
    assert "is not the gateway that the token is for" in text
    assert text.endswith("the token was not sent")
    assert not impostor.gateway.desk.outcomes
    nobody = replace(gateway, url=replace(gateway.url, port=1))
    assert "Connect" in await refusal(nobody, cloud.token("edge-gpu-*"), tmp_path / "a")
    await impostor.stop()
