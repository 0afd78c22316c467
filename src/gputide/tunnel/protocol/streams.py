"""The open streams of a session, by number, and what of them is not read yet."""

from collections.abc import Iterator, Mapping

from gputide.tunnel.protocol.model import Limits, PeerProtocolError, Side, StreamClosedError
from gputide.tunnel.protocol.stream import Stream


class Streams:
    """Numbers are never used twice: a late frame of a stream that is over does no harm."""

    def __init__(self, side: Side, limits: Limits) -> None:
        self._side = side
        self._limits = limits
        self._open: dict[int, Stream] = {}
        self._next = side.first_stream
        self._highest_of_peer = 0
        self._of_peer_count = 0
        self._unread_bytes = 0
        self.peer_window_bytes = limits.window_bytes
        """What we may send on a new stream: as the peer's hello says."""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def by_number(self) -> Mapping[int, Stream]:
        """The open ones."""
        return self._open

    @property
    def is_full(self) -> bool:
        """Whether the peer has as many open as it may."""
        return self._of_peer_count >= self._limits.max_streams

    def get(self, number: int) -> Stream | None:
        """Return an open stream."""
        return self._open.get(number)

    def add_ours(self) -> tuple[int, Stream]:
        """Open the next one of this side."""
        number = self._next
        self._next += 2
        return number, self._add(number, is_ours=True)

    def note_of_peer(self, number: int) -> None:
        """Note that the peer opens that number, or raise PeerProtocolError."""
        if not self._is_of_peer(number) or number <= self._highest_of_peer:
            raise PeerProtocolError(f"stream {number} cannot be opened by the peer")
        self._highest_of_peer = number

    def add_of_peer(self, number: int) -> Stream:
        """Open one of the peer."""
        self._of_peer_count += 1
        return self._add(number, is_ours=False)

    def asked(self, number: int) -> Stream:
        """Return a request of the peer that waits for its answer, or raise StreamClosedError."""
        stream = self._open.get(number)
        if stream is None or stream.is_ours or stream.is_answered:
            raise StreamClosedError(f"stream {number} waits for no answer")
        return stream

    def of_frame(self, number: int) -> Stream | None:
        """Return the stream of a frame, None where it is over; PeerProtocolError: never opened."""
        highest = self._highest_of_peer if self._is_of_peer(number) else self._next - 2
        if not 0 < number <= highest:
            raise PeerProtocolError(f"stream {number} was never opened")
        return self._open.get(number)

    def answered(self, number: int) -> Stream | None:
        """Return the stream of an ACCEPT or REFUSE; PeerProtocolError where none was asked."""
        stream = self.of_frame(number)
        if stream is not None and (not stream.is_ours or stream.is_answered):
            raise PeerProtocolError(f"stream {number} was not asked")
        return stream

    def receive(self, number: int, stream: Stream, size: int) -> None:
        """Note data of the peer, or raise PeerProtocolError."""
        if stream.inward.is_closed or (stream.is_ours and not stream.is_answered):
            raise PeerProtocolError(f"data on stream {number}, which takes none")
        stream.inward.receive(size)
        self._unread_bytes += size

    def read(self, stream: Stream, size: int) -> int:
        """Note data passed on; return the credit to give back now."""
        before = stream.inward.unread_bytes
        credit = stream.inward.read(size)
        self._unread_bytes -= before - stream.inward.unread_bytes
        return credit

    def forget(self, number: int) -> None:
        """Drop an open stream and all that it holds."""
        stream = self._open.pop(number)
        stream.out.drop()
        self._unread_bytes -= stream.inward.unread_bytes
        self._of_peer_count -= not stream.is_ours

    def forget_if_over(self, number: int) -> None:
        """Drop a stream that both sides closed."""
        stream = self._open.get(number)
        if stream is not None and stream.is_over:
            self.forget(number)

    def overfull(self) -> Iterator[int]:
        """Yield the fullest stream while more is unread than may be; the caller resets it."""
        while self._unread_bytes > self._limits.max_unread_bytes:
            yield max(self._open, key=lambda number: self._open[number].inward.unread_bytes)

    def writable(self) -> list[int]:
        """Return the streams that were full and take data again."""
        return [number for number, one in self._open.items() if one.out.becomes_writable()]

    def _is_of_peer(self, number: int) -> bool:
        return number % 2 != self._side.first_stream % 2

    def _add(self, number: int, *, is_ours: bool) -> Stream:
        stream = Stream(
            is_ours=is_ours,
            window_bytes=self._limits.window_bytes,
            credit_bytes=self.peer_window_bytes,
            max_unsent_bytes=self._limits.max_unsent_bytes,
        )
        self._open[number] = stream
        return stream
