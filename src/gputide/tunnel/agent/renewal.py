"""Renews the agent's certificate through the tunnel before it ends."""

from collections.abc import Callable

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.tunnel.agent.credentials import AgentFiles, fresh_key
from gputide.tunnel.identity.certificate import new_request
from gputide.tunnel.joining import RENEW
from gputide.tunnel.link import Link

log = structlog.stdlib.get_logger()

LOOK_SECONDS = 3600.0
RETRY_SECONDS = 60.0


async def renew_for_ever(files: AgentFiles, links: Callable[[], list[Link]], clock: Clock) -> None:
    """Renew whenever it is time, by whichever gateway answers; a failure is tried again."""
    while True:
        wait = files.renew_at_seconds() - clock.now_seconds()
        if wait > 0:
            await clock.sleep(min(wait, LOOK_SECONDS))
            continue
        if not await renew_once(files, links()):
            await clock.sleep(RETRY_SECONDS)


async def renew_once(files: AgentFiles, links: list[Link]) -> bool:
    """Ask each link in turn; return whether one gave a new certificate."""
    identity = files.identity()
    for link in links:
        key = fresh_key()
        params = {"request": new_request(key, identity.name).decode()}
        try:
            result = await link.call(RENEW, params)
            files.renew(key, str(result["certificate"]))
        except (GputideError, KeyError) as error:
            log.warning("certificate not renewed", error=str(error))
            continue
        log.info("certificate renewed", not_after=files.identity().not_after_seconds)
        return True
    return False
