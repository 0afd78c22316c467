"""`gputide agent`: the edge end of the tunnel."""

import asyncio
import random
import socket
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gputide.cli.group import epilogue, new_group
from gputide.cli.logs import configure_logs
from gputide.cli.process import run_until_stopped
from gputide.clock import SystemClock
from gputide.errors import SettingError
from gputide.tunnel.settings import AGENT_DIRECTORY, AgentSettings

app = new_group("agent")


@app.default
def serve(settings: AgentSettings = AgentSettings()) -> None:
    """Connect a site's nodes to the gateways; dials out alone."""
    from gputide.tunnel.agent.serving import prepare
    from gputide.tunnel.agent.serving import serve as serve_agent

    configure_logs(settings.log_format)
    clock = SystemClock()
    agent = prepare(settings, clock, random.SystemRandom().random)
    asyncio.run(run_until_stopped(serve_agent(agent, settings, clock)))


@app.command(help_epilogue=epilogue("agent", "join"))
def join(
    url: str,
    /,
    *,
    token: str = "",
    token_file: Path | None = None,
    node: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    name: str = "",
    directory: Path = AGENT_DIRECTORY,
) -> None:
    """Get a certificate with a join token; once for each agent.

    Parameters
    ----------
    url:
        A gateway: https://HOST:PORT.
    token:
        The token of `gputide gateway token create`; better in --token-file or the environment.
    token_file:
        File that holds the token.
    node:
        Nodes to speak for: NAME=ADDRESS, or NAME; this machine if not given.
    name:
        Name of this agent, for people; this machine's if not given.
    directory:
        Where key and certificate are kept.

    """
    from gputide.tunnel.agent.credentials import AgentFiles
    from gputide.tunnel.agent.join import join as ask
    from gputide.tunnel.agent.join import parse_gateway
    from gputide.tunnel.agent.joined import Joined, save_joined
    from gputide.tunnel.agent.site import parse_site_node
    from gputide.tunnel.gateway.serving import make_private
    from gputide.tunnel.identity.tokens import TokenError, parse_token
    from gputide.tunnel.model import parse_node

    gateway = parse_gateway(url)
    try:
        secret = parse_token(_token(token, token_file))
    except TokenError as error:
        raise SettingError("token", str(error)) from error
    host = socket.gethostname().lower()
    texts = node or (f"{host}=127.0.0.1",)
    nodes = tuple(parse_site_node(text)[0] for text in texts)
    make_private(directory)
    agent_name = parse_node(name or host, setting="name")
    files = AgentFiles(directory=directory)
    answer = asyncio.run(ask(gateway, secret, name=agent_name, nodes=nodes, files=files))
    gateways = answer.gateways or (f"https://{gateway.authority}",)
    save_joined(directory, Joined(gateways=gateways, nodes=texts))
    shown = ", ".join(answer.nodes[:5]) + (", ..." if len(answer.nodes) > 5 else "")
    print(f"joined {gateway.authority} as {agent_name} for {shown}")  # noqa: T201 the answer


def _token(token: str, token_file: Path | None) -> str:
    from gputide.tunnel.identity.files import read

    if bool(token) == (token_file is not None):
        raise SettingError("token", "give either --token or --token-file")
    return token if token_file is None else read(token_file).decode("ascii", "replace")
