from contextlib import suppress

import h2.connection
import h2.events
import pytest
from h2.config import H2Configuration
from h2.errors import ErrorCodes
from hypothesis import given
from hypothesis import strategies as st

from gputide.exporter.owners.grpc import GrpcChannel, GrpcError

OK_HEAD = [(":status", "200"), ("content-type", "application/grpc+proto")]


class Server:
    """The other end, in memory."""

    def __init__(self, channel: GrpcChannel) -> None:
        self.channel = channel
        self.http = h2.connection.H2Connection(
            H2Configuration(client_side=False, header_encoding="utf-8")
        )
        self.http.initiate_connection()
        self.headers: dict[str, str] = {}
        self.body = b""
        self.stream = 0

    def take(self) -> None:
        for event in self.http.receive_data(self.channel.outgoing()):
            if isinstance(event, h2.events.RequestReceived):
                self.headers = {str(name): str(value) for name, value in event.headers}
                self.stream = event.stream_id
            if isinstance(event, h2.events.DataReceived):
                self.body += event.data or b""

    def answer(
        self,
        body: bytes,
        *trailers: tuple[str, str],
        head: list[tuple[str, str]] | None = None,
    ) -> bytes:
        self.http.send_headers(self.stream, head or OK_HEAD, end_stream=not (body or trailers))
        if body:
            self.http.send_data(self.stream, body, end_stream=not trailers)
        if trailers:
            self.http.send_headers(self.stream, trailers, end_stream=True)
        return self.http.data_to_send()


def called(**limits: int) -> Server:
    channel = GrpcChannel(**limits)
    channel.call("/v1.Service/Method", b"question", timeout_seconds=2.5)
    server = Server(channel)
    server.take()
    return server


def framed(message: bytes) -> bytes:
    return b"\0" + len(message).to_bytes(4) + message


def test_a_call_is_what_grpc_servers_expect() -> None:
    server = called()

    assert server.body == framed(b"question")
    assert server.headers[":method"] == "POST"
    assert server.headers[":path"] == "/v1.Service/Method"
    assert server.headers["content-type"] == "application/grpc"
    assert server.headers["te"] == "trailers"
    assert server.headers["grpc-timeout"] == "2500m"


@given(message=st.binary(max_size=300), cut=st.integers(1, 60))
def test_an_answer_is_the_same_in_any_chunking(message: bytes, cut: int) -> None:
    server = called()
    wire = server.answer(framed(message), ("grpc-status", "0"))
    answers = [
        server.channel.receive(wire[start : start + cut]) for start in range(0, len(wire), cut)
    ]

    assert [each for each in answers if each is not None] == [message]


def test_a_connection_takes_one_call_after_another() -> None:
    server = called()
    server.channel.receive(server.answer(framed(b"one"), ("grpc-status", "0")))

    server.channel.call("/v1.Service/Method", b"", timeout_seconds=1)
    server.take()

    assert server.channel.receive(server.answer(framed(b"two"), ("grpc-status", "0"))) == b"two"
    assert server.stream == 3


@pytest.mark.parametrize(
    ("status", "message", "problem"),
    [
        ("13", "disk%20full", "INTERNAL: disk full"),
        ("12", "", "UNIMPLEMENTED"),
        ("99", "?", "status 99: ?"),
        ("x" * 50, "", "status " + "x" * 20),
    ],
)
def test_an_error_status_is_told_and_the_connection_stays(
    status: str, message: str, problem: str
) -> None:
    server = called()
    trailers = [("grpc-status", status), ("grpc-message", message)]

    with pytest.raises(GrpcError) as caught:
        server.channel.receive(server.answer(b"", head=[*OK_HEAD, *trailers]))

    assert str(caught.value) == problem
    assert caught.value.is_connection_good


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "an answer without a message"),
        (b"\0\0\0", "an answer without a message"),
        (b"\x01\0\0\0\x01x", "an answer compressed in a way that was not asked for"),
        (b"\0\0\0\0\x09x", "an answer of 1 bytes that announced 9"),
        (framed(b"a") + framed(b"b"), "an answer of 7 bytes that announced 1"),
        (b"\0\xff\xff\xff\xff", "an answer of 4294967295 bytes; at most 100"),
        (b"\0\0\0\0\x01" + b"x" * 200, "an answer of more than 100 bytes"),
    ],
)
def test_a_body_that_is_not_one_message_is_refused(body: bytes, problem: str) -> None:
    server = called(max_message_bytes=100)

    with pytest.raises(GrpcError) as caught:
        server.channel.receive(server.answer(body, ("grpc-status", "0")))

    assert str(caught.value) == problem


def test_another_http_server_is_told_by_its_status_and_content_type() -> None:
    server = called()
    head = [(":status", "404"), ("content-type", "text/plain")]

    with pytest.raises(GrpcError, match="no gRPC answer: HTTP status 404, content type text/plain"):
        server.channel.receive(server.answer(b"not found", head=head))


def test_an_answer_without_a_status_is_no_answer() -> None:
    server = called()

    with pytest.raises(GrpcError, match="ended without a status"):
        server.channel.receive(server.answer(framed(b"x")))


def test_a_reset_call_says_why() -> None:
    server = called()
    server.http.reset_stream(server.stream, ErrorCodes.REFUSED_STREAM)

    with pytest.raises(GrpcError, match="the call was reset: REFUSED_STREAM"):
        server.channel.receive(server.http.data_to_send())


def test_a_server_that_goes_away_after_its_answer_takes_no_further_call() -> None:
    server = called()
    wire = server.answer(framed(b"last"), ("grpc-status", "0"))
    server.http.close_connection(ErrorCodes.NO_ERROR, last_stream_id=server.stream)

    assert server.channel.receive(wire + server.http.data_to_send()) == b"last"
    assert not server.channel.is_usable


def test_a_server_that_goes_away_before_its_answer_is_a_failure() -> None:
    server = called()
    server.http.close_connection(ErrorCodes.ENHANCE_YOUR_CALM, last_stream_id=0)

    with pytest.raises(GrpcError, match="closes: ENHANCE_YOUR_CALM"):
        server.channel.receive(server.http.data_to_send())


@given(noise=st.binary(min_size=1, max_size=300), place=st.integers(0, 120))
def test_any_bytes_are_an_answer_or_an_error_of_ours(noise: bytes, place: int) -> None:
    server = called()
    wire = server.answer(framed(b"message"), ("grpc-status", "0"))
    with suppress(GrpcError):
        server.channel.receive(wire[:place] + noise + wire[place:])


@given(body=st.binary(max_size=100), status=st.text("0123456789 -x", max_size=5))
def test_any_body_and_status_is_an_answer_or_an_error_of_ours(body: bytes, status: str) -> None:
    server = called()
    with suppress(GrpcError):
        server.channel.receive(server.answer(body, ("grpc-status", status.strip() or "0")))
