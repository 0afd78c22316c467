"""One round against the cluster: see, decide, scale, tell."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from gputide.autoscaler.cluster.caches import Caches
from gputide.autoscaler.cluster.scales import Scales
from gputide.autoscaler.cluster.targets import ObjectKey, World, subjects_of
from gputide.autoscaler.cluster.wire import Declared, is_watched
from gputide.autoscaler.cluster.writer import Writer
from gputide.autoscaler.model import Key, Outcome, Subject
from gputide.autoscaler.ports import Engine
from gputide.autoscaler.status.build import reason_text
from gputide.autoscaler.status.events import failed_note
from gputide.autoscaler.telling import Telling
from gputide.clock import Clock
from gputide.kube.errors import ConflictError, KubeError
from gputide.scaling import TargetRef

log = structlog.stdlib.get_logger()

WRITES_AT_A_TIME = 16


@dataclass(slots=True)
class Round:
    """What one round came to."""

    subjects: int = 0
    scaled: int = 0
    failed: int = 0
    statuses: int = 0
    seconds: float = 0.0


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
    _telling: Telling = field(init=False)

    def __post_init__(self) -> None:
        self._telling = Telling(self.writer, self.clock)

    async def once(self) -> Round:
        """Do one round; a failing write costs its own autoscaler alone."""
        started = self.clock.monotonic_seconds()
        self._telling.may_write = self.may_write
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
        await self._scale(pairs, declared, now_seconds, made)
        made.statuses = await self._telling.tell(pairs, declared, now_seconds)
        made.seconds = self.clock.monotonic_seconds() - started
        self.newest = made
        return made

    async def _world(self, declared: Mapping[ObjectKey, Declared]) -> World:
        caches = self.caches
        others: dict[Key, TargetRef] = {}
        for one in declared.values():
            ref = one.autoscaler.target if one.autoscaler is not None else None
            if ref is not None and not is_watched(ref):
                others[Key(namespace=one.namespace, name=one.name)] = ref
        found = await self.scales.read(others)
        return World(
            declared=declared,
            everyone=caches.declared.objects,
            workloads={kind: one.objects for kind, one in caches.workloads.items()},
            pods=caches.pods.objects,
            scalers=caches.scalers.objects,
            problem=caches.problem(),
            other_targets=found,
        )

    async def _scale(
        self,
        pairs: list[tuple[Subject, Outcome]],
        declared: Mapping[ObjectKey, Declared],
        now_seconds: float,
        made: Round,
    ) -> None:
        """Scale what is to be scaled; the engine takes back what was not, whatever ended it."""
        slots = asyncio.Semaphore(WRITES_AT_A_TIME)
        writes = {subject.key: (subject, outcome) for subject, outcome in pairs if outcome.is_write}
        undone = set(writes)

        async def one(subject: Subject, outcome: Outcome) -> None:
            async with slots:
                before = declared[subject.key.namespace, subject.key.name]
                if not self.may_write(subject.key) or not self._is_current(before):
                    return
                if await self._scale_one(subject, outcome):
                    undone.discard(subject.key)
                    made.scaled += 1
                else:
                    made.failed += 1
            if subject.key not in undone:
                await self._telling.scaled(subject, outcome)

        try:
            await asyncio.gather(*(one(*pair) for pair in writes.values()))
        finally:
            self.engine.withdraw(sorted(undone), now_seconds=now_seconds)

    def _is_current(self, decided_on: Declared) -> bool:
        """Whether the autoscaler is still what was decided on: not switched off meanwhile."""
        now = self.caches.declared.objects.get((decided_on.namespace, decided_on.name))
        return now is not None and (now.uid, now.generation) == (
            decided_on.uid,
            decided_on.generation,
        )

    async def _scale_one(self, subject: Subject, outcome: Outcome) -> bool:
        """Write one scale; return whether it went through."""
        replicas = outcome.desired_replicas
        if replicas is None:
            return False
        try:
            await self.writer.scale(subject, outcome, replicas=replicas)
        except ConflictError as error:
            log.info("scaled by somebody else meanwhile", ahpa=str(subject.key), why=str(error))
            return False
        except KubeError as error:
            log.warning("not scaled", ahpa=str(subject.key), error=str(error))
            await self.writer.event(subject.key, subject.uid, failed_note(outcome, str(error)))
            return False
        finally:
            self.scales.forget(subject.key)
        log.info(
            "scaled",
            ahpa=str(subject.key),
            before=outcome.current_replicas,
            replicas=replicas,
            reason=reason_text(outcome),
        )
        return True
