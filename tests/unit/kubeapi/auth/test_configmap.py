import pytest

from gputide.errors import InputError
from gputide.kubeapi.auth.configmap import trust_from
from gputide.kubeapi.auth.ports import FrontProxyTrust


def test_the_configmap_of_a_cluster_is_read() -> None:
    trust = trust_from(
        {
            "client-ca-file": "clients",
            "requestheader-client-ca-file": "proxy",
            "requestheader-allowed-names": '["front-proxy-client"]',
            "requestheader-username-headers": '["X-Remote-User"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
            "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        }
    )
    assert trust == FrontProxyTrust(
        authorities="proxy",
        allowed_names=("front-proxy-client",),
        username_headers=("x-remote-user",),
        group_headers=("x-remote-group",),
        extra_prefixes=("x-remote-extra-",),
        client_authorities="clients",
    )


def test_an_empty_configmap_trusts_nobody() -> None:
    assert trust_from({}) == FrontProxyTrust()


@pytest.mark.parametrize("text", ["[", '{"a": 1}', "[1]"])
def test_what_is_no_list_of_names_is_named(text: str) -> None:
    with pytest.raises(InputError, match="requestheader-allowed-names"):
        trust_from({"requestheader-allowed-names": text})
