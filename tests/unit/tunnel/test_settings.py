from pathlib import Path

import pytest

from gputide.errors import SettingError
from gputide.tunnel.settings import AgentSettings, ClientNetworks, GatewaySettings


def test_ports_may_be_served_elsewhere() -> None:
    settings = GatewaySettings(http_port=("9400", "9100=19100", "9445=0"))
    assert settings.http_ports == {9400: 9400, 9100: 19_100, 9445: 0}
    assert settings.tls_ports == {10_250: 10_250}
    assert settings.lifetime_seconds == 86_400


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"http_port": ("http",)}, "http-port: 'http' is no port"),
        ({"tls_port": ("1=99999",)}, "tls-port: '99999' is no port"),
        ({"allow_client": ("10.0.0.1/8",)}, "allow-client: .*has host bits set"),
        ({"certificate_lifetime": "1m"}, "certificate-lifetime: must be at least 10m"),
        ({"hosts_file": Path("hosts")}, "advertise-address: name the addresses"),
        (
            {"hosts_file": Path("hosts"), "advertise_address": ("gw",)},
            "advertise-address: 'gw' is no IP address",
        ),
    ],
)
def test_what_cannot_be_is_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        GatewaySettings(**wrong)  # type: ignore[arg-type]  # one wrong field


@pytest.mark.parametrize(
    ("client", "holds"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("11.0.0.1", False),
        ("fe80::1%eth0", True),
        ("nonsense", False),
    ],
)
def test_clients_are_held_by_networks(client: str, *, holds: bool) -> None:
    assert ClientNetworks.parse(("10.0.0.0/8", "fe80::/10")).holds(client) is holds


def test_by_default_only_this_machine_may_ask() -> None:
    networks = GatewaySettings().client_networks
    assert networks.holds("127.0.0.1")
    assert not networks.holds("10.0.0.1")
    assert AgentSettings().allow == ("9400:/metrics", "9445:/metrics", "9100:/metrics")
