"""Each question once at a time, its answer kept for a moment: many clients, one query."""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gputide.clock import Clock
from gputide.errors import InputError, QueryError
from gputide.kubeapi.auth.answers import Answers
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError

Answer = TypeVar("Answer")


@dataclass(slots=True)
class Counts:
    """What a cache spared."""

    asked: int = 0
    """How often somebody wanted an answer."""

    passed_on: int = 0
    """How often it was not in the cache, and nobody asked it already."""


class Questions(Generic[Answer]):
    """A bounded cache in front of somebody slow; what goes wrong comes out as a StatusError."""

    def __init__(self, clock: Clock, bounds: CacheBounds) -> None:
        self._answers: Answers[Answer] = Answers(bounds, clock)
        self._bounds = bounds
        self.counts = Counts()

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer; raise StatusError."""
        self.counts.asked += 1

        async def counted() -> Answer:
            self.counts.passed_on += 1
            return await ask()

        try:
            return await self._answers.get(key, counted)
        except TimeoutError as error:
            message = f"no answer within {self._bounds.deadline_seconds:g} seconds"
            raise StatusError(504, "Timeout", message) from error
        except QueryError as error:
            raise unavailable(str(error)) from error
        except InputError as error:
            raise StatusError(500, "InternalError", str(error)) from error


def unavailable(why: str) -> StatusError:
    """Return the 503 of somebody behind us who does not answer."""
    return StatusError(503, "ServiceUnavailable", why, retry_after_seconds=1)


def no_metric(metric: str, why: str = "") -> StatusError:
    """Return the 404 of a metric, worded as the Go servers do, and the reason after it."""
    text = f"the server could not find the metric {metric}"
    return StatusError(404, "NotFound", f"{text}: {why}" if why else text)
