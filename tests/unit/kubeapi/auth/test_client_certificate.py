from fakes.certificates import NOW, Authority
from fakes.clock import FakeClock
from gputide.kubeapi.auth.client_certificate import ClientCertificate
from gputide.kubeapi.model import Credentials, User

CLIENTS, PROXY = Authority("client-ca"), Authority("proxy-ca")


async def asked(certificate: bytes | None) -> User | None:
    authenticator = ClientCertificate(lambda: CLIENTS.pem, FakeClock(NOW.timestamp()))
    return await authenticator.authenticate(
        Credentials(bearer_token=None, peer_certificate_der=certificate, headers={})
    )


async def test_a_certificate_names_the_user_and_his_groups() -> None:
    expected = User(name="jane", groups=("dev", "ops"))
    assert await asked(CLIENTS.issue("jane", "dev", "ops").der) == expected


async def test_other_certificates_name_nobody() -> None:
    assert await asked(None) is None
    assert await asked(b"nonsense") is None
    assert await asked(PROXY.issue("jane", "system:masters").der) is None
    assert await asked(CLIENTS.issue("", "dev").der) is None
