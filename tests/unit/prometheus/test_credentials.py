import os
from base64 import b64decode
from pathlib import Path

import pytest
import trustme

from gputide.errors import SettingError
from gputide.prometheus.credentials import Credentials, SecretFile, TlsContext
from gputide.prometheus.settings import PrometheusSettings

URL = "https://prometheus:9090"


def authorization(settings: PrometheusSettings) -> str:
    return dict(Credentials(settings).headers()).get("Authorization", "")


def test_a_token_is_sent_as_bearer(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("abc\n")

    assert authorization(PrometheusSettings(url=URL, bearer_token="abc")) == "Bearer abc"
    assert authorization(PrometheusSettings(url=URL, bearer_token_file=file)) == "Bearer abc"


def test_user_and_password_are_sent_as_basic(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("pw:x\n")
    by_file = PrometheusSettings(url=URL, username="me", password_file=file)
    by_url = PrometheusSettings(url="https://me:pw%3Ax@prometheus")

    for settings in (by_file, by_url):
        scheme, _, coded = authorization(settings).partition(" ")
        assert (scheme, b64decode(coded)) == ("Basic", b"me:pw:x")


def test_no_credentials_send_no_authorization() -> None:
    settings = PrometheusSettings(url=URL, headers=("X-Scope-OrgID: team",))

    assert Credentials(settings).headers() == [("X-Scope-OrgID", "team")]


def test_a_token_that_is_rotated_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    credentials = Credentials(PrometheusSettings(url=URL, bearer_token_file=file))
    fresh = tmp_path / "fresh"
    fresh.write_text("new")
    fresh.replace(file)  # as the kubelet swaps it

    assert dict(credentials.headers())["Authorization"] == "Bearer new"


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    status = file.stat()
    secret = SecretFile("token-file", file)
    assert secret.read() == "old"
    file.write_text("new")  # the same size, and the same time:
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert secret.read() == "old"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"a\nb", "more than one line"),
        ("é".encode(), "more than ASCII"),
    ],
)
def test_an_unusable_token_file_is_named_at_the_start(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SettingError, match=problem) as caught:
        Credentials(PrometheusSettings(url=URL, bearer_token_file=file))
    assert str(file) in caught.value.problem
    assert caught.value.setting == "prometheus-bearer-token-file"


def test_every_secret_is_taken_out_of_a_text() -> None:
    settings = PrometheusSettings(url="https://me:pass-word@host", headers=("X-Key: key-value",))
    text = "no pass-word, no key-value, no bWU6cGFzcy13b3Jk"

    assert Credentials(settings).redact(text) == "no ***, no ***, no ***"


def test_a_tenant_is_no_secret() -> None:
    settings = PrometheusSettings(url=URL, headers=("X-Scope-OrgID: default",))

    assert Credentials(settings).redact("no namespace default") == "no namespace default"


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_an_unusable_ca_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SettingError) as caught:
        TlsContext(PrometheusSettings(url=URL, ca_file=file))
    assert caught.value.setting == "prometheus-ca-file"
    assert str(file) in caught.value.problem


@pytest.mark.parametrize("key", [None, b"no key"])
def test_an_unusable_certificate_is_named(tmp_path: Path, key: bytes | None) -> None:
    cert_file, key_file = tmp_path / "cert.pem", tmp_path / "key.pem"
    trustme.CA().issue_cert("me").cert_chain_pems[0].write_to_path(cert_file)
    if key is not None:
        key_file.write_bytes(key)

    with pytest.raises(SettingError) as caught:
        TlsContext(PrometheusSettings(url=URL, cert_file=cert_file, key_file=key_file))
    assert caught.value.setting in {"prometheus-cert-file", "prometheus-key-file"}


def test_an_encrypted_key_is_refused_instead_of_asking_on_the_terminal(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization as s  # noqa: PLC0415, RUF100 one test

    issued = trustme.CA().issue_cert("me")
    key = s.load_pem_private_key(issued.private_key_pem.bytes(), password=None)
    locked = s.BestAvailableEncryption(b"secret")
    cert_file, key_file = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(cert_file)
    key_file.write_bytes(key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, locked))

    with pytest.raises(SettingError, match="prometheus-key-file: is encrypted"):
        TlsContext(PrometheusSettings(url=URL, cert_file=cert_file, key_file=key_file))
