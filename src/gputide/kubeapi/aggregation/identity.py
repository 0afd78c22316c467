"""Who the server is towards the servers behind it: a front proxy's client certificate."""

import json
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.ports import Storage

NAME = "front-proxy-client"
CONFIG_MAP = "extension-apiserver-authentication"
NAMESPACE = "kube-system"
VALID = timedelta(days=365)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontProxy:
    """The certificate that vouches for X-Remote-* headers, and who signed it."""

    certificate_file: Path
    key_file: Path
    """Mode 0600."""

    authority_pem: str
    """CA of that certificate."""

    client_authority_pem: str = ""
    """CA of ordinary client certificates, for the servers behind; "" for none."""

    @classmethod
    def made(cls, folder: Path, now: datetime, *, client_authority_pem: str = "") -> Self:
        """Make an authority and a certificate in that folder, good for a year.

        The authority's key is thrown away: a new start makes a new one.
        """
        authority_key, key = ec.generate_private_key(ec.SECP256R1()), _new_key()
        issuer = _name("gputide-front-proxy-ca")
        authority = (
            _builder(issuer, issuer, authority_key.public_key(), now)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(authority_key, hashes.SHA256())
        )
        certificate = (
            _builder(_name(NAME), issuer, key.public_key(), now)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
            .sign(authority_key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        secret = key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        _written(folder / "front-proxy.crt", certificate.public_bytes(pem))
        _written(folder / "front-proxy.key", secret)
        return cls(
            certificate_file=folder / "front-proxy.crt",
            key_file=folder / "front-proxy.key",
            authority_pem=authority.public_bytes(pem).decode(),
            client_authority_pem=client_authority_pem,
        )

    def config_map(self) -> JsonObject:
        """Return the ConfigMap by which a server behind knows whom to believe."""
        data = {
            "requestheader-client-ca-file": self.authority_pem,
            "requestheader-allowed-names": json.dumps([NAME]),
            "requestheader-username-headers": json.dumps(["X-Remote-User"]),
            "requestheader-group-headers": json.dumps(["X-Remote-Group"]),
            "requestheader-extra-headers-prefix": json.dumps(["X-Remote-Extra-"]),
        }
        if self.client_authority_pem:
            data["client-ca-file"] = self.client_authority_pem
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE},
            "data": data,
        }


async def published(storage: Storage, proxy: FrontProxy) -> None:
    """Write the ConfigMap into the storage, over what an earlier run left there."""
    kind = Kind(group="", version="v1", kind="ConfigMap", plural="configmaps")
    wanted = proxy.config_map()
    try:
        await storage.create(kind, wanted)
    except StatusError as error:
        if error.code != 409:
            raise
        await storage.update(
            kind, NAMESPACE, CONFIG_MAP, lambda obj: obj | {"data": wanted["data"]}
        )


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))  # clocks of two machines differ a little
        .not_valid_after(now + VALID)
    )


def _written(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
