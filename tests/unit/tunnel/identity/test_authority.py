import stat
from pathlib import Path

import pytest
from cryptography.x509 import ExtendedKeyUsage, SubjectAlternativeName
from cryptography.x509.oid import ExtendedKeyUsageOID

from gputide.errors import InputError, SettingError
from gputide.tunnel.identity.authority import new_authority, open_authority
from gputide.tunnel.identity.certificate import load_certificate, new_key, new_request

NOW = 1_790_000_000.0


def test_an_authority_is_made_once_and_found_again(tmp_path: Path) -> None:
    first = open_authority(tmp_path, now_seconds=NOW)
    again = open_authority(tmp_path, now_seconds=NOW + 5)

    assert again.fingerprint == first.fingerprint
    assert stat.S_IMODE((tmp_path / "ca.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "ca.crt").stat().st_mode) == 0o644


def test_an_authority_whose_public_copy_was_not_written_yet_is_whole(tmp_path: Path) -> None:
    first = open_authority(tmp_path, now_seconds=NOW)
    (tmp_path / "ca.crt").unlink()
    assert open_authority(tmp_path, now_seconds=NOW).fingerprint == first.fingerprint


def test_a_certificate_of_another_key_and_an_open_key_are_refused(tmp_path: Path) -> None:
    open_authority(tmp_path, now_seconds=NOW)
    (tmp_path / "ca.crt").write_bytes(new_authority(now_seconds=NOW).pem)
    with pytest.raises(InputError, match=r"ca\.crt: does not belong to the key in .*ca\.key"):
        open_authority(tmp_path, now_seconds=NOW)
    (tmp_path / "ca.key").chmod(0o644)
    with pytest.raises(InputError, match="others may read it"):
        open_authority(tmp_path, now_seconds=NOW)


def test_a_gateway_is_signed_for_its_names_and_addresses() -> None:
    authority = new_authority(now_seconds=NOW)
    pem = authority.sign_gateway(
        new_request(new_key(), "g"),
        names=("gw.example", "198.51.100.1"),
        lifetime_seconds=3600,
        now_seconds=NOW,
    )
    certificate = load_certificate(pem, "test")
    certificate.verify_directly_issued_by(authority.certificate)
    names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
    usage = certificate.extensions.get_extension_for_class(ExtendedKeyUsage).value
    assert [str(one.value) for one in names] == ["gw.example", "198.51.100.1"]
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_what_an_agent_asks_for_is_bounded() -> None:
    authority = new_authority(now_seconds=NOW)
    request = new_request(new_key(), "a")

    def sign(nodes: tuple[str, ...], lifetime_seconds: float) -> bytes:
        return authority.sign_agent(
            request,
            name="a",
            site="",
            nodes=nodes,
            lifetime_seconds=lifetime_seconds,
            now_seconds=NOW,
        )

    with pytest.raises(InputError, match="nodes: must be 1 to 2000"):
        sign((), 3600)
    with pytest.raises(SettingError, match="certificate-lifetime: must be at least a minute"):
        sign(("n",), 1)
    with pytest.raises(SettingError, match="server-name"):
        authority.sign_gateway(request, names=(), lifetime_seconds=3600, now_seconds=NOW)


def test_no_certificate_outlives_the_authority() -> None:
    authority = new_authority(now_seconds=NOW)
    pem = authority.sign_agent(
        new_request(new_key(), "a"),
        name="a",
        site="",
        nodes=("n",),
        lifetime_seconds=1e9,
        now_seconds=NOW,
    )
    end = load_certificate(pem, "test").not_valid_after_utc
    assert end == authority.certificate.not_valid_after_utc
