"""Answers of somebody slow, each asked for once at a time and kept for a while."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from gputide.clock import Clock
from gputide.kubeapi.auth.ports import CacheBounds

Answer = TypeVar("Answer")


class Answers(Generic[Answer]):
    """A bounded cache; whoever asks the same meanwhile waits for the one question.

    A failure is not kept: everybody who waited gets it, and the next one asks again. Raise
    TimeoutError where the question took longer than its deadline.
    """

    def __init__(self, bounds: CacheBounds, clock: Clock) -> None:
        self._bounds = bounds
        self._clock = clock
        self._kept: OrderedDict[Hashable, tuple[float, Answer]] = OrderedDict()
        self._asked: dict[Hashable, asyncio.Task[Answer]] = {}

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer that is kept under a key, else ask."""
        until, answer = self._kept.get(key, (0.0, None))
        if answer is not None and self._clock.monotonic_seconds() < until:
            return answer
        task = self._asked.get(key)
        if task is None:
            task = self._asked[key] = asyncio.create_task(self._question(key, ask))
            task.add_done_callback(_seen)
        return await asyncio.shield(task)  # one who goes away must not end it for the others

    async def _question(self, key: Hashable, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            async with asyncio.timeout(self._bounds.deadline_seconds):
                answer = await ask()
        finally:
            del self._asked[key]
        self._kept[key] = (self._clock.monotonic_seconds() + self._bounds.seconds, answer)
        self._kept.move_to_end(key)
        while len(self._kept) > self._bounds.max_answers:
            self._kept.popitem(last=False)
        return answer


def _seen(task: "asyncio.Task[Answer]") -> None:
    """Look at a failure, so that one which nobody waits for any more is no warning."""
    if not task.cancelled():
        task.exception()
