"""The autoscalers of a round as rows in a stable order, with what is worked out once for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from gputide.autoscaler.demand.assess import Wanted, unit_of
from gputide.autoscaler.demand.model import PodsSource
from gputide.autoscaler.demand.wanted import wanted_of, workload_of
from gputide.autoscaler.history.ring import Ring
from gputide.autoscaler.model import Key, Subject, Target
from gputide.autoscaler.outlook.book import Book
from gputide.autoscaler.outlook.fit import Terms
from gputide.errors import SettingError
from gputide.prometheus.workload import Workload
from gputide.scaling import Bounds, BoundsCondition, Memory, Policies

STEP_SECONDS = 60
MAX_LEAD_STEPS = 1440
HOLE_MINUTES = 2
"""So many minutes without an answer are read again once there is one."""


@dataclass(slots=True, kw_only=True)
class Row:
    """One autoscaler."""

    subject: Subject
    wanted: tuple[Wanted, ...]
    problem: str
    """Why its metrics cannot be read at all; empty where they can."""

    workload: Workload | None
    ring_row: int
    loaded_to_minute: int | None = None
    """The past was read up to here; None: not yet."""

    load_problem: str = ""
    load_at_minute: int = 0
    """When to try again."""

    failures: int = 0
    is_behind: bool = False
    """Minutes since `loaded_to_minute` are missing."""

    blind_from_minute: int | None = None
    """Since when nobody answered, or nobody asked; None: the newest round had an answer."""

    per_pod: float | None = None
    """What one pod's full use is in the source's unit: what the ring's values were divided by."""

    past_number: int = 0
    """Another one with each past that begins anew: what was asked for before is not taken."""

    _conditions: tuple[Bounds, datetime, tuple[BoundsCondition, ...]] | None = None

    def conditions_at(self, now: datetime) -> tuple[BoundsCondition, ...]:
        """Return what of the bounds is set but does nothing; worked out once a minute."""
        bounds, minute = self.subject.autoscaler.bounds, now.replace(second=0, microsecond=0)
        kept = self._conditions
        if kept is None or kept[0] is not bounds or kept[1] != minute:
            kept = (bounds, minute, bounds.conditions(now))
            self._conditions = kept
        return kept[2]

    def see(self, minute: int, *, is_blind: bool, missed: int) -> None:
        """Take whether a round had an answer, and how many minutes before it had no round."""
        if missed >= HOLE_MINUTES and self.blind_from_minute is None:
            self.blind_from_minute = minute - missed
        if is_blind:
            if self.blind_from_minute is None:
                self.blind_from_minute = minute
            return
        start, self.blind_from_minute = self.blind_from_minute, None
        if start is not None and minute - start >= HOLE_MINUTES:
            self._fall_behind(start)

    def _fall_behind(self, start: int) -> None:
        if self.loaded_to_minute is not None:
            self.loaded_to_minute = min(self.loaded_to_minute, start - 1)
            self.is_behind = True

    def forget_past(self) -> None:
        """Have the whole past read anew."""
        self.past_number += 1
        self.loaded_to_minute = self.blind_from_minute = None
        self.load_problem, self.load_at_minute, self.failures = "", 0, 0
        self.is_behind = False

    @property
    def is_additive(self) -> bool:
        """Whether the first metric adds up over the pods, so that it can be forecast."""
        source = self.wanted[0].source if self.wanted else None
        return not isinstance(source, PodsSource) or source.query.is_additive


