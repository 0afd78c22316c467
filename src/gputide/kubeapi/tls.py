"""The TLS of a server, made anew when a file or an authority changed."""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import structlog

from gputide.errors import SettingError

State = tuple[object, ...]
log = structlog.stdlib.get_logger()


def no_authorities() -> str:
    """Return "": no client certificate is believed."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTls:
    """Where a server's certificate lies, and whose client certificates it believes."""

    cert_file: str | Path
    """PEM, the chain after it."""

    key_file: str | Path
    client_ca_files: Sequence[str | Path] = field(default_factory=tuple)
    """PEM bundles. Clients may show a certificate; one of another authority ends the connection."""

    client_authorities: Callable[[], str] = no_authorities
    """Returns further authorities as PEM text, asked at each connection: they may rotate."""

    def context(self) -> ssl.SSLContext:
        """Return a context that follows its files; raise SettingError where they cannot be used."""
        return _ReloadingContext(_Source(self))

    def _state(self) -> State:
        """Return what changes when a context has to be made anew."""
        files = (self.cert_file, self.key_file, *self.client_ca_files)
        stats = [Path(one).stat() for one in files]
        return (
            self.client_authorities(),
            *((one.st_mtime_ns, one.st_ino, one.st_size) for one in stats),
        )

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(self.cert_file, self.key_file, password=_refuse_to_ask)
        for one in self.client_ca_files:
            context.load_verify_locations(cafile=one)
        authorities = self.client_authorities()
        if authorities.strip():
            context.load_verify_locations(cadata=authorities)
        if context.cert_store_stats()["x509_ca"]:
            context.verify_mode = ssl.CERT_OPTIONAL
        return context


class _Source:
    """The newest context that could be made."""

    def __init__(self, tls: ServerTls) -> None:
        self._tls = tls
        try:
            self._state = tls._state()  # noqa: SLF001 one module
            self._context = tls._loaded()  # noqa: SLF001 one module
        except (OSError, ssl.SSLError, ValueError) as error:
            raise SettingError("tls", f"{tls.cert_file}: {_words(error)}") from error
        self._refused: State | None = None

    def current(self) -> ssl.SSLContext:
        """Return it; where the files cannot be used at the moment, the one before."""
        try:
            state = self._tls._state()  # noqa: SLF001 one module
            if state not in (self._state, self._refused):
                self._refused = state
                self._context = self._tls._loaded()  # noqa: SLF001 one module
                self._state = state
                log.info("certificates loaded", cert_file=str(self._tls.cert_file))
        except (OSError, ssl.SSLError, ValueError) as error:
            log.warning("new certificates cannot be used", error=_words(error))
        return self._context


class _ReloadingContext(ssl.SSLContext):
    """A context that hands each connection to the newest one."""

    _source: _Source

    def __new__(cls, source: _Source) -> Self:
        context = super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)
        context._source = source
        return context

    def wrap_bio(self, *arguments: Any, **options: Any) -> ssl.SSLObject:  # noqa: ANN401 as ssl's
        """Begin a connection, as asyncio does for each."""
        return self._source.current().wrap_bio(*arguments, **options)


def _refuse_to_ask() -> str:
    raise ValueError("the key is encrypted; give one that is not")


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return str(error.reason or error).replace("_", " ").lower()
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)
