"""One session: requests, replies and bytes of many streams over one ordered carrier."""

from collections.abc import Iterator

import msgspec

from gputide.tunnel.protocol.events import (
    Accepted,
    DataReceived,
    Event,
    Finished,
    GoingAway,
    Greeted,
    Opened,
    Ponged,
    Refused,
    WasReset,
    Writable,
)
from gputide.tunnel.protocol.frames import Frame, FrameReader
from gputide.tunnel.protocol.liveness import Liveness
from gputide.tunnel.protocol.model import (
    Code,
    FrameType,
    Limits,
    PeerProtocolError,
    Side,
    StreamClosedError,
)
from gputide.tunnel.protocol.outbox import Outbox, credit_payload, read_credit
from gputide.tunnel.protocol.stream import Stream
from gputide.tunnel.protocol.streams import Streams
from gputide.tunnel.protocol.wire import (
    Hello,
    Reply,
    Request,
    decode_hello,
    decode_refusal,
    decode_reply,
    decode_request,
    encode,
    refusal,
)


class Session:
    """Owns no socket and reads no clock; every call returns at once.

    `receive` takes bytes in any chunking. After any call that may have queued something (all but
    the properties) send what `data_to_send` returns. Call `tick` at `deadline_seconds`. Both raise
    PeerProtocolError or PeerLostError when the connection must be dropped.
    """

    def __init__(
        self, side: Side, hello: Hello, limits: Limits | None = None, *, now_seconds: float
    ) -> None:
        limits = limits or Limits()
        self._hello = hello
        self._reader = FrameReader(max_frame_bytes=limits.max_frame_bytes)
        self._outbox = Outbox(limits)
        self._streams = Streams(side, limits)
        self._liveness = Liveness(limits, now_seconds=now_seconds)
        self._greeted: Greeted | None = None
        self._is_draining = False
        self._is_peer_draining = False
        hello = msgspec.structs.replace(hello, window_bytes=limits.window_bytes)
        self._outbox.control(FrameType.HELLO, 0, encode(hello))

    # What a shell asks ---------------------------------------------------------------------------

    @property
    def greeted(self) -> Greeted | None:
        """The peer's hello, once it came."""
        return self._greeted

    @property
    def stream_count(self) -> int:
        """Streams that are open."""
        return len(self._streams)

    @property
    def is_drained(self) -> bool:
        """Whether either side drains and nothing is under way any more."""
        return (self._is_draining or self._is_peer_draining) and not len(self._streams)

    @property
    def can_open(self) -> bool:
        """Whether a new request may be opened."""
        return self._greeted is not None and not (self._is_draining or self._is_peer_draining)

    @property
    def deadline_seconds(self) -> float:
        """When `tick` has something to do."""
        return self._liveness.deadline_seconds

    def data_to_send(self, most: int = 262_144) -> bytes:
        """Return the next bytes for the carrier: control first, then each stream in turn.

        At most about `most` bytes; call again while it returns some and the carrier has room.
        """
        data = self._outbox.take(self._streams.by_number, most)
        for number in self._outbox.ended:
            self._streams.forget_if_over(number)
        return data

    def writable(self) -> list[Writable]:
        """Return the streams that were full and take data again; ask after `data_to_send`."""
        return [Writable(number) for number in self._streams.writable()]

    # What a shell says ---------------------------------------------------------------------------

    def open(self, request: Request, *, is_finished: bool = False) -> int:
        """Ask the peer for something; return the stream. `is_finished`: no data will follow."""
        if not self.can_open:
            raise StreamClosedError("the session takes no new requests")
        number, stream = self._streams.add_ours()
        self._outbox.control(FrameType.OPEN, number, encode(request), is_final=is_finished)
        stream.out.is_closed = is_finished
        return number

    def accept(self, stream: int, reply: Reply, *, is_finished: bool = False) -> None:
        """Answer a request of the peer; `is_finished`: no data will follow."""
        found = self._streams.asked(stream)
        found.is_answered = True
        self._outbox.control(FrameType.ACCEPT, stream, encode(reply), is_final=is_finished)
        found.out.is_closed = is_finished
        self._streams.forget_if_over(stream)

    def refuse(self, stream: int, code: Code, text: str = "") -> None:
        """Refuse a request of the peer: the stream is over."""
        self._streams.asked(stream)
        self._outbox.control(FrameType.REFUSE, stream, refusal(code, text))
        self._streams.forget(stream)

    def send(self, stream: int, data: bytes | memoryview) -> int:
        """Queue data; return how many bytes were taken (`writable` tells when more are)."""
        found = self._streams.get(stream)
        if found is None or found.out.is_closed or found.out.is_finishing:
            raise StreamClosedError(f"stream {stream} is closed for sending")
        if not found.is_ours and not found.is_answered:
            raise StreamClosedError(f"stream {stream} was not accepted")
        self._outbox.is_waiting(stream)
        return found.out.push(data)

    def finish(self, stream: int) -> None:
        """Say that no more data follows what was queued; nothing happens on a closed stream."""
        found = self._streams.get(stream)
        if found is not None and not found.out.is_closed:
            found.out.is_finishing = True
            self._outbox.is_waiting(stream)

    def reset(self, stream: int, code: Code = Code.GONE, text: str = "") -> None:
        """Break a stream at once; nothing happens on one that is over."""
        if self._streams.get(stream) is not None:
            self._outbox.control(FrameType.RESET, stream, refusal(code, text))
            self._streams.forget(stream)

    def consumed(self, stream: int, size: int) -> None:
        """Say that received bytes were passed on, so that the peer may send more."""
        found = self._streams.get(stream)
        credit = 0 if found is None else self._streams.read(found, size)
        if credit:
            self._outbox.control(FrameType.CREDIT, stream, credit_payload(credit))

    def go_away(self, text: str = "") -> None:
        """Take no new requests; those under way go on."""
        if not self._is_draining:
            self._is_draining = True
            self._outbox.control(FrameType.GOAWAY, 0, refusal(Code.GONE, text))

    def tick(self, *, now_seconds: float) -> None:
        """Ping when it is time; raise PeerLostError after too long a silence."""
        label = self._liveness.ping(now_seconds)
        if label is not None:
            self._outbox.control(FrameType.PING, 0, label)

    # What the peer says --------------------------------------------------------------------------

    def receive(self, data: bytes, *, now_seconds: float) -> list[Event]:
        """Return what these bytes tell."""
        self._liveness.heard(now_seconds)
        events: list[Event] = []
        for frame in self._reader.receive(data):
            if (self._greeted is None) != (frame.type is FrameType.HELLO):
                raise PeerProtocolError("a hello is the first frame, and comes once")
            events += self._take(frame, now_seconds)
        for number in self._streams.overfull():
            text = "the reader is too slow"
            self.reset(number, Code.SLOW_READER, text)
            events.append(WasReset(number, Code.SLOW_READER, text))
        return events

    def _take(self, frame: Frame, now_seconds: float) -> Iterator[Event]:
        match frame.type:
            case FrameType.HELLO:
                return self._on_hello(frame)
            case FrameType.OPEN:
                return self._on_open(frame)
            case FrameType.PING | FrameType.PONG | FrameType.GOAWAY:
                return self._on_session(frame, now_seconds)
            case FrameType.ACCEPT | FrameType.REFUSE:
                return self._on_answer(frame)
            case FrameType.DATA | FrameType.FIN | FrameType.RESET | FrameType.CREDIT:
                return self._on_stream(frame)

    def _on_hello(self, frame: Frame) -> Iterator[Event]:
        hello = decode_hello(frame.payload)
        both = set(hello.versions) & set(self._hello.versions)
        if not both:
            ours, theirs = sorted(self._hello.versions), sorted(hello.versions)
            raise PeerProtocolError(
                f"no protocol version in common: this side speaks {ours}, the peer {theirs}"
            )
        features = frozenset(hello.features) & frozenset(self._hello.features)
        self._greeted = Greeted(hello, max(both), features)
        self._streams.peer_window_bytes = hello.window_bytes
        self._liveness.is_greeted = True
        yield self._greeted

    def _on_open(self, frame: Frame) -> Iterator[Event]:
        number = frame.stream
        self._streams.note_of_peer(number)
        request = decode_request(frame.payload)
        if self._is_draining:
            why = refusal(Code.GONE, "this side goes away")
        elif self._streams.is_full:
            why = refusal(Code.TOO_MANY, "too many requests at a time")
        elif request is None:
            why = refusal(Code.UNSUPPORTED, "this side does not know that request")
        else:
            stream = self._streams.add_of_peer(number)
            stream.inward.is_closed = frame.is_final
            yield Opened(number, request, frame.is_final)
            return
        self._outbox.control(FrameType.REFUSE, number, why)

    def _on_session(self, frame: Frame, now_seconds: float) -> Iterator[Event]:
        if frame.type is FrameType.PING:
            if len(frame.payload) > 64:
                raise PeerProtocolError("a ping of more than 64 bytes")
            self._outbox.control(FrameType.PONG, 0, frame.payload)
        elif frame.type is FrameType.PONG:
            took = self._liveness.pong(frame.payload, now_seconds)
            if took is not None:
                yield Ponged(took)
        else:
            self._is_peer_draining = True
            yield GoingAway(decode_refusal(frame.payload)[1])

    def _on_answer(self, frame: Frame) -> Iterator[Event]:
        stream = self._streams.answered(frame.stream)
        if stream is None:  # over on this side; its last frames were under way
            return
        if frame.type is FrameType.REFUSE:
            self._streams.forget(frame.stream)
            yield Refused(frame.stream, *decode_refusal(frame.payload))
            return
        stream.is_answered = True
        yield Accepted(frame.stream, decode_reply(frame.payload))
        yield from self._finish_inward(frame, stream)

    def _on_stream(self, frame: Frame) -> Iterator[Event]:
        number = frame.stream
        stream = self._streams.of_frame(number)
        if stream is None:
            return
        if frame.type is FrameType.CREDIT:
            self._credit(number, stream, frame.payload)
        elif frame.type is FrameType.RESET:
            self._streams.forget(number)
            yield WasReset(number, *decode_refusal(frame.payload))
        else:
            if frame.type is FrameType.DATA:
                self._streams.receive(number, stream, len(frame.payload))
                if frame.payload:
                    yield DataReceived(number, frame.payload)
            yield from self._finish_inward(frame, stream)

    def _finish_inward(self, frame: Frame, stream: Stream) -> Iterator[Event]:
        is_last = frame.is_final or frame.type is FrameType.FIN
        if is_last and not stream.inward.is_closed:
            stream.inward.is_closed = True
            yield Finished(frame.stream)
            self._streams.forget_if_over(frame.stream)

    def _credit(self, number: int, stream: Stream, payload: bytes) -> None:
        stream.out.credit_bytes += read_credit(payload)
        if stream.out.credit_bytes > self._streams.peer_window_bytes:
            raise PeerProtocolError(f"more credit on stream {number} than its window holds")
        self._outbox.is_waiting(number)
