"""TLS contexts from the web configuration."""

import os
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from gputide.errors import InputError
from gputide.exporter.http.web_config import CIPHERS, CURVES, TlsConfig, resolve

_VERSIONS = {
    "TLS10": ssl.TLSVersion.TLSv1,
    "TLS11": ssl.TLSVersion.TLSv1_1,
    "TLS12": ssl.TLSVersion.TLSv1_2,
    "TLS13": ssl.TLSVersion.TLSv1_3,
}
_VERIFY = {
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}


def new_context(config: TlsConfig, source: Path) -> ssl.SSLContext:
    """Return a server's context; raise InputError naming the file that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[config.min_version]
    context.maximum_version = _VERSIONS[config.max_version]
    ciphers = [CIPHERS[name] for name in config.cipher_suites if name in CIPHERS]
    if ciphers:
        context.set_ciphers(":".join(ciphers))
    if config.prefer_server_cipher_suites:
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    for curve in config.curve_preferences:
        context.set_ecdh_curve(CURVES[curve])
    context.set_alpn_protocols(["http/1.1"])
    _load_certificate(context, config, source)
    context.verify_mode = _VERIFY.get(config.client_auth_type, ssl.CERT_NONE)
    if context.verify_mode is not ssl.CERT_NONE:
        _load_authorities(context, config, source)
    return context


class ReloadingContext(ssl.SSLContext):
    """A context that is made anew for each connection where its files have changed."""

    _current: Callable[[], ssl.SSLContext]

    def __new__(cls, current: Callable[[], ssl.SSLContext]) -> Self:
        """Take where the newest context comes from."""
        context = super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)
        context._current = current
        return context

    def wrap_bio(self, *arguments: Any, **options: Any) -> ssl.SSLObject:  # noqa: ANN401 as ssl's
        """Begin a connection, as asyncio does for each."""
        return self._current().wrap_bio(*arguments, **options)


def is_allowed(certificate: Mapping[str, object] | None, allowed_sans: Sequence[str]) -> bool:
    """Return whether a verified certificate has one of the names; any where the list is empty.

    >>> is_allowed({"subjectAltName": (("DNS", "a.example"),)}, ["a.example"])
    True
    """
    if not allowed_sans:
        return True
    names = (certificate or {}).get("subjectAltName", ())
    return isinstance(names, tuple) and any(value in allowed_sans for _, value in names)


def _load_certificate(context: ssl.SSLContext, config: TlsConfig, source: Path) -> None:
    with _as_file(config.cert, config.cert_file, source) as cert:
        _check_readable(cert, source, "cert_file")
        with _as_file(config.key, config.key_file, source) as key:
            _check_readable(key, source, "key_file")
            try:
                context.load_cert_chain(cert, key, password=_refuse_to_ask)
            except (ssl.SSLError, _EncryptedKeyError) as error:
                shown = config.cert_file or "cert"
                problem = f"{shown} and its key cannot be used: {_words(error)}"
                raise InputError(str(source), f"tls_server_config.cert_file: {problem}") from error


def _load_authorities(context: ssl.SSLContext, config: TlsConfig, source: Path) -> None:
    field = "client_ca" if config.client_ca else "client_ca_file"
    try:
        if config.client_ca:
            context.load_verify_locations(cadata=config.client_ca)
        else:
            path = resolve(config.client_ca_file, source)
            _check_readable(path, source, field)
            context.load_verify_locations(cafile=path)
    except ssl.SSLError as error:
        problem = f"{config.client_ca_file or 'the text'} holds no certificates: {_words(error)}"
        raise InputError(str(source), f"tls_server_config.{field}: {problem}") from error


@contextmanager
def _as_file(text: str, name: str, source: Path) -> Iterator[Path]:
    """Give a path to a file, or to a text that stands in the configuration itself."""
    if not text:
        yield resolve(name, source)
        return
    descriptor = os.memfd_create("gputide-tls")  # ssl reads files only; this one is on no disk
    try:
        os.write(descriptor, text.encode())
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _check_readable(path: Path, source: Path, field: str) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror}"
        raise InputError(str(source), f"tls_server_config.{field}: {problem}") from error


class _EncryptedKeyError(Exception):
    """OpenSSL asks for a passphrase."""


def _refuse_to_ask() -> str:
    raise _EncryptedKeyError("the key is encrypted; give one that is not")


def _words(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error).replace("_", " ").lower()
