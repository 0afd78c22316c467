"""When rounds were made: gaps between them, and clocks that were set. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from gputide.scaling import Memory

LEAST_GAP_SECONDS = 120.0
GAP_PERIODS = 4
"""A round may take so long before it is broken off."""


class Passage(StrEnum):
    """How a round's time follows on that of the round before."""

    FIRST = "First"
    ON_TIME = "OnTime"
    AFTER_GAP = "AfterGap"
    """Nobody looked for longer than a round may take; or the clock was set forward."""

    SET_BACK = "SetBack"
    """The clock was set back by more than a correction."""


def longest_gap_seconds(period_seconds: float) -> float:
    """Return the longest time between two rounds that is no gap."""
    return max(LEAST_GAP_SECONDS, GAP_PERIODS * period_seconds)


@dataclass(slots=True)
class RoundTimes:
    """The times of the rounds: as the clock tells them, and for windows and limits.

    The latter never run backwards: a small step back is waited for.
    """

    longest_gap_seconds: float
    clock_jumps: int = 0
    """Times that the clock went back, however little."""

    _told: float | None = None
    _decided: float | None = None
    _moment: float = 0.0

    def begin(self, now_seconds: float) -> Passage:
        """Take the time of a round."""
        before, self._told = self._told, now_seconds
        if before is None:
            self._moment = now_seconds
            return Passage.FIRST
        self.clock_jumps += now_seconds < before
        if now_seconds < self._moment - self.longest_gap_seconds:
            self._moment = now_seconds
            self._decided = None
            return Passage.SET_BACK
        self._moment = max(self._moment, now_seconds)
        is_gap = (
            self._decided is not None and now_seconds - self._decided > self.longest_gap_seconds
        )
        return Passage.AFTER_GAP if is_gap else Passage.ON_TIME

    def decide(self) -> float:
        """Return the round's moment: it is made, not broken off before it knew anything."""
        self._decided = self._told
        return self._moment

    def moment_of(self, now_seconds: float) -> float:
        """Return the moment of the round at that time, if it was the newest one."""
        return self._moment if now_seconds == self._told else now_seconds


def hold_after_gap(memory: Memory, *, now_seconds: float) -> None:
    """Have all rows wait a window and a grace period, as after a start: nobody looked."""
    memory.is_new[:] = True
    memory.has_new = memory.size > 0
    memory.unknown_at_seconds[:] = now_seconds
    memory.last_unknown_seconds = now_seconds
