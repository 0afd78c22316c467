from fakes.certificates import DAY, NOW, Authority
from gputide.kubeapi.auth.certificates import common_name, issued_by, organizations, parsed

GOOD, BAD = Authority("good"), Authority("bad")


def test_a_certificate_is_of_the_authority_that_signed_it() -> None:
    leaf = GOOD.issue("jane", "dev", "ops").certificate
    assert issued_by(leaf, GOOD.pem, NOW)
    assert issued_by(leaf, BAD.pem + GOOD.pem, NOW)
    assert not issued_by(leaf, BAD.pem, NOW)
    assert (common_name(leaf), organizations(leaf)) == ("jane", ("dev", "ops"))


def test_an_authority_of_the_same_name_with_another_key_does_not_count() -> None:
    assert not issued_by(GOOD.issue("jane").certificate, Authority("good").pem, NOW)


def test_a_certificate_counts_only_while_it_is_valid() -> None:
    leaf = GOOD.issue("jane").certificate
    assert not issued_by(leaf, GOOD.pem, NOW + 20 * DAY)
    assert not issued_by(leaf, GOOD.pem, NOW - 2 * DAY)


def test_an_authority_counts_only_while_it_is_valid() -> None:
    old = Authority("old", start=NOW - 40 * DAY)
    assert not issued_by(old.issue("jane", start=NOW - DAY).certificate, old.pem, NOW)


def test_a_servers_certificate_is_no_clients() -> None:
    assert not issued_by(GOOD.issue("jane", is_for_servers=True).certificate, GOOD.pem, NOW)


def test_a_leaf_is_no_authority() -> None:
    leaf = GOOD.issue("jane")
    forged = Authority("jane", key=leaf.key).issue("root").certificate
    assert not issued_by(forged, leaf.pem, NOW)


def test_what_is_no_certificate_is_nobodys() -> None:
    assert parsed(b"nonsense") is None
    assert not issued_by(GOOD.issue("jane").certificate, "nonsense", NOW)
    assert not issued_by(GOOD.issue("jane").certificate, "", NOW)
