"""The serving certificate that is made at the start."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from gputide.errors import InputError
from gputide.metricsapi.certificate import ensure, not_after

NOW = datetime(2026, 3, 2, tzinfo=UTC)
NAMES = ("m.n.svc", "127.0.0.1")


def test_it_is_signed_by_the_authority_beside_it_and_its_key_is_private(tmp_path: Path) -> None:
    files = ensure(tmp_path / "certs", NAMES, NOW)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.cert_file, files.key_file)
    assert files.ca_file is not None
    authority = x509.load_pem_x509_certificate(files.ca_file.read_bytes())
    certificate = x509.load_pem_x509_certificate(files.cert_file.read_bytes())

    certificate.verify_directly_issued_by(authority)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(one.value) for one in names] == list(NAMES)
    assert files.key_file.stat().st_mode & 0o777 == 0o600
    assert files.key_file.parent.stat().st_mode & 0o777 == 0o700


def test_it_is_kept_while_it_lasts_and_has_the_same_names(tmp_path: Path) -> None:
    first = ensure(tmp_path, NAMES, NOW).cert_file.read_bytes()

    assert ensure(tmp_path, NAMES, NOW + timedelta(days=30)).cert_file.read_bytes() == first
    assert ensure(tmp_path, ("other",), NOW).cert_file.read_bytes() != first
    second = (tmp_path / "tls.crt").read_bytes()
    late = NOW + timedelta(days=3600)
    assert ensure(tmp_path, ("other",), late).cert_file.read_bytes() != second
    (tmp_path / "tls.crt").write_text("ruined")
    assert not_after(tmp_path / "tls.crt") is None
    end = not_after(ensure(tmp_path, NAMES, NOW).cert_file)
    assert end is not None
    assert end > NOW.timestamp() + 3600 * 86_400


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        ensure(tmp_path / "file", NAMES, NOW)
