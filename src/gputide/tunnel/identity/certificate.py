"""X.509 as the tunnel uses it: keys, requests, and what a certificate says of an agent."""

from datetime import timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gputide.clock import utc_from_unix
from gputide.errors import InputError
from gputide.tunnel.model import Identity, parse_pattern

AGENT_UNIT = "gputide agent"
GATEWAY_UNIT = "gputide gateway"
CLOCK_SKEW = timedelta(minutes=5)
"""Certificates count from that long ago, since an edge's clock may be late."""

PrivateKey = ec.EllipticCurvePrivateKey


def new_key() -> PrivateKey:
    """Return a new P-256 key."""
    return ec.generate_private_key(ec.SECP256R1())


def key_pem(key: PrivateKey) -> bytes:
    """Return the key as PKCS #8, unencrypted: file modes guard it."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def load_key(pem: bytes, place: str) -> PrivateKey:
    """Return the key, or raise InputError that names the place and not the key."""
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError) as error:
        raise InputError(place, "holds no private key") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise InputError(place, "holds another kind of key than P-256")
    return key


def load_certificate(pem: bytes, place: str) -> x509.Certificate:
    """Return the (first) certificate, or raise InputError."""
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise InputError(place, "holds no certificate") from error


def certificate_pem(certificate: x509.Certificate) -> bytes:
    """Return the certificate as PEM."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def new_request(key: PrivateKey, name: str) -> bytes:
    """Return a signing request (PEM): it proves the key; names are granted by the authority."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return request.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def read_request(pem: bytes) -> x509.CertificateSigningRequest:
    """Return a signing request with a good signature over a P-256 key, or raise InputError."""
    try:
        request = x509.load_pem_x509_csr(pem)
        is_good = request.is_signature_valid
        key = request.public_key()
    except (ValueError, TypeError, InvalidSignature) as error:
        raise InputError("certificate request", "cannot be read") from error
    if not is_good:
        raise InputError("certificate request", "is not signed by its own key")
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1":
        raise InputError("certificate request", "must be for a P-256 key")
    return request


def subject(unit: str, name: str, site: str = "") -> x509.Name:
    """Return a subject: O says the role, OU the site, CN the name for people."""
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, unit)]
    if site:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, site[:64]))
    parts.append(x509.NameAttribute(NameOID.COMMON_NAME, name[:64]))
    return x509.Name(parts)


def alternative_names(names: tuple[str, ...]) -> x509.SubjectAlternativeName:
    """Return names and addresses as a certificate's alternative names."""
    return x509.SubjectAlternativeName([_general(name) for name in names])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def read_identity(certificate: x509.Certificate) -> Identity:
    """Return what a verified agent's certificate says; raise InputError for any other kind."""
    attributes = {part.oid: str(part.value) for part in certificate.subject}
    if attributes.get(NameOID.ORGANIZATION_NAME) != AGENT_UNIT:
        raise InputError("client certificate", "is not an agent's")
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound as error:
        raise InputError("client certificate", "names no nodes") from error
    if ExtendedKeyUsageOID.CLIENT_AUTH not in usage:
        raise InputError("client certificate", "is not for clients")
    nodes = tuple(parse_pattern(name) for name in names.get_values_for_type(x509.DNSName))
    return Identity(
        name=attributes.get(NameOID.COMMON_NAME, ""),
        site=attributes.get(NameOID.ORGANIZATIONAL_UNIT_NAME, ""),
        nodes=nodes,
        serial=certificate.serial_number,
        not_before_seconds=certificate.not_valid_before_utc.timestamp(),
        not_after_seconds=certificate.not_valid_after_utc.timestamp(),
    )


def identity_of(der: bytes) -> Identity:
    """Return what the certificate of a verified TLS peer says; raise InputError."""
    try:
        return read_identity(x509.load_der_x509_certificate(der))
    except ValueError as error:
        raise InputError("client certificate", "cannot be read") from error


def builder(
    *, names: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now_seconds: float
) -> x509.CertificateBuilder:
    """Return what every certificate of ours begins with; the end of its life is still missing."""
    return (
        x509.CertificateBuilder()
        .subject_name(names)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(utc_from_unix(now_seconds) - CLOCK_SKEW)
    )