@dataclass(slots=True, kw_only=True)
class Rows:
    """All rows; `sync` follows the subjects that come, change and go."""

    ring: Ring
    book: Book
    queries: Mapping[str, str]
    window_seconds: int
    by_key: dict[Key, Row] = field(default_factory=dict)
    order: list[Key] = field(default_factory=list)
    memory: Memory = field(default_factory=lambda: Memory(0))
    policies: Policies = field(default_factory=lambda: Policies.from_rows([]))
    decided_at_seconds: float = 0.0
    """When the memory's newest decisions were made."""

    _uids: dict[Key, str] = field(default_factory=dict)

    def sync(self, subjects: Sequence[Subject]) -> None:
        """Take the subjects of a round."""
        before = {key: place for place, key in enumerate(self.order)}
        order = [subject.key for subject in subjects]
        has_changed = order != self.order
        for key in before.keys() - set(order):
            self._drop(key)
        kept: list[int] = []
        for subject in subjects:
            # an object made anew under an old name begins anew
            is_same = self._uids.get(subject.key) == subject.uid
            kept.append(before.get(subject.key, -1) if is_same else -1)
            if not is_same and subject.key in self.by_key:
                self._drop(subject.key)
            has_changed |= not is_same
            has_changed |= self._put(subject)
        if has_changed:
            self.memory = self.memory.select(np.array(kept, np.intp))
            self.policies = Policies.from_rows([one.autoscaler.policy for one in subjects])
            self.order = order

    def _put(self, subject: Subject) -> bool:
        """Take one subject; return whether its policy may have changed."""
        row = self.by_key.get(subject.key)
        if row is not None and row.subject.autoscaler == subject.autoscaler:
            before, row.subject = row.subject.target, subject
            self._measure(row, before)
            return False
        wanted, problem = self._wanted(subject)
        if row is None:
            row = Row(
                subject=subject,
                wanted=wanted,
                problem=problem,
                workload=workload_of(subject.autoscaler),
                ring_row=self.ring.add(),
            )
            self.by_key[subject.key] = row
            self._uids[subject.key] = subject.uid
        elif _first(row.wanted) != _first(wanted) or row.workload != workload_of(
            subject.autoscaler
        ):  # another demand: its past has to be read anew
            self.book.drop(subject.key)
            self.ring.remove(row.ring_row)
            row.ring_row = self.ring.add()
            row.forget_past()
            row.per_pod = None
        row.subject, row.wanted, row.problem = subject, wanted, problem
        row.workload = workload_of(subject.autoscaler)
        self._write_terms(row)
        self._measure(row, None)
        return True

    def _measure(self, row: Row, before: Target | None) -> None:
        """Take what a pod requests now; where that changed, so does the unit of the past."""
        target = row.subject.target
        is_same = target is not None and before is not None and before.requests == target.requests
        if is_same or not row.wanted or (found := per_pod_of(row)) is None:
            return
        if row.per_pod is not None and found != row.per_pod:
            self.ring.scale(row.ring_row, row.per_pod / found)
            self.book.drop(row.subject.key)
            self._write_terms(row)
        row.per_pod = found

    def begin_anew(self) -> None:
        """Forget every past and memory: the clock by which they were noted was wrong."""
        self.ring.clear()
        self.memory = Memory(len(self.order))
        for key, row in self.by_key.items():
            row.forget_past()
            self.book.drop(key)
            self._write_terms(row)

    def _wanted(self, subject: Subject) -> tuple[tuple[Wanted, ...], str]:
        try:
            found = wanted_of(subject.autoscaler, self.queries, window_seconds=self.window_seconds)
        except SettingError as error:
            return (), str(error)
        return found, ""

    def _write_terms(self, row: Row) -> None:
        autoscaler = row.subject.autoscaler
        if not row.wanted or not row.is_additive:
            self.book.drop(row.subject.key)
            return
        steps = min(max(-(-int(autoscaler.lead_seconds) // STEP_SECONDS), 1), MAX_LEAD_STEPS)
        zone = autoscaler.bounds.zone.key
        terms = Terms(lead_steps=steps, quantile=autoscaler.quantile, zone=zone)
        self.book.put(row.subject.key, row.ring_row, terms)

    def _drop(self, key: Key) -> None:
        row = self.by_key.pop(key, None)
        self._uids.pop(key, None)
        if row is not None:
            self.ring.remove(row.ring_row)
        self.book.drop(key)


def per_pod_of(row: Row) -> float | None:
    """Return what one pod's full use is in the first metric's unit; None where not known."""
    wanted, target = row.wanted[0], row.subject.target
    if not isinstance(wanted.source, PodsSource):
        return 1.0
    if target is None:
        return None
    return unit_of(wanted.source, target, is_share=wanted.is_share)[0]


def _first(wanted: tuple[Wanted, ...]) -> Wanted | None:
    return wanted[0] if wanted else None
