"""Beside the rounds: reads the past of new workloads, fills holes of downtime, fits forecasts."""

import structlog

from gputide.autoscaler.demand.model import PastRequest, PodsSource, SeriesSource
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.history.ring import STEP_SECONDS
from gputide.autoscaler.model import FloatArray
from gputide.autoscaler.rows import Row
from gputide.clock import Clock
from gputide.errors import GputideError

log = structlog.stdlib.get_logger()

LOAD_ROWS = 400
RETRY_MINUTES = (1, 2, 5, 10, 30)
PAUSE_SECONDS = 1.0
LAG_MINUTES = 1
"""The newest minute may not be scraped yet: the rounds write it themselves."""


class Upkeep:
    """Works while there is something to do, then looks again every second."""

    def __init__(self, engine: AutoscalerEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self.loaded_rows = 0
        self.fitted_rows = 0

    async def run(self) -> None:
        """Keep up until cancelled; a failure is logged and tried again later."""
        while True:
            try:
                is_busy = await self.once()
            except GputideError as error:
                log.warning("upkeep failed", error=str(error))
                is_busy = False
            await self._clock.sleep(0 if is_busy else PAUSE_SECONDS)

    async def once(self) -> bool:
        """Do one piece of work; return whether there may be more at once."""
        minute = self._engine.ring.newest_minute
        if minute is None:
            return False
        return await self._load(minute) or await self._fit(minute)

    async def _load(self, minute: int) -> bool:
        waiting = [row for row in self._engine.rows.by_key.values() if _wants_past(row, minute)]
        if not waiting:
            return False
        # those that have nothing at all go first
        waiting.sort(key=lambda row: (row.loaded_to_minute is not None, row.load_at_minute))
        chosen = waiting[:LOAD_ROWS]
        asked = [row.past_number for row in chosen]
        oldest = minute - self._engine.ring.minutes + 1
        starts = [row.loaded_to_minute or oldest for row in chosen]
        start = max(min(starts), oldest)
        end = minute - LAG_MINUTES
        past = await self._engine.source.past(
            [request for row in chosen if (request := past_request(row)) is not None],
            start_seconds=start * STEP_SECONDS,
            end_seconds=end * STEP_SECONDS,
        )
        for row, number in zip(chosen, asked, strict=True):
            values = past.rows.get(row.subject.key)
            if self._engine.rows.by_key.get(row.subject.key) is not row:
                continue  # it went meanwhile: its minutes are another one's now
            if row.past_number != number:
                continue  # it asks for something else now
            if values is None:
                self._postpone(row, past.problem, minute)
            else:
                self._take(row, values, start, end)
        return bool(past.rows)

    def _take(self, row: Row, values: FloatArray, start: int, end: int) -> None:
        self._engine.ring.fill(row.ring_row, values / (row.per_pod or 1.0), first_minute=start)
        is_new = row.loaded_to_minute is None
        row.loaded_to_minute, row.load_problem, row.is_behind = end, "", False
        row.failures = 0
        self.loaded_rows += 1
        entry = self._engine.book.get(row.subject.key)
        if entry is not None and is_new:
            entry.due_minute = 0

    def _postpone(self, row: Row, problem: str, minute: int) -> None:
        pause = RETRY_MINUTES[min(row.failures, len(RETRY_MINUTES) - 1)]
        row.failures += 1
        row.load_at_minute = minute + pause
        row.load_problem = problem

    async def _fit(self, minute: int) -> bool:
        book = self._engine.book
        ready = [
            key
            for key, row in self._engine.rows.by_key.items()
            if row.loaded_to_minute is not None or row.load_problem or not _can_load(row)
        ]
        due = book.is_due(ready, minute=minute)
        if not due:
            return False
        self.fitted_rows += await book.fit(due, minute=minute)
        return True


def _can_load(row: Row) -> bool:
    """Whether the past of a row can be asked for at all."""
    if not row.wanted or row.workload is None:
        return False
    source = row.wanted[0].source
    if isinstance(source, PodsSource):
        return row.per_pod is not None
    return isinstance(source, SeriesSource)  # a metrics API has no past


def _wants_past(row: Row, minute: int) -> bool:
    is_open = row.loaded_to_minute is None or row.is_behind
    return is_open and minute >= row.load_at_minute and _can_load(row)


def past_request(row: Row) -> PastRequest | None:
    """Return what to ask for of a row's past; None where it has none."""
    if not _can_load(row) or row.workload is None:
        return None
    return PastRequest(row=row.subject.key, workload=row.workload, source=row.wanted[0].source)
