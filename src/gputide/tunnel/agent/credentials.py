"""An agent's own files: key, certificate, authority, and when to renew."""

from dataclasses import dataclass
from pathlib import Path

from gputide.errors import InputError
from gputide.tunnel.identity.certificate import (
    PrivateKey,
    key_pem,
    load_certificate,
    load_key,
    new_key,
    read_identity,
)
from gputide.tunnel.identity.files import PUBLIC_MODE, read, read_secret, write_whole
from gputide.tunnel.model import Identity
from gputide.tunnel.tls import TlsFiles

RENEW_AT_RATIO = 2 / 3
"""Part of a certificate's life after which it is renewed: two more chances remain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFiles:
    """Where an agent keeps what it joined with; the directory is the agent's alone."""

    directory: Path

    @property
    def tls(self) -> TlsFiles:
        """The files as TLS wants them."""
        return TlsFiles(
            certificate=self.directory / "agent.pem",
            key=self.directory / "agent.pem",
            authority=self.directory / "gateway-ca.crt",
        )

    @property
    def has_joined(self) -> bool:
        """Whether there is a certificate."""
        return self.tls.certificate.exists()

    def save(self, key: PrivateKey, certificate_pem: str, authority_pem: str) -> None:
        """Write key and certificate as one file, so that they always belong together."""
        write_whole(self.tls.authority, authority_pem.encode(), mode=PUBLIC_MODE)
        write_whole(self.tls.certificate, certificate_pem.encode() + key_pem(key))

    def renew(self, key: PrivateKey, certificate_pem: str) -> None:
        """Replace key and certificate."""
        write_whole(self.tls.certificate, certificate_pem.encode() + key_pem(key))

    def identity(self) -> Identity:
        """Return what the certificate says; raises InputError, also where none is there yet."""
        if not self.has_joined:
            text = "holds no certificate: run `gputide agent join URL --token TOKEN` first"
            raise InputError(str(self.directory), text)
        pem = read_secret(self.tls.certificate)
        load_key(pem, str(self.tls.certificate))
        return read_identity(load_certificate(pem, str(self.tls.certificate)))

    def renew_at_seconds(self) -> float:
        """Return the Unix time from which the certificate should be renewed."""
        pem = read(self.tls.certificate)
        certificate = load_certificate(pem, str(self.tls.certificate))
        start = certificate.not_valid_before_utc.timestamp()
        end = certificate.not_valid_after_utc.timestamp()
        return start + (end - start) * RENEW_AT_RATIO


def fresh_key() -> PrivateKey:
    """Return a key for a new request; each certificate has its own."""
    return new_key()
