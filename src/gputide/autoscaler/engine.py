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
from gputide.autoscaler.times import Passage, RoundTimes, hold_after_gap, longest_gap_seconds
from gputide.scaling import decide

log = structlog.stdlib.get_logger()

SavedState = Mapping[str, FloatArray | list[str]]
UNANSWERED = (
    DemandState.SOURCE_DOWN,
    DemandState.SOURCE_REFUSED,
    DemandState.NOT_CONFIGURED,
)
"""Nobody answered, though the source may know: such minutes are read later."""


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
        self._times = RoundTimes(longest_gap_seconds(self._settings.period_seconds))

    @property
    def clock_jumps(self) -> int:
        """Times that the clock went back."""
        return self._times.clock_jumps

    async def round(self, subjects: Sequence[Subject], *, now_seconds: float) -> Sequence[Outcome]:
        """Return one outcome a subject, in their order; never raises for a source that fails."""
        passage = self._times.begin(now_seconds)
        if passage is Passage.SET_BACK:  # what lies ahead is not the past
            log.warning("the clock was set back: reading every history anew")
            self._noted_minute = None
            self.rows.begin_anew()
        self.rows.sync(subjects)
        self._restore(now_seconds)
        if passage in (Passage.AFTER_GAP, Passage.SET_BACK):
            log.info("no round for a while: nothing is scaled in for a window", why=passage.value)
            hold_after_gap(self.rows.memory, now_seconds=now_seconds)
        rows = [self.rows.by_key[key] for key in self.rows.order]
        demands = await self._read(rows, now_seconds)
        self._note(rows, demands, now_seconds)
        bounds = bounds_at(rows, now_seconds)
        moment = self.rows.decided_at_seconds = self._times.decide()
        situation = situation_of(rows, demands, bounds, self.book, now_seconds=moment)
        decisions = decide(self.rows.policies, situation, self.rows.memory)
        blocked = [
            place
            for place, row in enumerate(rows)
            if row.subject.obstacle is not None and decisions.is_write[place]
        ]
        if blocked:
            self.rows.memory.withdraw(np.array(blocked, np.intp), now_seconds=moment)
        return outcomes_of(rows, demands, bounds, decisions, self.book, now_seconds=now_seconds)

    def withdraw(self, keys: Sequence[Key], *, now_seconds: float) -> None:
        """Take back what the round at that moment noted as scaled: these writes failed."""
        places = {key: place for place, key in enumerate(self.rows.order)}
        rows = np.array([places[key] for key in keys if key in places], np.intp)
        if len(rows):
            self.rows.memory.withdraw(rows, now_seconds=self._times.moment_of(now_seconds))

    def save(self) -> SavedState:
        """Return the state that must outlive the process."""
        return save_rows(self.rows)

    def restore(self, state: SavedState) -> None:
        """Take up a saved state with the next round."""
        self._saved = state

    def _restore(self, now_seconds: float) -> None:
        state, self._saved = self._saved, None
        if state is None:
            return
        gap = self._times.longest_gap_seconds
        try:
            restore_rows(self.rows, state, now_seconds=now_seconds, longest_gap_seconds=gap)
        except (ValueError, KeyError, IndexError) as error:
            log.warning("saved state does not fit together, and is not used", why=str(error))

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
        if newest is not None and minute < newest:  # a small correction: wait for the clock
            return
        passed = self.ring.advance(minute)
        if self._noted_minute != minute:
            self._noted_minute = minute
            self._note_minute(rows, demands, minute, missed=passed - 1)
        self.book.issue(minute=minute)

    def _note_minute(
        self,
        rows: Sequence[Row],
        demands: Mapping[Key, tuple[Demand, ...]],
        minute: int,
        *,
        missed: int,
    ) -> None:
        firsts = [demands[row.subject.key][0] for row in rows]
        for row, first in zip(rows, firsts, strict=True):
            row.see(minute, is_blind=first.state in UNANSWERED, missed=missed)
        known = {
            row.subject.key: first.value
            for row, first in zip(rows, firsts, strict=True)
            if first.state is DemandState.FRESH and first.value is not None
        }
        values = np.array([known.get(row.subject.key, np.nan) for row in rows])
        self.ring.write([row.ring_row for row in rows], values, minute=minute)
        self.book.note(known, minute=minute)


def _unreadable(row: Row) -> tuple[Demand, ...]:
    """Return the demands of metrics that cannot be read at all."""
    nothing = Demand(value=None, state=DemandState.NOT_CONFIGURED, text=row.problem)
    return tuple(replace(nothing) for _ in row.subject.autoscaler.metrics)
