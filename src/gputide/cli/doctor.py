"""`gputide doctor`: why an edge node cannot be scraped, hop by hop."""

import asyncio
from typing import Annotated

from cyclopts import Parameter

OPS = ("http://127.0.0.1:8481",)


def doctor(
    node: str,
    /,
    *,
    port: int = 9400,
    path: str = "/metrics",
    entrance: str = "",
    proxy: str = "",
    ops: Annotated[tuple[str, ...], Parameter(negative=())] = OPS,
) -> None:
    """Walk the way of an edge node's scrape; name the broken hop and what would mend it.

    Run it where Prometheus runs. It ends with 1 where a hop is broken.

    Parameters
    ----------
    node:
        Name of the node.
    port:
        The exporter's port.
    path:
        Path of its page.
    entrance:
        HOST:PORT of a gateway, instead of what the node's name resolves to.
    proxy:
        The gateway's proxy, where Prometheus has it as proxy_url: http://HOST:PORT.
    ops:
        The gateways' own pages (--ops-address), which know the node's agent.

    """
    from gputide.errors import SettingError
    from gputide.tunnel.doctor import BrokenHopError, Question, State, examine, lines
    from gputide.tunnel.model import parse_node, parse_port

    if entrance and proxy:
        raise SettingError("entrance", "give either --entrance or --proxy")
    if not path.startswith("/"):
        raise SettingError("path", "begins with /")
    question = Question(
        node=parse_node(node),
        port=parse_port(port),
        path=path,
        entrance=entrance,
        proxy=proxy,
        ops=ops,
    )
    findings = asyncio.run(examine(question))
    for line in lines(findings):
        print(line)  # noqa: T201 what was asked for
    broken = next((one.hop for one in findings if one.state is State.BROKEN), None)
    if broken is not None:
        raise BrokenHopError(node, broken)
