"""The one thread that touches the database: steps queue up, and writes that wait share a commit."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.storage.model import Bounds, Logged
from gputide.kubeapi.storage.rows import Rows

MOST_PER_COMMIT = 128
Result = TypeVar("Result")


class Listener(Protocol):
    """Somebody who is told of events once they are committed; called in the database's thread."""

    def tell(self, events: Sequence[Logged]) -> bool:
        """Take the events of one commit, in order, and never block; False: tell no more."""


@dataclass(slots=True)
class _Step:
    run: Callable[[Rows], Any]
    future: "Future[Any]" = field(default_factory=Future)
    result: Any = None
    error: BaseException | None = None

    def deliver(self) -> None:
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Worker:
    """Runs steps one after the other, off the event loop.

    A step sees all that came before it. Its result is handed out only after the commit that holds
    its writes, so that whatever was acknowledged is on disk. A step that fails leaves nothing.
    """

    def __init__(
        self, connection: sqlite3.Connection, bounds: Bounds, now_seconds: Callable[[], float]
    ) -> None:
        self._connection = connection
        self._rows = Rows(connection)
        self._bounds = bounds
        self._now_seconds = now_seconds
        self._steps: queue.Queue[_Step | None] = queue.Queue(maxsize=bounds.max_pending)
        self._listeners: set[Listener] = set()
        self._is_closed = False
        self._thread = threading.Thread(target=self._loop, name="kubeapi-storage", daemon=True)
        self._thread.start()

    async def ask(self, run: Callable[[Rows], Result]) -> Result:
        """Run a step and return its result; raise what it raised, or 429 or 503 unrun."""
        step = _Step(run)
        if self._is_closed:
            raise StatusError(503, "ServiceUnavailable", "the storage is closed")
        try:
            self._steps.put_nowait(step)
        except queue.Full:
            message = f"{self._bounds.max_pending} requests wait for the storage already"
            raise StatusError(429, "TooManyRequests", message, retry_after_seconds=1) from None
        result: Result = await asyncio.wrap_future(step.future)
        return result

    def listen(self, listener: Listener) -> None:
        """Add a listener; from within a step, so that it misses nothing that follows."""
        if len(self._listeners) >= self._bounds.max_watchers:
            message = f"{self._bounds.max_watchers} watches are open already"
            raise StatusError(429, "TooManyRequests", message, retry_after_seconds=5)
        self._listeners.add(listener)

    def forget(self, listener: Listener) -> None:
        """Remove a listener; from any thread."""
        self._listeners.discard(listener)

    def close(self) -> None:
        """Finish what was asked, close the file, end the thread; blocks until then."""
        if not self._is_closed:
            self._is_closed = True
            self._steps.put(None)
            self._thread.join()

    def _loop(self) -> None:
        is_open = True
        while is_open:
            taken = [self._steps.get()]
            while len(taken) < MOST_PER_COMMIT and not self._steps.empty():
                taken.append(self._steps.get_nowait())
            is_open = None not in taken
            steps = [one for one in taken if one is not None]
            self._run([one for one in steps if one.future.set_running_or_notify_cancel()])
        self._connection.close()

    def _run(self, steps: list[_Step]) -> None:
        if not steps:
            return
        committed = (self._rows.counters.revision, self._rows.counters.compacted)
        try:
            self._connection.execute("BEGIN")
            for step in steps:
                self._run_one(step)
            events = self._commit()
        except sqlite3.Error as error:
            self._roll_back(committed)
            failed = StatusError(500, "InternalError", f"the storage failed: {error}")
            for step in steps:
                step.error = step.error or failed
            events = []
        for listener in tuple(self._listeners) if events else ():
            if not listener.tell(events):
                self.forget(listener)
        for step in steps:
            step.deliver()

    def _run_one(self, step: _Step) -> None:
        counters = self._rows.counters
        revision, logged = counters.revision, len(counters.pending)
        self._connection.execute("SAVEPOINT step")
        try:
            step.result = step.run(self._rows)
        except sqlite3.OperationalError:
            raise  # the disk is full, or worse: nothing of this commit can stand
        except BaseException as error:  # noqa: BLE001 whatever it is belongs to whoever asked
            step.error = _refused(error)
            self._connection.execute("ROLLBACK TO step")
            counters.revision = revision
            del counters.pending[logged:]
        self._connection.execute("RELEASE step")

    def _commit(self) -> list[Logged]:
        counters = self._rows.counters
        if counters.pending:
            oldest = self._now_seconds() - self._bounds.max_event_age_seconds
            self._rows.save_counters(self._bounds.max_events, oldest)
        self._connection.execute("COMMIT")
        events, counters.pending = counters.pending, []
        return events

    def _roll_back(self, committed: tuple[int, int]) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._rows.counters.revision, self._rows.counters.compacted = committed
        self._rows.counters.pending = []


def _refused(error: BaseException) -> BaseException:
    """Return the error as whoever asked gets it."""
    if isinstance(error, RecursionError):  # what a client sent leads deeper than we walk
        return StatusError(400, "BadRequest", "the object is nested too deeply")
    return error
