"""Whether the peer still lives: greeting in time, pings, silence; no clock of its own."""

from gputide.tunnel.protocol.model import Limits, PeerLostError


class Liveness:
    """Times of one session."""

    def __init__(self, limits: Limits, *, now_seconds: float) -> None:
        self._limits = limits
        self._started_seconds = now_seconds
        self._heard_seconds = now_seconds
        self._pinged_seconds = now_seconds
        self._sent: tuple[bytes, float] | None = None
        self._count = 0
        self.is_greeted = False

    @property
    def deadline_seconds(self) -> float:
        """When `ping` has something to do."""
        if not self.is_greeted:
            return self._started_seconds + self._limits.hello_seconds
        lost = self._heard_seconds + self._limits.lost_seconds
        return min(lost, self._pinged_seconds + self._limits.ping_seconds)

    def heard(self, now_seconds: float) -> None:
        """Note that the peer sent something."""
        self._heard_seconds = max(now_seconds, self._heard_seconds)

    def ping(self, now_seconds: float) -> bytes | None:
        """Return a ping's payload when one is due; raise PeerLostError after too much silence."""
        if now_seconds < self.deadline_seconds:
            return None
        if not self.is_greeted:
            raise PeerLostError("the peer said no hello")
        silence = now_seconds - self._heard_seconds
        if silence >= self._limits.lost_seconds:
            raise PeerLostError(f"nothing heard from the peer for {silence:.0f} s")
        self._pinged_seconds = now_seconds
        self._count += 1
        label = self._count.to_bytes(8)
        self._sent = (label, now_seconds)
        return label

    def pong(self, label: bytes, now_seconds: float) -> float | None:
        """Return the round trip of the newest ping; None for another answer."""
        if self._sent is None or self._sent[0] != label:
            return None
        sent, self._sent = self._sent[1], None
        return now_seconds - sent
