"""The engine: demand, history, forecast and decision for many workloads, round by round."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import structlog

from gputide.autoscaler.deciding import bounds_at, outcomes_of, situation_of
from gputide.autoscaler.demand.assess import assess
from gputide.autoscaler.demand.model import Source
from gputide.autoscaler.demand.ports import DemandSource
from gputide.autoscaler.history.ring import STEP_SECONDS, Ring
from gputide.autoscaler.model import Demand, DemandState, FloatArray, Key, Outcome, Subject
from gputide.autoscaler.outlook.book import Book
from gputide.autoscaler.rows import Row, Rows
from gputide.autoscaler.saved import restore_rows, save_rows
from gputide.autoscaler.settings import EngineSettings
from gputide.scaling import decide

log = structlog.stdlib.get_logger()

SavedState = Mapping[str, FloatArray | list[str]]


class AutoscalerEngine:
    """Implements `ports.Engine`; `upkeep.Upkeep` beside it reads the past and fits forecasts."""

    def __init__(
        self,
        source: DemandSource,
        settings: EngineSettings | None = None,
        *,
        queries: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = settings or EngineSettings()
        self.source = source
        self.ring = Ring(self._settings.history_minutes)
        self.book = Book(self.ring, history_minutes=self._settings.history_minutes)
        self.rows = Rows(
            ring=self.ring,
            book=self.book,
            queries=queries or {},
            window_seconds=self._settings.rate_window_seconds,
        )
        self._saved: SavedState | None = None
        self._noted_minute: int | None = None
        self.clock_jumps = 0
        """Times that the clock went back."""

    async def round(self, subjects: Sequence[Subject], *, now_seconds: float) -> Sequence[Outcome]:
        """Return one outcome a subject, in their order; never raises for a source that fails."""
        self.rows.sync(subjects)
        if self._saved is not None:
            restore_rows(self.rows, self._saved, now_seconds=now_seconds)
            self._saved = None
        rows = [self.rows.by_key[key] for key in self.rows.order]
        demands = await self._read(rows, now_seconds)
        self._note(rows, demands, now_seconds)
        bounds = bounds_at(rows, now_seconds)
        situation = situation_of(rows, demands, bounds, self.book, now_seconds=now_seconds)
        decisions = decide(self.rows.policies, situation, self.rows.memory)
        blocked = [
            place
            for place, row in enumerate(rows)
            if row.subject.obstacle is not None and decisions.is_write[place]
        ]
        if blocked:
            self.rows.memory.withdraw(np.array(blocked, np.intp), now_seconds=now_seconds)
        return outcomes_of(rows, demands, bounds, decisions, self.book, now_seconds=now_seconds)

    def withdraw(self, keys: Sequence[Key], *, now_seconds: float) -> None:
        """Take back what the round at that moment noted as scaled: these writes failed."""
        places = {key: place for place, key in enumerate(self.rows.order)}
        rows = np.array([places[key] for key in keys if key in places], np.intp)
        if len(rows):
            self.rows.memory.withdraw(rows, now_seconds=now_seconds)

    def save(self) -> SavedState:
        """Return the state that must outlive the process."""
        return save_rows(self.rows)

    def restore(self, state: SavedState) -> None:
        """Take up a saved state with the next round."""
        self._saved = state

    async def _read(self, rows: Sequence[Row], now_seconds: float) -> dict[Key, tuple[Demand, ...]]:
        sources: dict[Source, None] = {one.source: None for row in rows for one in row.wanted}
        answers = await self.source.read(tuple(sources), now_seconds=now_seconds)
        return {
            row.subject.key: tuple(
                assess(one, answers[one.source], row.subject.target) for one in row.wanted
            )
            or _unreadable(row)
            for row in rows
        }

    def _note(
        self, rows: Sequence[Row], demands: Mapping[Key, tuple[Demand, ...]], now_seconds: float
    ) -> None:
        """Write the first complete round of each minute into the history, and bound what comes."""
        minute = int(now_seconds // STEP_SECONDS)
        newest = self.ring.newest_minute
        if newest is not None and minute < newest:
            self.clock_jumps += 1
            if newest - minute > 5:  # not a small correction: what lies ahead is not the past
                log.warning("the clock went back", minutes=newest - minute)
            return
        self.ring.advance(minute)
        if self._noted_minute != minute:
            self._noted_minute = minute
            known = {
                row.subject.key: first.value
                for row in rows
                if (first := demands[row.subject.key][0]).state is DemandState.FRESH
                and first.value is not None
            }
            values = np.array([known.get(row.subject.key, np.nan) for row in rows])
            if len(rows):
                self.ring.write([row.ring_row for row in rows], values, minute=minute)
            self.book.note(known, minute=minute)
        self.book.issue(minute=minute)


def _unreadable(row: Row) -> tuple[Demand, ...]:
    """Return the demands of metrics that cannot be read at all."""
    nothing = Demand(value=None, state=DemandState.NOT_CONFIGURED, text=row.problem)
    return tuple(replace(nothing) for _ in row.subject.autoscaler.metrics)
