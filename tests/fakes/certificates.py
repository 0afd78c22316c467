"""Authorities and certificates for tests: who signed whom, for how long, for what."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A certificate and its key, as PEM and DER."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def der(self) -> bytes:
        """The certificate."""
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self) -> str:
        """The certificate."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        """The key."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates."""

    name: str
    start: datetime = NOW - DAY
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def pem(self) -> str:
        """Its own certificate."""
        subject = _name(self.name)
        builder = _builder(subject, subject, self.key, self.start, 30 * DAY)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        signed = builder.add_extension(constraints, critical=True).sign(self.key, hashes.SHA256())
        return signed.public_bytes(serialization.Encoding.PEM).decode()

    def issue(
        self,
        name: str,
        *organizations: str,
        start: datetime | None = None,
        is_for_servers: bool = False,
    ) -> Issued:
        """Return a certificate that is good for ten days; for clients, unless it is for servers."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name, *organizations)
        builder = _builder(subject, _name(self.name), key, start or self.start, 10 * DAY)
        oids = ExtendedKeyUsageOID
        usage = oids.SERVER_AUTH if is_for_servers else oids.CLIENT_AUTH
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        return Issued(certificate=builder.sign(self.key, hashes.SHA256()), key=key)


def _name(common: str, *organizations: str) -> x509.Name:
    rows = [x509.NameAttribute(NameOID.COMMON_NAME, common)] if common else []
    rows += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    return x509.Name(rows)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    start: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + life)
    )
