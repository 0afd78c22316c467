"""The autoscalers of a round as rows in a stable order, with what is worked out once for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from gputide.autoscaler.demand.assess import Wanted
from gputide.autoscaler.demand.model import PodsSource
from gputide.autoscaler.demand.wanted import wanted_of, workload_of
from gputide.autoscaler.history.ring import Ring
from gputide.autoscaler.model import Key, Subject
from gputide.autoscaler.outlook.book import Book
from gputide.autoscaler.outlook.fit import Terms
from gputide.errors import SettingError
from gputide.prometheus.workload import Workload
from gputide.scaling import Bounds, BoundsCondition, Memory, Policies

STEP_SECONDS = 60
MAX_LEAD_STEPS = 1440


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

    _conditions: tuple[Bounds, datetime, tuple[BoundsCondition, ...]] | None = None

    def conditions_at(self, now: datetime) -> tuple[BoundsCondition, ...]:
        """Return what of the bounds is set but does nothing; worked out once a minute."""
        bounds, minute = self.subject.autoscaler.bounds, now.replace(second=0, microsecond=0)
        kept = self._conditions
        if kept is None or kept[0] is not bounds or kept[1] != minute:
            kept = (bounds, minute, bounds.conditions(now))
            self._conditions = kept
        return kept[2]

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
            row.subject = subject
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
            row.loaded_to_minute = None
        row.subject, row.wanted, row.problem = subject, wanted, problem
        row.workload = workload_of(subject.autoscaler)
        self._write_terms(row)
        return True

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


def _first(wanted: tuple[Wanted, ...]) -> Wanted | None:
    return wanted[0] if wanted else None
