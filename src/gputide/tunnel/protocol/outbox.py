"""What waits for the carrier: control frames first, then one frame of each stream in turn."""

from collections import deque
from collections.abc import Mapping

from gputide.tunnel.protocol.frames import HEAD_BYTES, encode_frame
from gputide.tunnel.protocol.model import FrameType, Limits, PeerLostError, PeerProtocolError
from gputide.tunnel.protocol.stream import Stream

CHUNK_BYTES = 16_384
"""Data of one frame: small enough that a large page delays nobody for long."""


class Outbox:
    """Keeps the order of frames; bounded by the streams' own bounds and one for control frames."""

    def __init__(self, limits: Limits) -> None:
        self._control: deque[bytes] = deque()
        self._control_bytes = 0
        self._max_control_bytes = limits.max_control_bytes
        self._chunk_bytes = min(CHUNK_BYTES, limits.max_frame_bytes)
        self._turn: deque[int] = deque()
        self._in_turn: set[int] = set()
        self.ended: list[int] = []
        """Streams whose last frame went out by the newest `take`."""

    def control(
        self, kind: FrameType, stream: int, payload: bytes = b"", *, is_final: bool = False
    ) -> None:
        """Queue a control frame; raise PeerLostError where the peer takes none off us."""
        frame = encode_frame(kind, stream, payload, is_final=is_final)
        self._control.append(frame)
        self._control_bytes += len(frame)
        if self._control_bytes > self._max_control_bytes:
            raise PeerLostError("the peer does not read what it is told")

    def is_waiting(self, stream: int) -> None:
        """Note that a stream may have something to send."""
        if stream not in self._in_turn:
            self._in_turn.add(stream)
            self._turn.append(stream)

    def take(self, streams: Mapping[int, Stream], most: int) -> bytes:
        """Return about `most` bytes at the most; streams without credit wait for it."""
        self.ended = []
        parts = []
        size = 0
        while self._control and size < most:
            frame = self._control.popleft()
            self._control_bytes -= len(frame)
            parts.append(frame)
            size += len(frame)
        while self._turn and size < most:
            number = self._turn.popleft()
            self._in_turn.discard(number)
            stream = streams.get(number)
            if stream is None or not stream.out.is_ready:
                continue
            frame = self._next_frame(number, stream)
            parts.append(frame)
            size += len(frame)
            if stream.out.is_ready:
                self.is_waiting(number)
        return b"".join(parts)

    def _next_frame(self, number: int, stream: Stream) -> bytes:
        data = stream.out.take(self._chunk_bytes)
        is_final = stream.out.is_finishing and not stream.out.unsent_bytes
        if is_final:
            stream.out.is_closed = True
            self.ended.append(number)
        kind = FrameType.DATA if data else FrameType.FIN
        return encode_frame(kind, number, data, is_final=is_final)

    @property
    def has_more(self) -> bool:
        """Whether anything may be waiting."""
        return bool(self._control or self._turn)


def credit_payload(size: int) -> bytes:
    """Return the payload of a CREDIT frame."""
    return size.to_bytes(4)


def read_credit(payload: bytes) -> int:
    """Return the bytes granted, or raise PeerProtocolError."""
    if len(payload) != 4:
        raise PeerProtocolError("a credit has four bytes")
    return int.from_bytes(payload)


__all__ = ["CHUNK_BYTES", "HEAD_BYTES", "Outbox", "credit_payload", "read_credit"]
