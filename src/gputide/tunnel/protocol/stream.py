"""One stream of a session: what may still be sent and read, and what waits to be sent."""

from collections import deque

from gputide.tunnel.protocol.model import PeerProtocolError

WRITABLE_RATIO = 0.5
"""A full stream is writable again when its unsent bytes are below this part of the limit."""


class Outgoing:
    """Bytes waiting to be sent, under the peer's credit."""

    def __init__(self, *, credit_bytes: int, max_unsent_bytes: int) -> None:
        self._chunks: deque[memoryview] = deque()
        self._max_unsent_bytes = max_unsent_bytes
        self.credit_bytes = credit_bytes
        self.unsent_bytes = 0
        self.is_finishing = False
        """No more will be given; a final frame goes out with (or after) the last byte."""

        self.is_closed = False
        """The final frame went out."""

        self._was_full = False

    def push(self, data: bytes | memoryview) -> int:
        """Take as much as the bound allows; return how many bytes that is."""
        room = max(self._max_unsent_bytes - self.unsent_bytes, 0)
        taken = memoryview(data)[:room]
        if len(taken):
            self._chunks.append(taken)
            self.unsent_bytes += len(taken)
        self._was_full |= len(taken) < len(data)
        return len(taken)

    def take(self, most: int) -> bytes:
        """Return the next bytes, at most so many and never beyond the credit."""
        wanted = min(most, self.credit_bytes, self.unsent_bytes)
        parts = []
        left = wanted
        while left:
            head = self._chunks.popleft()
            if len(head) > left:
                self._chunks.appendleft(head[left:])
                head = head[:left]
            parts.append(head)
            left -= len(head)
        self.unsent_bytes -= wanted
        self.credit_bytes -= wanted
        return b"".join(parts)

    def drop(self) -> None:
        """Forget everything: the stream is reset."""
        self._chunks.clear()
        self.unsent_bytes = 0
        self.is_closed = True

    @property
    def is_ready(self) -> bool:
        """Whether a frame can go out now."""
        if self.is_closed:
            return False
        if self.unsent_bytes:
            return self.credit_bytes > 0
        return self.is_finishing

    def becomes_writable(self) -> bool:
        """Whether a full stream just got room; true once."""
        if self._was_full and self.unsent_bytes <= self._max_unsent_bytes * WRITABLE_RATIO:
            self._was_full = False
            return True
        return False


class Incoming:
    """How much the peer may send, and how much of it was not read yet."""

    def __init__(self, *, window_bytes: int) -> None:
        self._window_bytes = window_bytes
        self._credit_bytes = window_bytes
        self._owed_bytes = 0
        self.unread_bytes = 0
        self.is_closed = False

    def receive(self, size: int) -> None:
        """Note bytes that came; raise PeerProtocolError where the peer had no credit for them."""
        if size > self._credit_bytes:
            raise PeerProtocolError(
                f"{size} bytes on a stream with credit for {self._credit_bytes}"
            )
        self._credit_bytes -= size
        self.unread_bytes += size

    def read(self, size: int) -> int:
        """Note bytes that were passed on; return the credit to give back now, in large pieces."""
        size = min(size, self.unread_bytes)
        self.unread_bytes -= size
        self._owed_bytes += size
        if self.is_closed or self._owed_bytes * 2 < self._window_bytes:
            return 0
        owed, self._owed_bytes = self._owed_bytes, 0
        self._credit_bytes += owed
        return owed


class Stream:
    """Both directions of one exchange."""

    def __init__(
        self, *, is_ours: bool, window_bytes: int, credit_bytes: int, max_unsent_bytes: int
    ) -> None:
        self.is_ours = is_ours
        """Whether this side opened it."""

        self.is_answered = False
        """Accepted; before that the side asked sends no data."""

        self.out = Outgoing(credit_bytes=credit_bytes, max_unsent_bytes=max_unsent_bytes)
        self.inward = Incoming(window_bytes=window_bytes)

    @property
    def is_over(self) -> bool:
        """Whether both directions are closed."""
        return self.out.is_closed and self.inward.is_closed
