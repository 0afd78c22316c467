"""Who we are and who they are: TLS, mutual TLS and basic authentication, on a real Prometheus."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from structlog.testing import capture_logs

from fakes.clock import FakeClock
from fakes.http_server import http_server, response
from fakes.prometheus_server import PrometheusServer, running_prometheus
from gputide.errors import QueryError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

VECTOR = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
PASSWORD_HASH = "$2b$04$NYD74Q3QEYFX6Y1Ot0RVMef4cCDb3GEpY63o/Ab63L/z1qtXp30za"  # of "tide-table"


@dataclass(frozen=True, slots=True)
class Site:
    """A Prometheus that wants user, password and our certificate, and the files for it."""

    url: str
    folder: Path

    def settings(self, **fields: object) -> PrometheusSettings:
        """Return settings that are let in, but for the given fields."""
        right = {
            "url": self.url,
            "ca_file": self.folder / "ca.pem",
            "cert_file": self.folder / "client.pem",
            "key_file": self.folder / "client-key.pem",
            "username": "ops",
            "password_file": self.folder / "password",
        }
        return PrometheusSettings(**{**right, **fields})  # type: ignore[arg-type] fields of the test


def write(issued: trustme.LeafCert, certificate: Path, key: Path) -> None:
    issued.cert_chain_pems[0].write_to_path(str(certificate))
    issued.private_key_pem.write_to_path(str(key))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    authority, ours = trustme.CA(), trustme.CA()
    write(authority.issue_cert("127.0.0.1"), folder / "server.pem", folder / "server-key.pem")
    write(ours.issue_cert("gputide"), folder / "client.pem", folder / "client-key.pem")
    write(trustme.CA().issue_cert("x"), folder / "other.pem", folder / "other-key.pem")
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    ours.cert_pem.write_to_path(str(folder / "client-ca.pem"))
    (folder / "password").write_text("tide-table\n")
    (folder / "wrong-password").write_text("ebb\n")
    web = (
        "tls_server_config:\n"
        f"  cert_file: {folder / 'server.pem'}\n"
        f"  key_file: {folder / 'server-key.pem'}\n"
        f"  client_ca_file: {folder / 'client-ca.pem'}\n"
        "  client_auth_type: RequireAndVerifyClientCert\n"
        f"basic_auth_users: {{ops: '{PASSWORD_HASH}'}}\n"
    )
    with running_prometheus(folder, web_config=web) as server:
        yield Site(server.url, folder)


async def ask(settings: PrometheusSettings) -> float:
    async with Prometheus(settings, clock=FakeClock()) as prometheus:
        return float((await prometheus.query("vector(1)")).values[0])


async def test_certificate_user_and_password_let_us_in(site: Site) -> None:
    assert site.url.startswith("https://")
    assert await ask(site.settings()) == 1


async def test_user_and_password_may_stand_in_the_address(site: Site) -> None:
    url = site.url.replace("https://", "https://ops:tide-table@")

    assert await ask(site.settings(url=url, username=None, password_file=None)) == 1


async def test_a_wrong_password_is_told_in_the_servers_words(site: Site) -> None:
    settings = site.settings(password_file=site.folder / "wrong-password")
    with pytest.raises(QueryError, match="HTTP 401: Unauthorized") as caught:
        await ask(settings)

    assert "ebb" not in str(caught.value)


async def test_a_server_that_wants_our_certificate_says_so(site: Site) -> None:
    with pytest.raises(QueryError, match="wants a certificate from us") as caught:
        await ask(site.settings(cert_file=None, key_file=None))

    assert not caught.value.is_retryable


async def test_a_certificate_that_the_server_does_not_trust_is_named(site: Site) -> None:
    folder = site.folder
    settings = site.settings(cert_file=folder / "other.pem", key_file=folder / "other-key.pem")
    with pytest.raises(QueryError, match="wants a certificate from us that it trusts"):
        await ask(settings)


async def test_an_unknown_authority_is_named(site: Site) -> None:
    with pytest.raises(QueryError, match="TLS: unknown CA"):
        await ask(site.settings(ca_file=None))


async def test_a_certificate_for_another_name_is_named(site: Site) -> None:
    url = site.url.replace("127.0.0.1", "localhost")
    with pytest.raises(QueryError, match="TLS: its certificate is for another name"):
        await ask(site.settings(url=url))


async def test_http_to_a_server_of_https_is_named(site: Site) -> None:
    with pytest.raises(QueryError, match=r"HTTP 400.*has to begin with https://"):
        await ask(PrometheusSettings(url=site.url.replace("https", "http")))


async def test_https_to_a_server_of_http_is_named(prometheus_server: PrometheusServer) -> None:
    with pytest.raises(QueryError, match="TLS: it does not speak TLS"):
        await ask(PrometheusSettings(url=prometheus_server.url.replace("http", "https")))


async def test_an_expired_certificate_is_named(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    old = authority.issue_cert("127.0.0.1", not_after=datetime(2020, 1, 1, tzinfo=UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.configure_cert(context)
    async with http_server(lambda _: response(VECTOR), tls=context) as server:
        with pytest.raises(QueryError, match="TLS: its certificate has expired"):
            await ask(PrometheusSettings(url=server.url, ca_file=tmp_path / "ca.pem"))


async def test_a_renewed_authority_is_taken_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(file))
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with http_server(lambda _: response(VECTOR), tls=context) as server:
        settings = PrometheusSettings(url=server.url, ca_file=file)
        async with Prometheus(settings, clock=FakeClock()) as prometheus:
            with pytest.raises(QueryError, match="TLS: unknown CA"):
                await prometheus.query("up")
            authority.cert_pem.write_to_path(str(file))
            assert (await prometheus.query("up")).labels == ()


async def test_verification_is_off_only_when_told_and_warns(site: Site) -> None:
    with capture_logs() as logs:
        value = await ask(site.settings(ca_file=None, insecure_skip_verify=True))

    assert value == 1
    assert logs == [
        {
            "event": "the server's certificate is not checked",
            "target": site.url,
            "log_level": "warning",
        }
    ]
