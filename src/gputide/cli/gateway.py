"""`gputide gateway`: the cloud end of the tunnel, its join tokens and its revocations."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from gputide.cli.group import epilogue, new_group
from gputide.cli.logs import configure_logs
from gputide.cli.process import run_until_stopped
from gputide.clock import SystemClock, utc_from_unix
from gputide.errors import SettingError
from gputide.tunnel.settings import GATEWAY_DIRECTORY, GatewaySettings

app = new_group("gateway")
token = App(name="token", help="Join tokens: what an agent shows once to get its certificate.")
app.command(token)

MAX_TTL_SECONDS = 30 * 86_400.0


@app.default
def serve(settings: GatewaySettings = GatewaySettings()) -> None:
    """Serve edge nodes by name to Prometheus; agents dial in."""
    from gputide.tunnel.gateway.serving import prepare
    from gputide.tunnel.gateway.serving import serve as serve_gateway

    configure_logs(settings.log_format)
    serving = prepare(settings, SystemClock())
    asyncio.run(run_until_stopped(serve_gateway(serving, settings)))


@token.command(help_epilogue=epilogue("gateway", "token", "create"))
def create(
    *,
    nodes: Annotated[tuple[str, ...], Parameter(negative=())],
    site: str = "",
    ttl: str = "1h",
    uses: int = 1,
    directory: Path = GATEWAY_DIRECTORY,
) -> None:
    """Print a new join token.

    Parameters
    ----------
    nodes:
        Node names, or patterns of them, that may join with it: 'edge-gpu-*'.
    site:
        Name of the site, which becomes a label of its nodes.
    ttl:
        How long it can be used: 30s, 15m, 1h, 7d.
    uses:
        How many agents may join with it.
    directory:
        The gateways' directory.

    """
    from gputide.durations import parse_span
    from gputide.tunnel.gateway.serving import TOKENS, make_private
    from gputide.tunnel.identity.authority import open_authority
    from gputide.tunnel.identity.tokens import DirectoryTokens, format_token, new_token
    from gputide.tunnel.model import parse_pattern

    seconds = parse_span(ttl, setting="ttl")
    if not 0 < seconds <= MAX_TTL_SECONDS:
        raise SettingError("ttl", "must be above 0 and at most 30d")
    now_seconds = SystemClock().now_seconds()
    make_private(directory)
    authority = open_authority(directory, now_seconds=now_seconds)
    made, record = new_token(
        nodes=tuple(parse_pattern(one) for text in nodes for one in text.split(",")),
        site=site,
        not_after_seconds=now_seconds + seconds,
        uses=uses,
        fingerprint=authority.fingerprint,
        random=os.urandom,
    )
    DirectoryTokens(directory / TOKENS).add(record)
    end = utc_from_unix(record.not_after_seconds).strftime("%Y-%m-%d %H:%M:%S UTC")
    print(format_token(made))  # noqa: T201 what was asked for
    print(  # noqa: T201 for the person, beside what a script reads
        f"for {', '.join(record.nodes)}; {uses} use{'s' if uses > 1 else ''} until {end}",
        file=sys.stderr,
    )


@app.command(help_epilogue=epilogue("gateway", "revoke"))
def revoke(
    agent: str = "",
    /,
    *,
    serial: str = "",
    why: str = "",
    directory: Path = GATEWAY_DIRECTORY,
) -> None:
    """Revoke an agent's certificates; its links end within seconds.

    Parameters
    ----------
    agent:
        Name of the agent: every certificate that it has got until now.
    serial:
        One certificate by its serial number, in hexadecimal.
    why:
        A note for whoever reads the list.
    directory:
        The gateways' directory.

    """
    from gputide.tunnel.identity.revoked import Revoked
    from gputide.tunnel.identity.revoked import revoke as add

    if bool(agent) == bool(serial):
        raise SettingError("revoke", "name an agent, or give --serial")
    if serial:
        try:
            serial = f"{int(serial, 16):x}"
        except ValueError as error:
            raise SettingError("serial", f"{serial!r} is not hexadecimal") from error
    if not directory.is_dir():
        raise SettingError("directory", f"{directory} is not there")
    now_seconds = SystemClock().now_seconds()
    add(directory, Revoked(agent=agent, serial=serial, at_seconds=now_seconds, why=why))
    print(f"revoked {agent or 'serial ' + serial}")  # noqa: T201 the command's answer
