import ssl
from pathlib import Path

import pytest
import trustme

from gputide.errors import InputError
from gputide.exporter.http.tls import is_allowed, new_context
from gputide.exporter.http.web_config import TlsConfig


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    certificate.private_key_pem.write_to_path(tmp_path / "a.key")
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(tmp_path / "a.crt", append=True)
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    return tmp_path


def test_a_context_has_the_versions_and_clients_of_the_file(folder: Path) -> None:
    config = TlsConfig(
        cert_file="a.crt",
        key_file="a.key",
        client_ca_file="ca.crt",
        client_auth_type="RequireAndVerifyClientCert",
        min_version="TLS13",
    )

    context = new_context(config, folder / "web.yml")

    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert context.verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize("missing", ["a.crt", "a.key"])
def test_a_file_that_cannot_be_used_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    config = TlsConfig(cert_file="a.crt", key_file="a.key")

    with pytest.raises(InputError, match=missing):
        new_context(config, folder / "web.yml")


def test_only_the_names_in_the_list_are_allowed() -> None:
    certificate = {"subjectAltName": (("DNS", "prom.example"), ("DNS", "x.example"))}

    assert is_allowed(certificate, ["prom.example"])
    assert not is_allowed(certificate, ["other.example"])
    assert not is_allowed(None, ["prom.example"])
    assert is_allowed(None, [])
