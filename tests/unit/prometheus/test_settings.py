from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

from gputide.errors import SettingError
from gputide.prometheus.settings import PrometheusSettings, parse_header

URL = "http://prometheus:9090"
TLS_URL = "https://prometheus:9090"
VENDOR_PATH = (
    "/api/v1/prometheus/da9d7dece901db4c9fc7f5b/1581204543170/c54417d182c6d430/cn-shanghai"
)


@pytest.mark.parametrize(
    ("fields", "setting"),
    [
        ({"url": "prometheus:9090"}, "prometheus-url"),
        ({"url": "ftp://prometheus"}, "prometheus-url"),
        ({"url": ""}, "prometheus-url"),
        ({"url": "http://:9090"}, "prometheus-url"),
        ({"url": "http://host:99999"}, "prometheus-url"),
        ({"url": "http://☃.example"}, "prometheus-url"),
        ({"url": "http://[::1"}, "prometheus-url"),
        ({"url": "http://host:9090?x=1"}, "prometheus-url"),
        ({"url": "http://host:9090/#graph"}, "prometheus-url"),
        ({"url": "http://host:9090/api/v1/"}, "prometheus-url"),
        ({"url": "http://host:9090/api/v1/query?query=up"}, "prometheus-url"),
        ({"url": "http://ho st"}, "prometheus-url"),
        ({"url": "http://host\n"}, "prometheus-url"),
        ({"bearer_token": "t", "username": "u", "password_file": Path("p")}, "prometheus-username"),
        ({"bearer_token": "t", "bearer_token_file": Path("f")}, "prometheus-bearer-token"),
        ({"url": "http://u:p@host", "bearer_token": "t"}, "prometheus-bearer-token"),
        ({"username": "u"}, "prometheus-password-file"),
        ({"password_file": Path("p")}, "prometheus-username"),
        ({"bearer_token": ""}, "prometheus-bearer-token"),
        ({"bearer_token": "two words"}, "prometheus-bearer-token"),
        ({"headers": ("X-Scope-OrgID",)}, "prometheus-header"),
        ({"headers": ("X-Scope-OrgID: ",)}, "prometheus-header"),
        ({"headers": ("X-Scope-OrgID: a\r\nX: b",)}, "prometheus-header"),
        ({"headers": ("Authorization: Bearer t",)}, "prometheus-header"),
        ({"ca_file": Path("ca.pem")}, "prometheus-ca-file"),
        ({"cert_file": Path("c"), "key_file": Path("k")}, "prometheus-cert-file"),
        ({"url": TLS_URL, "cert_file": Path("c")}, "prometheus-key-file"),
        ({"url": TLS_URL, "key_file": Path("k")}, "prometheus-cert-file"),
        (
            {"url": TLS_URL, "ca_file": Path("c"), "insecure_skip_verify": True},
            "prometheus-insecure-skip-verify",
        ),
        ({"timeout_seconds": 0}, "prometheus-timeout-seconds"),
        ({"timeout_seconds": float("nan")}, "prometheus-timeout-seconds"),
        ({"max_response_bytes": 10}, "prometheus-max-response-bytes"),
        ({"max_concurrency": 0}, "prometheus-max-concurrency"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(fields: dict[str, Any], setting: str) -> None:
    with pytest.raises(SettingError) as caught:
        PrometheusSettings(**{"url": URL, **fields})

    assert caught.value.setting == setting
    assert "\n" not in str(caught.value)


def test_secrets_are_in_no_repr_and_in_no_error() -> None:
    settings = PrometheusSettings(url="https://me:hunter22@host/x", headers=("X-Key: hunter22",))
    by_token = PrometheusSettings(url=URL, bearer_token="hunter22")

    assert "hunter22" not in f"{settings!r} {settings} {settings.target} {by_token!r}"
    with pytest.raises(SettingError) as caught:
        PrometheusSettings(url=URL, headers=("X-Key hunter22",))
    assert "hunter22" not in str(caught.value)


def test_the_vendors_address_keeps_its_path_and_hides_the_keys_in_it() -> None:
    settings = PrometheusSettings(
        url=f"http://cn-shanghai-intranet.arms.example:9090{VENDOR_PATH}/"
    )

    assert settings.base_url == f"http://cn-shanghai-intranet.arms.example:9090{VENDOR_PATH}"
    assert settings.target == (
        "http://cn-shanghai-intranet.arms.example:9090"
        "/api/v1/prometheus/da9d…/1581…/c544…/cn-shanghai"
    )


def test_ordinary_paths_are_shown_whole() -> None:
    url = "https://gateway-production-17.example/select/0/prometheus-k8s-0"

    assert PrometheusSettings(url=url).target == url


def test_credentials_in_the_address_are_decoded_and_taken_out_of_it() -> None:
    settings = PrometheusSettings(url="https://me%40x:p%3Aw@host:1/p")

    assert settings.url_credentials == ("me@x", "p:w")
    assert settings.base_url == "https://host:1/p"


@pytest.mark.parametrize("text", ["X-Scope-OrgID: a=b", "X-Scope-OrgID:a=b", "X-Scope-OrgID=a=b"])
def test_a_header_is_written_with_a_colon_or_an_equals_sign(text: str) -> None:
    assert parse_header(text) == ("X-Scope-OrgID", "a=b")


def test_the_flags_carry_prometheus_in_their_names() -> None:
    app = App(result_action="return_value")

    @app.default
    def take(prometheus: PrometheusSettings | None = None) -> PrometheusSettings | None:
        return prometheus

    flags = ["--prometheus", URL, "--prometheus-header", "A: b", "--prometheus-header", "C: d"]
    assert app([*flags, "--prometheus-timeout-seconds", "5"]) == PrometheusSettings(
        url=URL, headers=("A: b", "C: d"), timeout_seconds=5
    )
    assert app([]) is None
