"""TLS of the tunnel: 1.3 alone, both sides by certificates of the gateways' own authority."""

import ssl
from asyncio.sslproto import SSLProtocol
from dataclasses import dataclass
from pathlib import Path

from gputide.errors import InputError

ALPN = "http/1.1"
BUFFER_BYTES = 16_384
"""What asyncio keeps for each TLS connection, idle or not; one record. Its own choice is 256 KiB,
which a thousand agents that only wait make 256 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """A certificate, its key and the authority that the other side must be of."""

    certificate: Path
    key: Path
    authority: Path


def keep_buffers_small() -> None:
    """Have this process' TLS connections keep small buffers; before the first one."""
    SSLProtocol.max_size = BUFFER_BYTES


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the gateways' side: a client certificate is checked where one is shown.

    Whoever shows none can only fetch the authority and join; raises InputError.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_OPTIONAL
    _load(context, files)
    return context


def client_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the agent's side; raises InputError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _load(context, files)
    return context


def joining_context(authority_pem: str) -> ssl.SSLContext:
    """Return the side of an agent that has no certificate yet, and trusts that authority alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _common(context)
    context.load_verify_locations(cadata=authority_pem)
    return context


def unverified_context() -> ssl.SSLContext:
    """Return a context to fetch the authority with: its fingerprint is checked afterwards.

    No secret may be sent over it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _common(context)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _load(context: ssl.SSLContext, files: TlsFiles) -> None:
    _common(context)
    try:
        context.load_cert_chain(files.certificate, files.key)
        context.load_verify_locations(files.authority)
    except (OSError, ssl.SSLError) as error:
        place = f"{files.certificate}, {files.key} or {files.authority}"
        raise InputError(place, f"cannot be used for TLS: {error}") from error


def _common(context: ssl.SSLContext) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols([ALPN])
