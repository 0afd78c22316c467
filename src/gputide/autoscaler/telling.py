"""What autoscalers show, told to the server: statuses where they changed, and events."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from gputide.autoscaler.cluster.wire import Declared
from gputide.autoscaler.cluster.writer import Writer
from gputide.autoscaler.model import Key, Outcome, Subject
from gputide.autoscaler.status.build import build_status, invalid_status, reason_text, time_text
from gputide.autoscaler.status.changes import Due, due
from gputide.autoscaler.status.conditions import invalid
from gputide.autoscaler.status.events import moved_note, notes_of, scaled_note
from gputide.clock import Clock

log = structlog.stdlib.get_logger()

WRITES_AT_A_TIME = 16
NUMBERS_A_ROUND = 500
"""Statuses that differ in numbers alone take turns: ten thousand are through in five minutes."""

DEADLINE_SECONDS = 15.0
"""Of all statuses of a round: what is not told by then is due in the next one."""

MAX_PAUSE_SECONDS = 300.0


@dataclass(slots=True)
class Shown:
    """What of one autoscaler is on the server, as far as this controller wrote it."""

    uid: str
    sent: Mapping[str, Any] | None = None
    """What was written last; None: nothing yet."""

    answered: Mapping[str, Any] | None = None
    """What the server made of it: an old definition may know fewer fields."""

    copy_before: Mapping[str, Any] | None = None
    """What our copy showed then: until it shows something else, it lags."""

    written_at_seconds: float | None = None
    failures: int = 0
    not_before_seconds: float = 0.0
    scaled_to: int | None = None
    scaled_from: int | None = None
    """What our copy of the workload may still show for a moment."""

    scaled_at: str | None = None

    def on_server(self, copy: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the status to compare with: ours, unless somebody else wrote another one."""
        if self.sent is None:
            return copy
        is_ours = copy in (self.answered, self.copy_before)
        return self.sent if is_ours else copy


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A status as it is on the server, and as it should be."""

    key: Key
    declared: Declared
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(slots=True)
class Telling:
    """Remembers what was told; owns no task of its own."""

    writer: Writer
    clock: Clock
    may_write: Callable[[Key], bool] = lambda _key: True
    _shown: dict[Key, Shown] = field(default_factory=dict)

    async def scaled(self, subject: Subject, outcome: Outcome) -> None:
        """Tell that a workload was scaled."""
        shown = self._of(subject.key, subject.uid)
        await self._tell_moved(subject, outcome)
        shown.scaled_to, shown.scaled_from = outcome.desired_replicas, outcome.current_replicas
        shown.scaled_at = time_text(self.clock.now_seconds())
        note = scaled_note(outcome, reason_text(outcome))
        await self.writer.event(subject.key, subject.uid, note)

    async def tell(
        self,
        pairs: Sequence[tuple[Subject, Outcome]],
        declared: Mapping[tuple[str, str], Declared],
        now_seconds: float,
    ) -> int:
        """Write what is due, what matters first; return how many statuses were written."""
        news = [
            *(self._news(*pair, declared) for pair in pairs),
            *(self._bad(one, now_seconds) for one in declared.values() if one.autoscaler is None),
        ]
        slots = asyncio.Semaphore(WRITES_AT_A_TIME)
        written = 0

        async def write(one: News) -> None:
            nonlocal written
            async with slots:
                written += await self._write(one, now_seconds)

        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                await asyncio.gather(*(write(one) for one in self._due(news, now_seconds)))
                for subject, outcome in pairs:
                    if not outcome.is_write:
                        await self._tell_moved(subject, outcome)
        except TimeoutError:
            log.warning("not every status was told", seconds=DEADLINE_SECONDS, told=written)
        self._forget(declared.values())
        return written

    def _due(self, news: Iterable[News], now_seconds: float) -> list[News]:
        found: dict[Due, list[News]] = {one: [] for one in Due}
        for one in news:
            shown = self._shown[one.key]
            if now_seconds < shown.not_before_seconds or not self.may_write(one.key):
                continue
            at = shown.written_at_seconds
            since = None if at is None else now_seconds - at
            found[due(one.before, one.after, since_write_seconds=since)].append(one)
        in_turn = sorted(found[Due.IN_TURN], key=self._written_at)[:NUMBERS_A_ROUND]
        return sorted(found[Due.AT_ONCE], key=self._written_at) + in_turn

    def _written_at(self, news: News) -> float:
        return self._shown[news.key].written_at_seconds or 0.0

    async def _write(self, news: News, now_seconds: float) -> bool:
        if not self.may_write(news.key):  # leadership may be lost within a round
            return False
        shown = self._shown[news.key]
        answered = await self.writer.status(news.key, news.after)
        if answered is None:
            pause = min(2.0**shown.failures, MAX_PAUSE_SECONDS)
            shown.failures, shown.not_before_seconds = shown.failures + 1, now_seconds + pause
            return False
        shown.failures, shown.not_before_seconds = 0, 0.0
        shown.sent, shown.answered = news.after, answered
        shown.copy_before, shown.written_at_seconds = news.declared.status, now_seconds
        for note in notes_of(news.before, news.after):
            await self.writer.event(news.key, shown.uid, note)
        return True

    def _news(
        self,
        subject: Subject,
        outcome: Outcome,
        declared: Mapping[tuple[str, str], Declared],
    ) -> News:
        one = declared[subject.key.namespace, subject.key.name]
        shown = self._of(subject.key, one.uid)
        before = shown.on_server(one.status)
        after = build_status(subject, outcome, before, generation=one.generation)
        if shown.scaled_at is not None:
            after["lastScaleTime"] = shown.scaled_at
        return News(key=subject.key, declared=one, before=before, after=after)

    def _bad(self, one: Declared, now_seconds: float) -> News:
        """Return the status of a resource that cannot be read."""
        key = Key(namespace=one.namespace, name=one.name)
        before = self._of(key, one.uid).on_server(one.status)
        conditions = invalid(one.problem)
        after = invalid_status(
            conditions, before, now_seconds=now_seconds, generation=one.generation
        )
        return News(key=key, declared=one, before=before, after=after)

    def _of(self, key: Key, uid: str) -> Shown:
        """Return what is shown; an object made anew under an old name shows nothing yet."""
        shown = self._shown.get(key)
        if shown is None or shown.uid != uid:
            shown = self._shown[key] = Shown(uid)
        return shown

    async def _tell_moved(self, subject: Subject, outcome: Outcome) -> None:
        """Tell where the replicas are not what was written last: somebody else scaled."""
        shown = self._of(subject.key, subject.uid)
        found = outcome.current_replicas
        if shown.scaled_to is None or found is None or found == shown.scaled_to:
            return
        if found == shown.scaled_from:  # our copy lags, this once
            shown.scaled_from = None
            return
        if self.may_write(subject.key):
            note = moved_note(shown.scaled_to, found)
            await self.writer.event(subject.key, subject.uid, note)
        shown.scaled_to = found

    def _forget(self, declared: Iterable[Declared]) -> None:
        present = {Key(namespace=one.namespace, name=one.name) for one in declared}
        for key in self._shown.keys() - present:
            del self._shown[key]
