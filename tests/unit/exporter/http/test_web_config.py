from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.exporter.http.web_config import parse_web_config, resolve

HASH = "$2y$10$" + "a" * 53
TLS = "tls_server_config: {cert_file: a.crt, key_file: a.key"


def test_an_empty_file_asks_for_nothing() -> None:
    config = parse_web_config("", source="web.yml")

    assert config.tls_server_config is None
    assert not config.basic_auth_users


def test_the_usual_file_is_taken() -> None:
    config = parse_web_config(
        f"{TLS}, min_version: TLS13}}\nbasic_auth_users: {{prom: {HASH}}}\n", source="web.yml"
    )

    assert config.tls_server_config is not None
    assert config.tls_server_config.files == ("a.crt", "a.key")
    assert resolve("a.crt", Path("/etc/x/web.yml")) == Path("/etc/x/a.crt")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "web.yml: is no YAML"),
        ("tls: {}", "web.yml: Object contains unknown field `tls`"),
        ("tls_server_config: {cert_file: a}", "key_file: missing"),
        (f"{TLS}, min_version: TLS13, max_version: TLS12}}", "max_version: is under min_version"),
        (f"{TLS}, min_version: SSL3}}", "min_version"),
        (f"{TLS}, client_ca_file: ca.crt}}", "does nothing without a client_auth_type"),
        (f"{TLS}, client_auth_type: RequireAnyClientCert}}", "protects nothing"),
        (f"{TLS}, client_auth_type: RequireAndVerifyClientCert}}", "client_ca_file: missing"),
        (f"{TLS}, cipher_suites: [RC4]}}", "no suite 'RC4'"),
        ("basic_auth_users: {prom: secret}", "basic_auth_users.prom: is no bcrypt hash"),
        ("http_server_config: {headers: {X-Own: a}}", "no 'X-Own'"),
        ("rate_limit: {interval: soon}", "'soon' is no duration"),
        ("rate_limit: {interval: 1s, burst: 0}", "would refuse every request"),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_field(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        parse_web_config(text, source="web.yml")

    message = str(error.value)
    assert message.startswith("web.yml: ")
    assert problem in message
    assert "\n" not in message


def test_a_password_that_was_put_where_the_hash_belongs_is_not_shown() -> None:
    with pytest.raises(InputError) as error:
        parse_web_config("basic_auth_users: {prom: hunter2}", source="web.yml")

    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("interval", "seconds"), [("1s", 1), ("500ms", 0.5), ("1m30s", 90), ("0", 0)]
)
def test_durations_are_gos(interval: str, seconds: float) -> None:
    config = parse_web_config(f"rate_limit: {{interval: {interval!r}}}", source="web.yml")

    assert config.rate_limit.interval_seconds == seconds
