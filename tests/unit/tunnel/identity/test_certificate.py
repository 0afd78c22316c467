import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gputide.errors import InputError
from gputide.tunnel.identity.authority import Authority, new_authority
from gputide.tunnel.identity.certificate import (
    certificate_pem,
    identity_of,
    key_pem,
    load_certificate,
    load_key,
    new_key,
    new_request,
    read_identity,
    read_request,
)

NOW = 1_790_000_000.0


def agent(authority: Authority, *nodes: str) -> x509.Certificate:
    pem = authority.sign_agent(
        new_request(new_key(), "whatever I like"),
        name="agent-1",
        site="s1",
        nodes=nodes,
        lifetime_seconds=86_400,
        now_seconds=NOW,
    )
    return load_certificate(pem, "test")


def test_an_agents_certificate_says_which_nodes_it_speaks_for() -> None:
    certificate = agent(new_authority(now_seconds=NOW), "edge-gpu-001", "edge-cpu-*")
    der = certificate.public_bytes(serialization.Encoding.DER)
    identity = identity_of(der)

    assert (identity.name, identity.site) == ("agent-1", "s1")
    assert identity.nodes == ("edge-gpu-001", "edge-cpu-*")
    assert identity.not_after_seconds == NOW + 86_400
    assert identity.holds("edge-cpu-7")
    assert not identity.holds("edge-gpu-002")


def test_a_gateways_certificate_is_no_agents() -> None:
    authority = new_authority(now_seconds=NOW)
    pem = authority.sign_gateway(
        new_request(new_key(), "g"), names=("gw.example",), lifetime_seconds=3600, now_seconds=NOW
    )
    with pytest.raises(InputError, match="client certificate: is not an agent's"):
        read_identity(load_certificate(pem, "test"))
    with pytest.raises(InputError, match="cannot be read"):
        identity_of(b"noise")


def test_a_key_and_a_certificate_survive_a_file_and_noise_is_named() -> None:
    key = new_key()
    assert load_key(key_pem(key), "k").private_numbers() == key.private_numbers()
    authority = new_authority(now_seconds=NOW)
    pem = certificate_pem(authority.certificate)
    assert load_certificate(pem, "c") == authority.certificate
    with pytest.raises(InputError, match="k: holds no private key"):
        load_key(b"noise", "k")
    with pytest.raises(InputError, match="c: holds no certificate"):
        load_certificate(b"noise", "c")


def test_another_kind_of_key_is_refused() -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with pytest.raises(InputError, match="another kind of key"):
        load_key(pem, "k")
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    csr = request.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    with pytest.raises(InputError, match="must be for a P-256 key"):
        read_request(csr)


def test_a_request_that_its_own_key_did_not_sign_is_refused() -> None:
    good = x509.load_pem_x509_csr(new_request(new_key(), "n")).public_bytes(
        serialization.Encoding.DER
    )
    forged = x509.load_der_x509_csr(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(InputError, match="certificate request"):
        read_request(forged.public_bytes(serialization.Encoding.PEM))
    with pytest.raises(InputError, match="cannot be read"):
        read_request(b"noise")
