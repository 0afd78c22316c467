import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
import trustme

from fakes.api_servers import ADMIN, BOXES, Api, Gate, api_server
from fakes.certificates import Authority, Issued
from gputide.clock import SystemClock
from gputide.errors import SettingError
from gputide.kubeapi.auth.chain import Chain
from gputide.kubeapi.auth.client_certificate import ClientCertificate
from gputide.kubeapi.auth.front_proxy import FrontProxy
from gputide.kubeapi.auth.ports import FrontProxyTrust
from gputide.kubeapi.model import User
from gputide.kubeapi.serve import Serving
from gputide.kubeapi.tls import ServerTls

START = datetime.now(UTC).replace(hour=0)  # noqa: TID251 TLS goes by the wall clock
SERVERS = trustme.CA()


def write_certificate(folder: Path, authority: trustme.CA = SERVERS) -> None:
    issued = authority.issue_cert("127.0.0.1", "localhost")
    issued.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    issued.private_key_pem.write_to_path(folder / "tls.key")


def client_context(folder: Path, shown: Issued | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    SERVERS.configure_trust(context)
    if shown is not None:
        (folder / "client.pem").write_text(shown.pem + shown.key_pem)
        context.load_cert_chain(folder / "client.pem")
    return context


@asynccontextmanager
async def secure(
    folder: Path, clients: Authority, proxy: Authority, shown: Issued | None = None
) -> AsyncIterator[Api]:
    write_certificate(folder)
    (folder / "clients.crt").write_text(clients.pem)
    tls = ServerTls(
        cert_file=folder / "tls.crt",
        key_file=folder / "tls.key",
        client_ca_files=[folder / "clients.crt"],
        client_authorities=lambda: proxy.pem,
    )
    trust = FrontProxyTrust(
        authorities=proxy.pem,
        allowed_names=("front-proxy-client",),
        username_headers=("x-remote-user",),
        group_headers=("x-remote-group",),
        client_authorities=clients.pem,
    )
    clock = SystemClock()
    chain = Chain([FrontProxy(lambda: trust, clock), ClientCertificate(lambda: clients.pem, clock)])
    verify = client_context(folder, shown)
    serving = Serving(tls=tls)
    async with api_server(authenticator=chain, serving=serving, verify=verify) as api:
        yield api


async def user_of(api: Api, **headers: str) -> User:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    await api.ask("GET", BOXES, headers=sent)
    return api.gate.asked[-1].user


async def test_a_client_certificate_reaches_the_authenticator(tmp_path: Path) -> None:
    clients, proxy = Authority("clients", START), Authority("proxy", START)
    async with secure(tmp_path, clients, proxy, clients.issue("jane", "dev")) as api:
        user = await user_of(api, x_remote_user="root", x_remote_group="system:masters")
        assert (user.name, user.groups) == ("jane", ("dev", "system:authenticated"))


async def test_the_front_proxy_names_the_user(tmp_path: Path) -> None:
    clients, proxy = Authority("clients", START), Authority("proxy", START)
    async with secure(tmp_path, clients, proxy, proxy.issue("front-proxy-client")) as api:
        user = await user_of(api, x_remote_user="jane", x_remote_group="dev")
        assert (user.name, user.groups) == ("jane", ("dev", "system:authenticated"))


async def test_without_a_certificate_headers_name_nobody(tmp_path: Path) -> None:
    clients, proxy = Authority("clients", START), Authority("proxy", START)
    async with secure(tmp_path, clients, proxy) as api:
        user = await user_of(api, x_remote_user="root", x_remote_group="system:masters")
        assert user.name == "system:anonymous"


async def test_a_certificate_of_nobodys_authority_ends_the_connection(tmp_path: Path) -> None:
    clients, proxy = Authority("clients", START), Authority("proxy", START)
    forged = Authority("proxy", START).issue("front-proxy-client")
    async with secure(tmp_path, clients, proxy, forged) as api:
        with pytest.raises(httpx2.TransportError):
            await api.client.get(BOXES)
        assert api.gate.asked == []


def test_nothing_older_than_tls_1_2_is_spoken(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    tls = ServerTls(cert_file=tmp_path / "tls.crt", key_file=tmp_path / "tls.key")
    assert tls._loaded().minimum_version is ssl.TLSVersion.TLSv1_2


async def test_a_new_certificate_is_served_without_a_restart(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    tls = ServerTls(cert_file=tmp_path / "tls.crt", key_file=tmp_path / "tls.key")
    async with api_server(serving=Serving(tls=tls), verify=client_context(tmp_path)) as api:
        port = int(api.url.rpartition(":")[2])
        before = await served(port)
        assert await served(port) == before

        write_certificate(tmp_path)
        after = await served(port)
        assert after != before

        (tmp_path / "tls.crt").write_text("half a fi")
        assert await served(port) == after  # the one before goes on
        (tmp_path / "tls.crt").unlink()
        assert await served(port) == after


async def test_authorities_may_rotate(tmp_path: Path) -> None:
    old, new = Authority("old", START), Authority("new", START)
    now = [old.pem]
    write_certificate(tmp_path)
    tls = ServerTls(
        cert_file=tmp_path / "tls.crt",
        key_file=tmp_path / "tls.key",
        client_authorities=lambda: now[0],
    )
    verify = client_context(tmp_path, new.issue("jane"))
    async with api_server(gate=Gate(), serving=Serving(tls=tls), verify=verify) as api:
        with pytest.raises(httpx2.TransportError):
            await api.client.get("/healthz")
        now[0] = new.pem
        assert (await api.client.get("/healthz")).status_code == 200
        assert api.gate.seen[-1].peer_certificate_der
        assert api.gate.user == ADMIN


@pytest.mark.parametrize("name", ["tls.crt", "tls.key"])
def test_files_that_cannot_be_used_are_named(tmp_path: Path, name: str) -> None:
    write_certificate(tmp_path)
    (tmp_path / name).write_text("nonsense")
    tls = ServerTls(cert_file=tmp_path / "tls.crt", key_file=tmp_path / "tls.key")
    with pytest.raises(SettingError, match=r"tls\.crt"):
        tls.context()


async def served(port: int) -> bytes:
    """Return the certificate that a new connection gets."""
    context = ssl.create_default_context()
    SERVERS.configure_trust(context)
    _, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="localhost"
    )
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return found
