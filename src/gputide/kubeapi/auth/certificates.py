"""Which authority a verified client certificate comes from, and whom it names."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@lru_cache(maxsize=1024)
def parsed(der: bytes) -> x509.Certificate | None:
    """Return the certificate, or None where the bytes are none."""
    try:
        return x509.load_der_x509_certificate(der)
    except ValueError:
        return None


def issued_by(certificate: x509.Certificate, bundle: str, now: datetime) -> bool:
    """Whether an authority of a PEM bundle signed it itself, for clients, and it is valid now.

    The TLS handshake has verified it against one of all authorities; this tells which.
    """
    if not _is_valid(certificate, now) or not _is_for_clients(certificate):
        return False
    return any(
        _is_valid(authority, now) and _is_authority(authority) and _signed(certificate, authority)
        for authority in authorities(bundle)
    )


@lru_cache(maxsize=16)
def authorities(bundle: str) -> Sequence[x509.Certificate]:
    """Return the certificates of a PEM bundle; none where it cannot be read."""
    if not bundle.strip():
        return ()
    try:
        return tuple(x509.load_pem_x509_certificates(bundle.encode()))
    except ValueError:
        return ()


def common_name(certificate: x509.Certificate) -> str:
    """Return the subject's common name, "" where it has none or several."""
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if len(found) == 1 else ""


def organizations(certificate: x509.Certificate) -> tuple[str, ...]:
    """Return the subject's organizations."""
    found = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return tuple(str(one.value) for one in found)


def _signed(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _is_valid(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _is_for_clients(certificate: x509.Certificate) -> bool:
    try:
        found = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    except x509.ExtensionNotFound:
        return True
    allowed = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
    return bool(allowed & set(found.value))
