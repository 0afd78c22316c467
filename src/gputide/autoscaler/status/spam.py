"""How many events an autoscaler may have: many at once, few for long. Pure."""

from dataclasses import dataclass, field

BURST = 25.0
REFILL_SECONDS = 300.0
"""One more in so many seconds: both are client-go's numbers."""

MAX_KEPT = 20_000


@dataclass(slots=True)
class Spared:
    """A bucket an object; those that were told least lately are forgotten first."""

    _left: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By uid: events left, and when that was counted."""

    def may_tell(self, uid: str, *, now_seconds: float) -> bool:
        """Return whether an event may be told now, and count it."""
        left, at_seconds = self._left.pop(uid, (BURST, now_seconds))
        left = min(left + max(now_seconds - at_seconds, 0.0) / REFILL_SECONDS, BURST)
        may = left >= 1
        self._left[uid] = (left - may, now_seconds)
        while len(self._left) > MAX_KEPT:
            self._left.pop(next(iter(self._left)))
        return may
