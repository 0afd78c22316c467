"""Our own API server as a control plane and a process of its own: SQLite, TLS, APIServices.

    with kubeapi_server(tmp_path) as server:
        Kubectl(server.admin, tmp_path)("get", "nodes")

Has the shape of `fakes.control_plane.ControlPlane`. There are no controllers in it: `fakes.kubelet`
and `fakes.deployment_controller` work on it as on any other. Members of system:masters may do
everything, and so may every service account: it keeps no roles.
"""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fakes.kubeconfigs import Authority
from fakes.kubectl import Kubectl
from fakes.programs import Program, Programs, wait_until
from gputide.clock import SystemClock, utc_from_unix
from gputide.kubeapi import cel
from gputide.kubeapi.aggregation import FrontProxy
from gputide.kubeapi.auth.chain import AlwaysAllowed, Chain
from gputide.kubeapi.auth.client_certificate import ClientCertificate
from gputide.kubeapi.control import ControlPlane, Parts
from gputide.kubeapi.serve import Serving, listening, serve
from gputide.kubeapi.server import ApiServer
from gputide.kubeapi.simple_authorizers import AllowGroups
from gputide.kubeapi.storage import SqliteStorage
from gputide.kubeapi.tls import ServerTls

MASTERS = "system:masters"
ACCOUNTS = "system:serviceaccounts"
TESTS = {"PYTHONPATH": str(Path(__file__).parent.parent)}


@dataclass(frozen=True, slots=True)
class KubeapiServer:
    """One that runs."""

    url: str
    folder: Path
    authority: Authority
    admin: Path
    """kubeconfig of a member of system:masters."""

    api_server: Program

    def kubeconfig(self, *, user: str, group: str = "testers") -> Path:
        """Return the kubeconfig of a user."""
        return self.authority.kubeconfig(self.folder, self.url, user=user, group=group)

    def service_account(self, namespace: str, name: str) -> Path:
        """Return the kubeconfig of a service account."""
        return self.kubeconfig(user=f"system:serviceaccount:{namespace}:{name}", group=ACCOUNTS)


@contextmanager
def kubeapi_server(folder: Path) -> Iterator[KubeapiServer]:
    """Run one while the block runs; its log and certificates lie in `folder`."""
    authority = Authority()
    authority.write(folder, "ca")
    authority.write_server(folder, "apiserver")
    with Programs(folder) as programs:
        program = programs.start("kubeapi", [sys.executable, "-m", __name__, folder], env=TESTS)
        port_file = folder / "port"
        wait_until("kubeapi listens", port_file.exists, program)
        url = f"https://127.0.0.1:{port_file.read_text()}"
        admin = authority.kubeconfig(folder, url, user="admin", group=MASTERS)
        kubectl = Kubectl(admin, folder)
        wait_until("kubeapi is ready", lambda: kubectl("get", "--raw", "/readyz"), program)
        yield KubeapiServer(url, folder, authority, admin, program)


async def main(folder: Path) -> None:
    """Serve until SIGTERM."""
    clock = SystemClock()
    ca = (folder / "ca.crt").read_text()
    known = ClientCertificate(lambda: ca, clock)
    authenticator = Chain([known])
    authorizer = AlwaysAllowed(AllowGroups({ACCOUNTS}))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    listener = listening("127.0.0.1", 0)
    tls = ServerTls(
        cert_file=folder / "apiserver.crt",
        key_file=folder / "apiserver.key",
        client_ca_files=[folder / "ca.crt"],
    )
    parts = Parts(
        front_proxy=FrontProxy.made(
            folder, utc_from_unix(clock.now_seconds()), client_authority_pem=ca
        ),
        cel=cel.installed(),
    )
    path = folder / "objects.sqlite"
    async with SqliteStorage.open(path, clock, requires_namespaces=True) as storage:
        plane = ControlPlane(
            storage, clock, authenticator=authenticator, authorizer=authorizer, parts=parts
        )
        await plane.prepare()
        app = ApiServer(
            plane.registry,
            authenticator=authenticator,
            authorizer=authorizer,
            storage=storage,
            clock=clock,
        )
        (folder / "port.partial").write_text(str(listener.getsockname()[1]))
        (folder / "port.partial").rename(folder / "port")
        async with asyncio.TaskGroup() as tasks:
            behind = tasks.create_task(plane.run())
            await serve(app, listener, stop=stop, serving=Serving(tls=tls, grace_seconds=1))
            behind.cancel()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
