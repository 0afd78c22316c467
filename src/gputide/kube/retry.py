"""Asking again: a few times, with full jitter, within the deadline."""

from collections.abc import Awaitable, Callable
from random import SystemRandom
from typing import TypeVar

from gputide.clock import Clock
from gputide.kube.errors import BusyError, KubeError, UnreachableError

T = TypeVar("T")

ATTEMPTS = 4
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.25, 4.0

system_random: Callable[[], float] = SystemRandom().random


class Retry:
    """Repeats a call that failed for a reason that may pass."""

    def __init__(self, clock: Clock, random: Callable[[], float]) -> None:
        self._clock = clock
        self._random = random

    async def run(
        self, call: Callable[[float], Awaitable[T]], *, is_idempotent: bool, seconds: float
    ) -> T:
        """Return what the call returns, or raise its last error; it is told the seconds left."""
        deadline = self._clock.monotonic_seconds() + seconds
        pause = FIRST_PAUSE_SECONDS
        for _ in range(ATTEMPTS - 1):
            try:
                return await call(deadline - self._clock.monotonic_seconds())
            except (BusyError, UnreachableError) as error:
                wait = _wait(error, pause * self._random())
                may_wait = is_idempotent or (isinstance(error, BusyError) and error.code == 429)
                if not may_wait or self._clock.monotonic_seconds() + wait >= deadline:
                    raise
            await self._clock.sleep(wait)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)
        return await call(deadline - self._clock.monotonic_seconds())


def _wait(error: KubeError, pause: float) -> float:
    """Return how long to wait: the server's wish, where it has one, plus our jitter."""
    wish = error.retry_after_seconds if isinstance(error, BusyError) else None
    return (wish or 0.0) + pause
