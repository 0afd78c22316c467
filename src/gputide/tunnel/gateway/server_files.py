"""The gateway's own certificate: made from the authority, renewed before it ends."""

import ssl
from pathlib import Path

import structlog

from gputide.clock import Clock
from gputide.tunnel.identity.authority import CERTIFICATE_FILE, Authority
from gputide.tunnel.identity.certificate import key_pem, new_key, new_request
from gputide.tunnel.identity.files import write_whole
from gputide.tunnel.tls import TlsFiles, server_context

log = structlog.stdlib.get_logger()

LIFETIME_SECONDS = 30 * 86_400.0
RENEW_SECONDS = LIFETIME_SECONDS / 2


class ServerFiles:
    """Key and certificate in one file a gateway; a new one at each start, and at half of its life.

    Connections that are open keep theirs; new ones see the new one.
    """

    def __init__(
        self,
        directory: Path,
        name: str,
        server_names: tuple[str, ...],
        authority: Authority,
        clock: Clock,
    ) -> None:
        path = directory / f"server-{name}.pem"
        self._files = TlsFiles(certificate=path, key=path, authority=directory / CERTIFICATE_FILE)
        self._name = name
        self._server_names = server_names
        self._authority = authority
        self._clock = clock
        self._renew_at_seconds = 0.0
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return the context for a new connection; raises InputError."""
        now_seconds = self._clock.now_seconds()
        if self._context is None or now_seconds >= self._renew_at_seconds:
            key = new_key()
            pem = self._authority.sign_gateway(
                new_request(key, self._name),
                names=self._server_names,
                lifetime_seconds=LIFETIME_SECONDS,
                now_seconds=now_seconds,
            )
            write_whole(self._files.certificate, pem + key_pem(key))
            self._context = server_context(self._files)
            self._renew_at_seconds = now_seconds + RENEW_SECONDS
            log.info("gateway certificate made", names=self._server_names)
        return self._context
