import ssl

import pytest

from gputide.tunnel.gateway.entrance.sni import ServerNameReader


def hello(name: str | None) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_the_name_is_read_from_a_hello_in_any_pieces(size: int) -> None:
    data = hello("edge-gpu-001")
    reader = ServerNameReader()
    ends = [reader.receive(data[at : at + size]) for at in range(0, len(data), size)]
    assert reader.name == "edge-gpu-001"
    assert ends[-1]
    assert not any(ends[:-1])


def test_a_hello_without_a_name_has_none() -> None:
    reader = ServerNameReader()
    assert reader.receive(hello(None))
    assert reader.name == ""


def test_what_is_no_tls_ends_the_reading() -> None:
    reader = ServerNameReader()
    assert reader.receive(b"GET / HTTP/1.1\r\n\r\n")
    assert reader.name == ""
