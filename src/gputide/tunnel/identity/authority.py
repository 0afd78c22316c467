"""The gateways' certificate authority: signs agents and gateways, and nobody else."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from gputide.clock import utc_from_unix
from gputide.errors import InputError, SettingError
from gputide.tunnel.identity.certificate import (
    AGENT_UNIT,
    GATEWAY_UNIT,
    PrivateKey,
    alternative_names,
    builder,
    certificate_pem,
    key_pem,
    load_certificate,
    load_key,
    new_key,
    read_request,
    subject,
)
from gputide.tunnel.identity.files import (
    PUBLIC_MODE,
    create_new,
    read,
    read_secret,
    write_whole,
)

AUTHORITY_DAYS = 3650
CERTIFICATE_FILE, KEY_FILE = "ca.crt", "ca.key"
MAX_NODES = 2000
"""Node names and patterns in one certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A certificate and its key; made once, shared by all gateways."""

    certificate: x509.Certificate
    key: PrivateKey

    @property
    def pem(self) -> bytes:
        """The certificate, which everybody may know."""
        return certificate_pem(self.certificate)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate in hexadecimal: what a join token pins."""
        return fingerprint(self.certificate)

    def sign_agent(
        self,
        request_pem: bytes,
        *,
        name: str,
        site: str,
        nodes: tuple[str, ...],
        lifetime_seconds: float,
        now_seconds: float,
    ) -> bytes:
        """Return a client certificate (PEM) for these nodes; InputError for a bad request.

        Only the key is taken from the request: names are what the caller grants.
        """
        if not 0 < len(nodes) <= MAX_NODES:
            raise InputError("nodes", f"must be 1 to {MAX_NODES} names or patterns")
        public = read_request(request_pem).public_key()
        return self._sign(
            public,
            subject(AGENT_UNIT, name, site),
            nodes,
            usage=ExtendedKeyUsageOID.CLIENT_AUTH,
            until=_until(now_seconds, lifetime_seconds),
            now_seconds=now_seconds,
        )

    def sign_gateway(
        self,
        request_pem: bytes,
        *,
        names: tuple[str, ...],
        lifetime_seconds: float,
        now_seconds: float,
    ) -> bytes:
        """Return a server certificate (PEM) for a gateway's names and addresses."""
        if not names:
            raise SettingError("server-name", "a gateway needs a name or address to be reached by")
        public = read_request(request_pem).public_key()
        return self._sign(
            public,
            subject(GATEWAY_UNIT, names[0]),
            names,
            usage=ExtendedKeyUsageOID.SERVER_AUTH,
            until=_until(now_seconds, lifetime_seconds),
            now_seconds=now_seconds,
        )

    def _sign(
        self,
        public: object,
        names: x509.Name,
        alternatives: tuple[str, ...],
        *,
        usage: x509.ObjectIdentifier,
        until: float,
        now_seconds: float,
    ) -> bytes:
        assert isinstance(public, ec.EllipticCurvePublicKey)  # noqa: S101  checked with the request
        end = min(utc_from_unix(until), self.certificate.not_valid_after_utc)
        made = (
            builder(
                names=names,
                issuer=self.certificate.subject,
                key=public,
                now_seconds=now_seconds,
            )
            .not_valid_after(end)
            .add_extension(alternative_names(alternatives), critical=False)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
            .sign(self.key, hashes.SHA256())
        )
        return certificate_pem(made)


def _until(now_seconds: float, lifetime_seconds: float) -> float:
    if lifetime_seconds < 60:
        raise SettingError("certificate-lifetime", "must be at least a minute")
    return now_seconds + lifetime_seconds


def fingerprint(certificate: x509.Certificate) -> str:
    """Return SHA-256 of a certificate, hexadecimal."""
    return certificate.fingerprint(hashes.SHA256()).hex()


def new_authority(*, now_seconds: float, name: str = "gputide tunnel") -> Authority:
    """Return a new authority that is in no file yet."""
    key = new_key()
    names = subject("gputide", name)
    certificate = (
        builder(names=names, issuer=names, key=key.public_key(), now_seconds=now_seconds)
        .not_valid_after(utc_from_unix(now_seconds) + timedelta(days=AUTHORITY_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_ca_usage(), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate=certificate, key=key)


def _ca_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def open_authority(directory: Path, *, now_seconds: float) -> Authority:
    """Return the authority of a directory; it is made there the first time.

    Two gateways that start at once end with the same one. Raises InputError for damaged or widely
    readable files.
    """
    key_path, certificate_path = directory / KEY_FILE, directory / CERTIFICATE_FILE
    if not key_path.exists() and not certificate_path.exists():
        made = new_authority(now_seconds=now_seconds)
        # one file decides who was first: key and certificate together, then the public copy
        if create_new(key_path, key_pem(made.key) + made.pem):
            write_whole(certificate_path, made.pem, mode=PUBLIC_MODE)
            return made
    secret = read_secret(key_path)
    key = load_key(secret, str(key_path))
    public = read(certificate_path) if certificate_path.exists() else secret
    certificate = load_certificate(public, str(certificate_path))
    if _public(certificate.public_key()) != _public(key.public_key()):
        raise InputError(str(certificate_path), f"does not belong to the key in {key_path}")
    return Authority(certificate=certificate, key=key)


def _public(key: object) -> bytes:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return b""
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
