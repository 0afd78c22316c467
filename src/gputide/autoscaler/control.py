"""One round against the cluster: see, decide, scale, tell."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from gputide.autoscaler.cluster.caches import Caches
from gputide.autoscaler.cluster.scales import Scales
from gputide.autoscaler.cluster.targets import World, subjects_of
from gputide.autoscaler.cluster.wire import Declared
from gputide.autoscaler.cluster.writer import Writer
from gputide.autoscaler.model import Key, Outcome, Subject
from gputide.autoscaler.ports import Engine
from gputide.autoscaler.status.build import build_status, invalid_status, time_text
from gputide.autoscaler.status.changes import is_due
from gputide.autoscaler.status.conditions import invalid
from gputide.autoscaler.status.events import failed_note, moved_note, notes_of, scaled_note
from gputide.clock import Clock
from gputide.kube.errors import ConflictError, KubeError
from gputide.scaling import TargetRef

log = structlog.stdlib.get_logger()

WRITES_AT_A_TIME = 16


@dataclass(slots=True)
class Shown:
    """What of one autoscaler is on the server, as far as this controller wrote it."""

    status: Mapping[str, Any]
    written_at_seconds: float | None = None
    scaled_to: int | None = None
    scaled_from: int | None = None
    """What our copy of the workload may still show for a moment."""

    scaled_at: str | None = None


@dataclass(slots=True)
class Round:
    """What one round came to."""

    subjects: int = 0
    scaled: int = 0
    failed: int = 0
    statuses: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A status as it is on the server, and as it should be."""

    key: Key
    subject: Subject | None
    """None for a resource that cannot be read."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(slots=True)
class Control:
    """The controller's rounds; owns no task of its own."""

    caches: Caches
    scales: Scales
    engine: Engine
    writer: Writer
    clock: Clock
    owns: Callable[[Key], bool] = lambda _key: True
    """Whether an autoscaler is of this shard."""

    outcomes: dict[Key, tuple[Subject, Outcome]] = field(default_factory=dict)
    """The newest ones, for whoever asks."""

    may_write: Callable[[Key], bool] = lambda _key: True
    """Asked again before each write: leadership may be lost within a round."""

    newest: Round = field(default_factory=Round)
    _shown: dict[Key, Shown] = field(default_factory=dict)

    async def once(self) -> Round:
        """Do one round; a failing write costs its own autoscaler alone."""
        started = self.clock.monotonic_seconds()
        now_seconds = self.clock.now_seconds()
        declared = {
            key: one
            for key, one in self.caches.declared.objects.items()
            if self.owns(Key(namespace=one.namespace, name=one.name))
        }
        subjects = subjects_of(await self._world(declared))
        outcomes = await self.engine.round(subjects, now_seconds=now_seconds)
        pairs = list(zip(subjects, outcomes, strict=True))
        self.outcomes = {subject.key: (subject, outcome) for subject, outcome in pairs}
        made = Round(subjects=len(pairs))
        await self._scale(pairs, now_seconds, made)
        await self._tell(pairs, declared, now_seconds, made)
        self._forget(declared.values())
        made.seconds = self.clock.monotonic_seconds() - started
        self.newest = made
        return made

    async def _world(self, declared: Mapping[tuple[str, str], Declared]) -> World:
        caches = self.caches
        others: dict[Key, TargetRef] = {}
        for one in declared.values():
            ref = one.autoscaler.target if one.autoscaler is not None else None
            if ref is not None and ref.kind not in caches.workloads:
                others[Key(namespace=one.namespace, name=one.name)] = ref
        return World(
            declared=declared,
            everyone=caches.declared.objects,
            workloads={kind: one.objects for kind, one in caches.workloads.items()},
            pods=caches.pods.objects,
            scalers=caches.scalers.objects,
            problem=caches.problem(),
            other_targets=await self.scales.read(others) if others else {},
        )

    async def _scale(
        self, pairs: list[tuple[Subject, Outcome]], now_seconds: float, made: Round
    ) -> None:
        slots = asyncio.Semaphore(WRITES_AT_A_TIME)
        failed: list[Key] = []

        async def one(subject: Subject, outcome: Outcome) -> None:
            async with slots:
                if not await self._scale_one(subject, outcome):
                    failed.append(subject.key)

        writes = [pair for pair in pairs if pair[1].is_write]
        await asyncio.gather(*(one(*pair) for pair in writes))
        self.engine.withdraw(failed, now_seconds=now_seconds)
        made.scaled, made.failed = len(writes) - len(failed), len(failed)

    async def _scale_one(self, subject: Subject, outcome: Outcome) -> bool:
        """Write one scale; return whether it went through."""
        replicas = outcome.desired_replicas
        if replicas is None or not self.may_write(subject.key):
            return False
        try:
            await self.writer.scale(subject, outcome, replicas=replicas)
        except ConflictError as error:
            log.info("scaled by somebody else meanwhile", ahpa=str(subject.key), why=str(error))
            return False
        except KubeError as error:
            log.warning("not scaled", ahpa=str(subject.key), error=str(error))
            await self.writer.event(subject, failed_note(outcome, str(error)))
            return False
        finally:
            self.scales.forget(subject.key)
        shown = self._shown.setdefault(subject.key, Shown(status={}))
        shown.scaled_to, shown.scaled_at = replicas, time_text(self.clock.now_seconds())
        shown.scaled_from = outcome.current_replicas
        reason = outcome.steps[-1].text if outcome.steps else ""
        log.info(
            "scaled",
            ahpa=str(subject.key),
            before=outcome.current_replicas,
            replicas=replicas,
            reason=reason,
        )
        await self.writer.event(subject, scaled_note(outcome, reason))
        return True

    async def _tell(
        self,
        pairs: list[tuple[Subject, Outcome]],
        declared: Mapping[tuple[str, str], Declared],
        now_seconds: float,
        made: Round,
    ) -> None:
        slots = asyncio.Semaphore(WRITES_AT_A_TIME)
        news = [
            *(self._news(*pair, declared) for pair in pairs),
            *(
                self._bad_news(one, now_seconds)
                for one in declared.values()
                if one.autoscaler is None
            ),
        ]

        async def write(one: News) -> None:
            async with slots:
                if not self.may_write(one.key) or not await self.writer.status(one.key, one.after):
                    return
            made.statuses += 1
            shown = self._shown[one.key]
            shown.status, shown.written_at_seconds = one.after, now_seconds
            if one.subject is not None:
                for note in notes_of(one.before, one.after):
                    await self.writer.event(one.subject, note)

        due = [one for one in news if self._is_due(one, now_seconds)]
        await asyncio.gather(*(write(one) for one in due))
        for subject, outcome in pairs:
            await self._tell_moved(subject, outcome)

    def _news(
        self,
        subject: Subject,
        outcome: Outcome,
        declared: Mapping[tuple[str, str], Declared],
    ) -> News:
        one = declared[subject.key.namespace, subject.key.name]
        before = self._before(subject.key, one)
        after = build_status(subject, outcome, before, generation=one.generation)
        scaled_at = self._shown[subject.key].scaled_at
        if scaled_at is not None:
            after["lastScaleTime"] = scaled_at
        return News(key=subject.key, subject=subject, before=before, after=after)

    def _bad_news(self, declared: Declared, now_seconds: float) -> News:
        key = Key(namespace=declared.namespace, name=declared.name)
        before = self._before(key, declared)
        after = invalid_status(
            invalid(declared.problem),
            before,
            now_seconds=now_seconds,
            generation=declared.generation,
        )
        return News(key=key, subject=None, before=before, after=after)

    async def _tell_moved(self, subject: Subject, outcome: Outcome) -> None:
        """Tell where the replicas are not what was written last: somebody else scaled."""
        shown = self._shown[subject.key]
        found = outcome.current_replicas
        if shown.scaled_to is None or found is None or outcome.is_write:
            return
        if found == shown.scaled_from and found != shown.scaled_to:
            shown.scaled_from = None
            return
        if found != shown.scaled_to:
            await self.writer.event(subject, moved_note(shown.scaled_to, found))
            shown.scaled_to = None

    def _before(self, key: Key, declared: Declared) -> Mapping[str, Any]:
        """Return the status on the server: what we wrote last, or what the cache shows."""
        shown = self._shown.get(key)
        if shown is None:
            shown = self._shown[key] = Shown(status={})
        if shown.written_at_seconds is None:
            return declared.status
        return shown.status

    def _is_due(self, news: News, now_seconds: float) -> bool:
        written = self._shown[news.key].written_at_seconds
        since = None if written is None else now_seconds - written
        return is_due(news.before, news.after, since_write_seconds=since)

    def _forget(self, declared: Iterable[Declared]) -> None:
        present = {Key(namespace=one.namespace, name=one.name) for one in declared}
        for key in self._shown.keys() - present:
            del self._shown[key]
