"""A serving certificate made at the start where none is given, and the CA for the APIService."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gputide.errors import InputError

VALID = timedelta(days=3650)
"""The CA is new with each certificate, and an APIService has to be told: seldom, then."""

RENEW_BEFORE = timedelta(days=60)
CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFiles:
    """PEM files: the chain, its key (0600), and the CA for `caBundle` ("" where it is known)."""

    cert_file: Path
    key_file: Path
    ca_file: Path | None = None


def ensure(folder: Path, names: Sequence[str], now: datetime) -> ServingFiles:
    """Return a certificate for those names, the one that is there while it lasts; else a new one.

    The CA's key is kept nowhere: a new certificate has a new CA, which stands in its file.
    """
    files = ServingFiles(
        cert_file=folder / "tls.crt", key_file=folder / "tls.key", ca_file=folder / "ca.crt"
    )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_usable(files, names, now):
            _make(files, names, now)
    except OSError as error:
        raise InputError(str(folder), f"cannot be written: {error.strerror}") from error
    return files


def not_after(path: Path) -> float | None:
    """Return the Unix time when a certificate file ends; None where it cannot be read."""
    try:
        found = x509.load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError):
        return None
    return min(one.not_valid_after_utc.timestamp() for one in found)


def _is_usable(files: ServingFiles, names: Sequence[str], now: datetime) -> bool:
    wanted = (files.cert_file, files.key_file, files.ca_file)
    if not all(path is None or path.exists() for path in wanted):
        return False
    try:
        certificate = x509.load_pem_x509_certificate(files.cert_file.read_bytes())
        stated = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (ValueError, x509.ExtensionNotFound):
        return False
    is_named = list(stated.value) == [_general_name(one) for one in names]
    return is_named and certificate.not_valid_after_utc - RENEW_BEFORE > now


def _make(files: ServingFiles, names: Sequence[str], now: datetime) -> None:
    authority_key, key = _new_key(), _new_key()
    issuer = _name("gputide-metricsapi-ca")
    authority = (
        _builder(issuer, issuer, authority_key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    certificate = (
        _builder(_name(names[0]), issuer, key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([_general_name(one) for one in names]), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    if files.ca_file is not None:
        _write(files.ca_file, authority.public_bytes(pem), mode=0o644)
    _write(files.key_file, secret, mode=0o600)
    _write(files.cert_file, certificate.public_bytes(pem), mode=0o644)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + VALID)
    )


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _general_name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    """Write beside and move into place, so that nobody reads half of it."""
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        file.write(content)
    beside.replace(path)
