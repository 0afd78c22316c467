"""Certificates and kubeconfigs of a test's API server.

authority = Authority()
authority.write_server(folder, "apiserver")            # apiserver.crt, apiserver.key for loopback
path = authority.kubeconfig(folder, url, user="admin", group="system:masters")
path = token_kubeconfig(folder, url, authority.pem, token="...", name="reader")
"""

import base64
import json
from pathlib import Path
from typing import Any

import trustme

SERVER_NAMES = (
    *("127.0.0.1", "localhost", "10.0.0.1"),
    *("kubernetes", "kubernetes.default", "kubernetes.default.svc"),
)


class Authority:
    """A CA that signs what a control plane needs."""

    def __init__(self) -> None:
        self._ca = trustme.CA()
        self.pem: bytes = self._ca.cert_pem.bytes()
        self.key_pem: bytes = self._ca.private_key_pem.bytes()

    def write(self, folder: Path, name: str) -> None:
        """Write NAME.crt and NAME.key of the CA itself."""
        _write(folder, name, self.pem, self.key_pem)

    def write_server(self, folder: Path, name: str, *names: str) -> None:
        """Write NAME.crt and NAME.key for names and addresses (default: those of an API server)."""
        leaf = self._ca.issue_cert(*(names or SERVER_NAMES))
        chain = b"".join(pem.bytes() for pem in leaf.cert_chain_pems)
        _write(folder, name, chain, leaf.private_key_pem.bytes())

    def client(self, user: str, group: str = "testers") -> tuple[bytes, bytes]:
        """Return certificate and key of a user in a group."""
        leaf = self._ca.issue_cert(
            f"{_plain(user)}.test", common_name=user, organization_name=group
        )
        return leaf.cert_chain_pems[0].bytes(), leaf.private_key_pem.bytes()

    def write_client(self, folder: Path, name: str, user: str) -> None:
        """Write NAME.crt and NAME.key of a user."""
        _write(folder, name, *self.client(user))

    def kubeconfig(self, folder: Path, url: str, *, user: str, group: str = "testers") -> Path:
        """Write a kubeconfig of a user who shows a certificate."""
        certificate, key = self.client(user, group)
        shown = {"client-certificate-data": _text(certificate), "client-key-data": _text(key)}
        return _kubeconfig(folder / f"{_plain(user)}.kubeconfig", url, self.pem, shown)


def token_kubeconfig(folder: Path, url: str, ca_pem: bytes, *, token: str, name: str) -> Path:
    """Write a kubeconfig of somebody who shows a token."""
    return _kubeconfig(folder / f"{_plain(name)}.kubeconfig", url, ca_pem, {"token": token})


def _kubeconfig(path: Path, url: str, ca_pem: bytes, user: dict[str, Any]) -> Path:
    cluster = {"server": url, "certificate-authority-data": _text(ca_pem)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    _write_secret(path, json.dumps(config).encode())
    return path


def _write(folder: Path, name: str, certificate: bytes, key: bytes) -> None:
    (folder / f"{name}.crt").write_bytes(certificate)
    _write_secret(folder / f"{name}.key", key)


def _write_secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _plain(name: str) -> str:
    return name.replace(":", "-")


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
