"""A real control plane on loopback: etcd, kube-apiserver, kube-controller-manager.

    assets = kubernetes_assets()                       # None: there is none; skip_reason() says so
    with control_plane(tmp_path, assets) as plane:
        Kubectl(plane.admin, tmp_path)("get", "nodes")
        plane.kubeconfig(user="alice")                  # a certificate, no rights of its own
        plane.service_account("gputide-system", "gputide-metricsapi")   # a token

No scheduler: `fakes.kubelet` binds pods. The node lifecycle controller is off, since nodes here
send no heartbeats. HPAs are synced every second and scale in at once, so that tests need not wait.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fakes.kubeconfigs import Authority, token_kubeconfig
from fakes.kubectl import Kubectl
from fakes.programs import Program, Programs, free_ports, wait_until

ROOT = Path(__file__).parent.parent.parent
SKIP_REASON = (
    "no control plane here: `make kubernetes-assets` builds one, KUBEBUILDER_ASSETS names one"
)
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")


def kubernetes_assets() -> Path | None:
    """Return the folder that holds the programs: KUBEBUILDER_ASSETS, else what was built here."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    if named is None:
        command = [sys.executable, ROOT / "tools/kubernetes-assets", "--where"]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        named = found.stdout.strip()
    folder = Path(named) if named else None
    has_all = folder is not None and all((folder / name).exists() for name in PROGRAMS)
    return folder if has_all else None


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """One that runs."""

    url: str
    folder: Path
    authority: Authority
    admin: Path
    """kubeconfig of a member of system:masters."""

    api_server: Program
    controllers: Program

    def kubeconfig(self, *, user: str, group: str = "testers") -> Path:
        """Return the kubeconfig of a user."""
        return self.authority.kubeconfig(self.folder, self.url, user=user, group=group)

    def service_account(self, namespace: str, name: str) -> Path:
        """Return the kubeconfig of a service account that exists."""
        kubectl = Kubectl(self.admin, self.folder)
        token = kubectl("create", "token", name, "-n", namespace).strip()
        return token_kubeconfig(
            self.folder, self.url, self.authority.pem, token=token, name=f"{namespace}-{name}"
        )


@contextmanager
def control_plane(folder: Path, assets: Path) -> Iterator[ControlPlane]:
    """Run one while the block runs; its logs and certificates lie in `folder`."""
    client_port, peer_port, api_port, controllers_port = free_ports(4)
    url = f"https://127.0.0.1:{api_port}"
    authority, front = Authority(), Authority()
    _write_certificates(folder, authority, front)
    admin = authority.kubeconfig(folder, url, user="admin", group="system:masters")
    with Programs(folder) as programs:
        programs.start("etcd", [assets / "etcd", *_etcd_flags(folder, client_port, peer_port)])
        api_server = programs.start(
            "kube-apiserver",
            [assets / "kube-apiserver", *_api_server_flags(folder, api_port, client_port)],
        )
        kubectl = Kubectl(admin, folder)
        wait_until(
            "kube-apiserver is ready", lambda: kubectl("get", "--raw", "/readyz"), api_server
        )
        own = authority.kubeconfig(folder, url, user="system:kube-controller-manager")
        controllers = programs.start(
            "kube-controller-manager",
            [
                assets / "kube-controller-manager",
                *_controllers_flags(folder, controllers_port, own),
            ],
        )
        wait_until(
            "kube-controller-manager works",
            lambda: kubectl("get", "serviceaccount", "default", "-n", "default"),
            controllers,
        )
        yield ControlPlane(url, folder, authority, admin, api_server, controllers)
        # its data is thrown away: an orderly end of open watches would take 8 s
        api_server.kill()


def _write_certificates(folder: Path, authority: Authority, front: Authority) -> None:
    authority.write(folder, "ca")
    authority.write_server(folder, "apiserver")
    front.write(folder, "front-ca")
    front.write_client(folder, "front-proxy", "front-proxy-client")
    key = ec.generate_private_key(ec.SECP256R1())
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / "sa.key").touch(mode=0o600)
    (folder / "sa.key").write_bytes(private)
    (folder / "sa.pub").write_bytes(public)


def _etcd_flags(folder: Path, client_port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
    ]


def _api_server_flags(folder: Path, port: int, etcd_port: int) -> list[str]:
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        "--endpoint-reconciler-type=none",
        "--authorization-mode=RBAC",
        f"--tls-cert-file={folder / 'apiserver.crt'}",
        f"--tls-private-key-file={folder / 'apiserver.key'}",
        f"--client-ca-file={folder / 'ca.crt'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={folder / 'sa.pub'}",
        f"--service-account-signing-key-file={folder / 'sa.key'}",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--requestheader-client-ca-file={folder / 'front-ca.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={folder / 'front-proxy.crt'}",
        f"--proxy-client-key-file={folder / 'front-proxy.key'}",
    ]


def _controllers_flags(folder: Path, port: int, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={folder / 'sa.key'}",
        f"--root-ca-file={folder / 'ca.crt'}",
        f"--cluster-signing-cert-file={folder / 'ca.crt'}",
        f"--cluster-signing-key-file={folder / 'ca.key'}",
        "--controllers=*,-node-lifecycle-controller,-taint-eviction-controller",
        "--horizontal-pod-autoscaler-sync-period=1s",
        "--horizontal-pod-autoscaler-downscale-stabilization=0s",
        "--horizontal-pod-autoscaler-initial-readiness-delay=0s",
    ]
