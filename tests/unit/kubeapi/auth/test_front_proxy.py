import pytest

from fakes.certificates import NOW, Authority
from fakes.clock import FakeClock
from gputide.kubeapi.auth.front_proxy import FrontProxy
from gputide.kubeapi.auth.ports import FrontProxyTrust
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Credentials, User

PROXY, CLIENTS = Authority("proxy-ca"), Authority("client-ca")
CERTIFICATE = PROXY.issue("front-proxy-client").der
HEADERS = {
    "x-remote-user": ("jane",),
    "x-remote-group": ("dev", "system:authenticated"),
    "x-remote-extra-acme.com%2fproject": ("a", "b"),
    "x-remote-uid": ("42",),
}
TRUST = FrontProxyTrust(
    authorities=PROXY.pem,
    allowed_names=("front-proxy-client",),
    username_headers=("x-remote-user",),
    group_headers=("x-remote-group",),
    extra_prefixes=("x-remote-extra-",),
    client_authorities=CLIENTS.pem,
)


async def asked(
    certificate: bytes | None = CERTIFICATE,
    headers: dict[str, tuple[str, ...]] | None = None,
    trust: FrontProxyTrust = TRUST,
) -> User | None:
    authenticator = FrontProxy(lambda: trust, FakeClock(NOW.timestamp()))
    stated = HEADERS if headers is None else headers
    return await authenticator.authenticate(
        Credentials(bearer_token=None, peer_certificate_der=certificate, headers=stated)
    )


async def test_the_front_proxys_word_is_believed() -> None:
    assert await asked() == User(
        name="jane",
        groups=("dev", "system:authenticated"),
        extra={"acme.com/project": ("a", "b")},
    )


async def test_a_uid_is_believed_only_where_the_cluster_says_so() -> None:
    trust = FrontProxyTrust(
        authorities=PROXY.pem, username_headers=("x-remote-user",), uid_headers=("x-remote-uid",)
    )
    user = await asked(trust=trust)
    assert user is not None
    assert user.uid == "42"


async def test_nobody_else_may_name_a_user() -> None:
    assert await asked(None) is None
    assert await asked(CLIENTS.issue("front-proxy-client").der) is None
    assert await asked(Authority("proxy-ca").issue("front-proxy-client").der) is None


async def test_without_an_authority_nobody_is_believed() -> None:
    assert await asked(trust=FrontProxyTrust(username_headers=("x-remote-user",))) is None


async def test_another_name_of_the_same_authority_is_refused() -> None:
    with pytest.raises(StatusError) as caught:
        await asked(PROXY.issue("somebody").der)
    assert caught.value.code == 401


async def test_any_name_counts_where_none_is_listed() -> None:
    trust = FrontProxyTrust(authorities=PROXY.pem, username_headers=("x-remote-user",))
    user = await asked(PROXY.issue("somebody").der, trust=trust)
    assert user == User(name="jane")


async def test_a_proxy_that_names_nobody_has_said_nothing() -> None:
    assert await asked(headers={}) is None


async def test_what_is_trusted_may_change_at_any_time() -> None:
    now = [TRUST]
    authenticator = FrontProxy(lambda: now[0], FakeClock(NOW.timestamp()))
    credentials = Credentials(bearer_token=None, peer_certificate_der=CERTIFICATE, headers=HEADERS)
    assert await authenticator.authenticate(credentials) is not None
    now[0] = FrontProxyTrust(authorities=CLIENTS.pem, username_headers=("x-remote-user",))
    assert await authenticator.authenticate(credentials) is None
