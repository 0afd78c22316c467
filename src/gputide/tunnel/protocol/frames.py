"""Frames: ten bytes of head (type, flags, stream, length), then the payload."""

from dataclasses import dataclass
from struct import Struct

from gputide.tunnel.protocol.model import FrameType, PeerProtocolError

_HEAD = Struct(">BBII")
HEAD_BYTES = _HEAD.size
FIN_FLAG = 1
"""On OPEN, ACCEPT and DATA: the sender sends no more on this stream."""

MAX_STREAM = 2**31 - 1
FIRST_EXTENSION = 64
"""Types from here on are of later versions: skipped by whoever does not know them."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame as it came."""

    type: FrameType
    is_final: bool
    stream: int
    payload: bytes


def encode_frame(
    kind: FrameType, stream: int, payload: bytes | memoryview = b"", *, is_final: bool = False
) -> bytes:
    """Return a frame's bytes."""
    flags = FIN_FLAG if is_final else 0
    return b"".join((_HEAD.pack(kind, flags, stream, len(payload)), payload))


class FrameReader:
    """Takes bytes in any chunking and returns the frames that they complete."""

    def __init__(self, *, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()

    def receive(self, data: bytes) -> list[Frame]:
        """Return the frames completed; raise PeerProtocolError, before buffering, for bad heads."""
        self._buffer += data
        frames = []
        at = 0
        while len(self._buffer) - at >= HEAD_BYTES:
            kind, flags, stream, length = _HEAD.unpack_from(self._buffer, at)
            frame_type = self._check(kind, stream, length)
            end = at + HEAD_BYTES + length
            if len(self._buffer) < end:
                break
            if frame_type is not None:
                payload = bytes(self._buffer[at + HEAD_BYTES : end])
                frames.append(Frame(frame_type, bool(flags & FIN_FLAG), stream, payload))
            at = end
        del self._buffer[:at]
        return frames

    def _check(self, kind: int, stream: int, length: int) -> FrameType | None:
        if length > self._max_frame_bytes:
            raise PeerProtocolError(f"frame of {length} bytes; at most {self._max_frame_bytes}")
        if stream > MAX_STREAM:
            raise PeerProtocolError(f"stream {stream} is out of range")
        if kind >= FIRST_EXTENSION:
            return None
        try:
            return FrameType(kind)
        except ValueError as error:
            raise PeerProtocolError(f"unknown frame type {kind}") from error
