"""The client's half of gRPC for single calls: bytes in, answers out; owns no socket.

Written on h2 because the grpc package costs 21 MiB of memory. One call at a time.
"""

from urllib.parse import unquote

import h2.connection
import h2.events
import h2.exceptions
from h2.config import H2Configuration
from h2.errors import ErrorCodes

from gputide.errors import GputideError

PREFIX_BYTES = 5
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_STATUS_NAMES = {
    1: "CANCELLED",
    2: "UNKNOWN",
    3: "INVALID_ARGUMENT",
    4: "DEADLINE_EXCEEDED",
    5: "NOT_FOUND",
    7: "PERMISSION_DENIED",
    8: "RESOURCE_EXHAUSTED",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    16: "UNAUTHENTICATED",
}
_OPENING_BYTES = 4  # length and type of the first frame, which must be the settings
_SETTINGS_FRAME = 4
_Headers = list[tuple[str, str]]


class GrpcError(GputideError):
    """The call failed; the connection may be used further only where `is_connection_good`."""

    def __init__(self, problem: str, *, is_connection_good: bool = False) -> None:
        super().__init__(problem)
        self.is_connection_good = is_connection_good


class GrpcChannel:
    """One connection; `send` what `outgoing` returns, feed `receive` what arrives."""

    def __init__(self, *, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_message_bytes = max_message_bytes
        self._http = h2.connection.H2Connection(
            H2Configuration(client_side=True, header_encoding="utf-8")
        )
        self._http.initiate_connection()
        self._stream: int | None = None
        self._buffer = bytearray()
        self._headers: dict[str, str] = {}
        self._is_going_away = False
        self._opening = b""

    @property
    def is_usable(self) -> bool:
        """Whether a further call can be made on this connection."""
        return not self._is_going_away

    def call(self, method: str, message: bytes, *, timeout_seconds: float) -> None:
        """Begin a call; raise GrpcError where the connection takes none."""
        try:
            self._stream = self._http.get_next_available_stream_id()
            headers = [
                (":method", "POST"),
                (":scheme", "http"),
                (":path", method),
                (":authority", "localhost"),
                ("te", "trailers"),
                ("content-type", "application/grpc"),
                ("user-agent", "gputide"),
                ("grpc-timeout", f"{max(int(timeout_seconds * 1000), 1)}m"),
            ]
            self._http.send_headers(self._stream, headers)
            prefix = b"\0" + len(message).to_bytes(4)
            self._http.send_data(self._stream, prefix + message, end_stream=True)
        except h2.exceptions.H2Error as error:
            raise GrpcError(f"HTTP/2: {error}") from error
        self._buffer = bytearray()
        self._headers = {}

    def outgoing(self) -> bytes:
        """Return the bytes to be sent now, possibly none."""
        return self._http.data_to_send()

    def receive(self, data: bytes) -> bytes | None:
        """Take bytes in any chunking; return the answer when it is whole. Raise GrpcError."""
        self._check_opening(data)
        try:
            # Whatever the bytes are: h2 and hpack answer some of them with plain exceptions.
            events = self._http.receive_data(data)
        except Exception as error:
            raise GrpcError(f"the other side speaks no HTTP/2: {_words(error)}") from error
        answer = None
        for event in events:
            ended = self._take(event)
            answer = ended if ended is not None else answer
        return answer

    def _check_opening(self, data: bytes) -> None:
        """Refuse what begins otherwise than HTTP/2; h2 would wait for the rest of a frame."""
        if len(self._opening) < _OPENING_BYTES:
            self._opening += data[: _OPENING_BYTES - len(self._opening)]
            if len(self._opening) == _OPENING_BYTES and self._opening[-1] != _SETTINGS_FRAME:
                raise GrpcError("the other side speaks no HTTP/2")

    def _take(self, event: h2.events.Event) -> bytes | None:
        if isinstance(event, h2.events.ConnectionTerminated):
            self._is_going_away = True
            if event.error_code != ErrorCodes.NO_ERROR or not self._reaches(event.last_stream_id):
                raise GrpcError(f"the other side closes: {_code(event.error_code)}")
        if getattr(event, "stream_id", None) != self._stream:
            return None
        if isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
            self._headers |= _texts(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self._take_data(event)
        elif isinstance(event, h2.events.StreamReset):
            raise GrpcError(f"the call was reset: {_code(event.error_code)}")
        elif isinstance(event, h2.events.StreamEnded):
            return self._end()
        return None

    def _take_data(self, event: h2.events.DataReceived) -> None:
        self._buffer += event.data or b""
        if self._is_other_http():
            return  # an error page, say; its status is told at its end
        if len(self._buffer) >= PREFIX_BYTES:
            size = int.from_bytes(self._buffer[1:PREFIX_BYTES])
            if size > self._max_message_bytes:  # before buffering it
                raise GrpcError(f"an answer of {size} bytes; at most {self._max_message_bytes}")
        if len(self._buffer) > self._max_message_bytes + PREFIX_BYTES:
            raise GrpcError(f"an answer of more than {self._max_message_bytes} bytes")
        self._http.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)

    def _is_other_http(self) -> bool:
        is_grpc = self._headers.get("content-type", "").startswith("application/grpc")
        return self._headers.get(":status") != "200" or not is_grpc

    def _end(self) -> bytes:
        self._stream = None  # what may still come for it is of no interest
        status = self._headers.get("grpc-status")
        if status is None and self._is_other_http():
            http, kind = (self._headers.get(name, "none") for name in (":status", "content-type"))
            raise GrpcError(f"no gRPC answer: HTTP status {http}, content type {kind}")
        if status != "0":
            raise GrpcError(_status(status, self._headers), is_connection_good=status is not None)
        return _one_message(self._buffer)

    def _reaches(self, last_stream_id: int | None) -> bool:
        return self._stream is None or (last_stream_id or 0) >= self._stream


def _one_message(buffer: bytearray) -> bytes:
    if len(buffer) < PREFIX_BYTES:
        raise GrpcError("an answer without a message")
    size = int.from_bytes(buffer[1:PREFIX_BYTES])
    if buffer[0] != 0:
        raise GrpcError("an answer compressed in a way that was not asked for")
    if len(buffer) != PREFIX_BYTES + size:
        got = len(buffer) - PREFIX_BYTES
        raise GrpcError(f"an answer of {got} bytes that announced {size}")
    return bytes(buffer[PREFIX_BYTES:])


def _status(status: str | None, headers: dict[str, str]) -> str:
    if status is None:
        return "the answer ended without a status"
    number = int(status) if status.isascii() and status.isdigit() and len(status) < 4 else -1
    name = _STATUS_NAMES.get(number, f"status {status[:20]}")
    message = unquote(headers.get("grpc-message", ""))[:200]
    return f"{name}: {message}" if message else name


def _texts(headers: object) -> dict[str, str]:
    pairs: _Headers = []
    for name, value in headers if isinstance(headers, list) else []:
        pairs.append((str(name), str(value)))
    return dict(pairs)


def _code(code: object) -> str:
    return code.name if isinstance(code, ErrorCodes) else f"code {code}"


def _words(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__
