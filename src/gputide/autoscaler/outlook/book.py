"""All fits: who is due, what each says now, and how often it was right."""

import asyncio
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan

import numpy as np

from gputide.autoscaler.history.ring import Ring
from gputide.autoscaler.model import Key
from gputide.autoscaler.outlook.fit import Fit, Terms, fit_batch, higher, issue
from gputide.forecast import Verdict

BATCH_ROWS = 64
REFIT_MINUTES = 1440
YOUNG_MINUTES, YOUNG_REFIT_MINUTES = 2 * 1440, 120
"""With less history than that a fit gains much from each new hour."""

MIN_MINUTES = 30
"""Below that there is nothing to fit."""

STALE_MINUTES = 2 * 1440
JUDGED_MINUTES = 1440.0
PACKING_RATIO = 0.002
"""What packing may have taken off a bound."""


@dataclass(slots=True)
class Entry:
    """One workload's place in the book."""

    row: int
    terms: Terms
    fit: Fit | None = None
    position: int = 0
    due_minute: int = 0
    peak: float = nan
    upper: float = nan
    """Newest bound; not a number: none."""

    issued: deque[tuple[int, float]] = field(default_factory=deque)
    """Bounds whose time is not over yet: minute, upper."""

    covered: float = 0.0
    judged: float = 0.0

    @property
    def coverage_ratio(self) -> float | None:
        """Share of the last day's bounds that held; None before an hour of them."""
        return self.covered / self.judged if self.judged >= 60 else None

    @property
    def verdict(self) -> Verdict | None:
        """What the newest fit's verdict is, with the coverage as it was lived."""
        if self.fit is None:
            return None
        found = self.fit.verdicts[self.position]
        return replace(found, coverage_ratio=self.coverage_ratio)


class Book:
    """Fits by key, over the rows of a ring."""

    def __init__(self, ring: Ring, *, history_minutes: int) -> None:
        self._ring = ring
        self._history_minutes = history_minutes
        self._entries: dict[Key, Entry] = {}
        self._issued_minute: int | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Entry | None:
        """Return a workload's entry."""
        return self._entries.get(key)

    def put(self, key: Key, row: int, terms: Terms) -> None:
        """Take a workload up, or take its changed terms; those that have none yet are due."""
        found = self._entries.get(key)
        if found is None or found.row != row or found.terms != terms:
            self._entries[key] = Entry(row=row, terms=terms)

    def drop(self, key: Key) -> None:
        """Forget a workload."""
        self._entries.pop(key, None)

    def is_due(self, keys: Sequence[Key], *, minute: int) -> list[Key]:
        """Return those of the keys that should be fitted now, the most overdue first."""
        entries = self._entries
        due = [key for key in keys if key in entries and entries[key].due_minute <= minute]
        return sorted(due, key=lambda key: entries[key].due_minute)

    async def fit(self, keys: Sequence[Key], *, minute: int) -> int:
        """Fit one batch of keys that share their terms; return how many were fitted."""
        first = self._entries[keys[0]].terms
        chosen = [key for key in keys if self._entries[key].terms == first][:BATCH_ROWS]
        rows = [self._entries[key].row for key in chosen]
        values = self._ring.last(rows, self._history_minutes)
        entries = {key: self._entries[key] for key in chosen}
        share = _share_of_pause(chosen)
        known = np.count_nonzero(~np.isnan(values), axis=1)
        is_enough = known >= MIN_MINUTES
        for key, count, enough in zip(chosen, known.tolist(), is_enough.tolist(), strict=True):
            entry = entries[key]
            pause = YOUNG_REFIT_MINUTES if count < YOUNG_MINUTES else REFIT_MINUTES
            if entry.fit is None:  # else a big first load would come back every day as a whole
                pause = max(round(pause * share), MIN_MINUTES)
            entry.due_minute = minute + (pause if enough else MIN_MINUTES)
        fitted = [key for key, enough in zip(chosen, is_enough.tolist(), strict=True) if enough]
        if not fitted:
            return 0
        made = await asyncio.to_thread(
            fit_batch, fitted, values[is_enough], first, newest_minute=self._ring.newest_minute or 0
        )
        taken = []
        for position, key in enumerate(fitted):
            entry = entries[key]
            if self._entries.get(key) is entry:  # it may have gone, or begun anew, meanwhile
                entry.fit, entry.position = made, position
                entry.peak = made.peaks[position]
                taken.append(entry)
        if self._issued_minute is not None and self._issued_minute == self._ring.newest_minute:
            self._issue(made, taken, self._issued_minute)  # this minute has its bounds already
        return len(fitted)

    def note(self, demands: Mapping[Key, float], *, minute: int) -> None:
        """Take the demand of a minute: peaks grow, and bounds whose time is over are judged."""
        for key, demand in demands.items():
            entry = self._entries.get(key)
            if entry is not None:
                entry.peak = higher(entry.peak, demand)
                _judge(entry, demand, minute)

    def issue(self, *, minute: int) -> None:
        """Bring every bound up to a minute; does nothing when it is there already."""
        if self._issued_minute == minute:
            return
        self._issued_minute = minute
        members: dict[int, tuple[Fit, list[Entry]]] = {}
        for entry in self._entries.values():
            entry.upper = nan
            if entry.fit is not None and minute - entry.fit.fitted_minute <= STALE_MINUTES:
                members.setdefault(id(entry.fit), (entry.fit, []))[1].append(entry)
        for fit, entries in members.values():
            self._issue(fit, entries, minute)

    def _issue(self, fit: Fit, entries: Sequence[Entry], minute: int) -> None:
        if not entries:
            return
        rows = [entries[0].row] * len(fit.keys)  # places of those that have gone: any row will do
        for entry in entries:
            rows[entry.position] = entry.row
        needed = fit.forecaster.forecaster.needed_steps
        upper = issue(fit, self._ring.last(rows, needed), minute=minute)
        for entry in entries:
            entry.upper = float(upper[entry.position])
            is_first = not entry.issued or entry.issued[-1][0] != minute
            if is_first and not isnan(entry.upper):
                entry.issued.append((minute, entry.upper))


def _share_of_pause(keys: Sequence[Key]) -> float:
    """Return which share of the first pause a batch waits, in [0, 1): the same one each time.

    A batch stays together, for a fit is kept as long as one of its members goes by it.
    """
    return zlib.crc32(str(keys[0]).encode()) / 2**32


def _judge(entry: Entry, demand: float, minute: int) -> None:
    """Count the bounds whose lead has passed: whether demand stayed below them all the time."""
    lead = entry.terms.lead_steps
    while entry.issued and entry.issued[0][0] + lead < minute - lead:
        entry.issued.popleft()  # not looked at in time: nothing is known of it
    held = []
    for issued_minute, upper in entry.issued:
        if demand > upper * (1 + PACKING_RATIO):
            _count(entry, is_held=False)
        elif issued_minute + lead <= minute:
            _count(entry, is_held=True)
        else:
            held.append((issued_minute, upper))
    entry.issued = deque(held)


def _count(entry: Entry, *, is_held: bool) -> None:
    fade = 1 - 1 / JUDGED_MINUTES
    entry.judged = entry.judged * fade + 1
    entry.covered = entry.covered * fade + is_held
