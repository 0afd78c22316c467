"""Passes over the days: every setting runs, and tuned policies choose among them each evening.

So a tuned policy's figures come from one run, with its own switches in it, never from hindsight.
Several traces run side by side: a step costs about the same for one as for four.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from gputide.backtest.frame import Frame
from gputide.backtest.ledger import Ledger, Meter
from gputide.backtest.model import FloatArray, PolicyName, Workload
from gputide.backtest.policies.contestant import row_of
from gputide.backtest.policies.field import Field
from gputide.backtest.policies.series import DAY_MINUTES, SeriesTable
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.simulate import STEPS_PER_MINUTE, Fleet, IntArray, Load, Row, Rules, Span
from gputide.backtest.tune import allowance, choose, prospect

Progress = Callable[[float], None]
"""Is told the share of the work that is done, 0 to 1."""

PIECE_MINUTES = 360
"""Rows run for 6 h at a time, so that what they did fits into memory; a day is four of these."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Race:
    """Who runs on one trace: N settings, then K tuned policies."""

    frame: Frame
    field: Field
    table: SeriesTable
    workload: Workload
    settings: BacktestSettings

    @property
    def size(self) -> int:
        """N + K."""
        return len(self.field.settings) + len(self.field.tuned)

    @property
    def minutes(self) -> int:
        """How long it lasts, from the first day that is replayed for tuning."""
        return self.frame.end - self.frame.start

    @property
    def shown(self) -> dict[PolicyName, int]:
        """The row behind each policy's line of the table, in the table's order."""
        rows = dict(self.field.plain)
        for number, tuned in enumerate(self.field.tuned):
            rows[tuned.policy] = len(self.field.settings) + number
        return {name: rows[name] for name in PolicyName if name in rows}

    def rows(self, choices: Sequence[int], *, load: int, first_series: int) -> list[Row]:
        """Return the rows of a day on which the tuned policies run these settings."""
        names = self.table.names
        series = {name: first_series + position for position, name in enumerate(names)}
        return [
            row_of(
                entry,
                load=load,
                series=series,
                workload=self.workload,
                metric=self.settings.metric,
            )
            for entry in (*self.field.settings, *(self.field.settings[at] for at in choices))
        ]

    def choices(self, days: Sequence[Ledger], *, evaluated: int) -> list[int]:
        """Return what each tuned policy runs after these replayed days, the last ones evaluated."""
        settings = self.settings
        recent = days[-settings.tuning_days :]
        if not any(day.known_minutes.any() for day in recent):
            return [tuned.default for tuned in self.field.tuned]
        promise = prospect(recent, is_late_budgeted=settings.is_late_budgeted)
        own = recent[max(0, len(recent) - evaluated) :]
        return [
            choose(
                tuned,
                promise,
                allowed_ratio=allowance(
                    settings.harm_budget_ratio,
                    own,
                    len(self.field.settings) + number,
                    of_days=settings.tuning_days,
                    is_late_budgeted=settings.is_late_budgeted,
                ),
            )
            for number, tuned in enumerate(self.field.tuned)
        ]


@dataclass(slots=True, kw_only=True, eq=False)
class Result:
    """What a race yields over the evaluated span."""

    ledger: Ledger
    """[N + K]."""

    replicas: dict[PolicyName, FloatArray]
    """[M] each: pods at the start of each minute."""

    choices: list[list[int]] = field(default_factory=list)
    """Of each evaluated day, the setting that each tuned policy ran."""


class _Entrant:
    """A race under way."""

    def __init__(self, race: Race) -> None:
        self.race = race
        self.choices = [tuned.default for tuned in race.field.tuned]
        self._meter = Meter(
            self.first_replicas(), queue_limit_seconds=race.workload.initial_queue_limit_seconds
        )
        self._days: list[Ledger] = []
        self._today = Ledger.empty(race.size)
        evaluated = race.frame.end - race.frame.first
        self.result = Result(
            ledger=Ledger.empty(race.size),
            replicas={name: np.empty(evaluated) for name in race.shown},
        )

    def first_replicas(self) -> FloatArray:
        """Return what the rows run at the start, `[N + K]`, as if the first load had stood long."""
        known = self.race.frame.demand[self.race.frame.start :]
        known = known[~np.isnan(known)]
        rules = Rules(self.race.rows(self.choices, load=0, first_series=0))
        first = float(known[0]) if len(known) else 0.0
        wanted = np.maximum(np.ceil(first / rules.policies.proactive_target), 1.0)
        return np.minimum(np.maximum(wanted, rules.min_replicas), rules.max_replicas)

    def minutes(self, start: int, stop: int) -> slice:
        """Return the trace's minutes of a part of the race."""
        return slice(self.race.frame.start + start, self.race.frame.start + stop)

    def windows(self, minutes: slice) -> tuple[FloatArray, FloatArray]:
        """Return the bounds `[M]` that windows in time set; NaN outside every window."""
        trace, none = self.race.frame.trace, np.full(minutes.stop - minutes.start, np.nan)
        if trace.min_replicas is None or trace.max_replicas is None:
            return none, none
        return trace.min_replicas[minutes], trace.max_replicas[minutes]

    def begin_day(self, start: int) -> None:
        """Close the day before, and choose for the one that begins at this minute of the race."""
        frame = self.race.frame
        if start:
            self._days.append(self._today)
            self._today = Ledger.empty(self.race.size)
        if frame.start + start >= frame.first:
            self.choices = self.race.choices(self._days, evaluated=len(self.result.choices))
            self.result.choices.append(self.choices)

    def record(self, start: int, stop: int, span: Span) -> None:
        """Take down what the rows did between two minutes of the race."""
        frame, minutes = self.race.frame, self.minutes(start, stop)
        ledger = self._meter.measure(frame.demand[minutes], span)
        self._today += ledger
        if minutes.start >= frame.first:
            self.result.ledger += ledger
            shown = slice(minutes.start - frame.first, minutes.stop - frame.first)
            for name, row in self.race.shown.items():
                self.result.replicas[name][shown] = span.asked[::STEPS_PER_MINUTE, row]


def run_races(races: Sequence[Race], *, on_progress: Progress) -> list[Result]:
    """Return what each race yields; all must have the same start delay."""
    entrants = [_Entrant(race) for race in races]
    fleet = Fleet.start(
        np.concatenate([entrant.first_replicas() for entrant in entrants]),
        start_delay_seconds=races[0].workload.start_delay_seconds,
    )
    running = entrants
    total = sum(race.minutes for race in races)
    done = 0
    for start, stop in _pieces(races):
        left = [entrant for entrant in running if entrant.race.minutes > start]
        fleet = fleet if len(left) == len(running) else fleet.select(_rows_of(running, left))
        if start % DAY_MINUTES == 0:
            for entrant in left:
                entrant.begin_day(start)
        running = left
        _run_piece(fleet, running, start, stop)
        done += (stop - start) * len(running)
        on_progress(done / total)
    return [entrant.result for entrant in entrants]


def _pieces(races: Sequence[Race]) -> list[tuple[int, int]]:
    """Return the parts between which nothing is chosen and no race ends."""
    longest = max(race.minutes for race in races)
    cuts = sorted({*range(0, longest, PIECE_MINUTES), *(race.minutes for race in races)})
    return list(pairwise(cuts))


def _rows_of(running: Sequence[_Entrant], left: Sequence[_Entrant]) -> IntArray:
    """Return the fleet's rows of the entrants that are left."""
    kept = [np.full(entrant.race.size, entrant in left) for entrant in running]
    return np.flatnonzero(np.concatenate(kept))


def _run_piece(fleet: Fleet, running: Sequence[_Entrant], start: int, stop: int) -> None:
    """Run all entrants' rows between two minutes of their races."""
    rows: list[Row] = []
    demand: list[FloatArray] = []
    uppers: list[FloatArray] = []
    ends, known_series = [0], 0
    for position, entrant in enumerate(running):
        minutes = entrant.minutes(start, stop)
        rows += entrant.race.rows(entrant.choices, load=position, first_series=known_series)
        known_series += len(entrant.race.table.names)
        demand.append(entrant.race.frame.demand[minutes])
        uppers.append(entrant.race.table.values[:, minutes])
        ends.append(len(rows))
    windows = [entrant.windows(entrant.minutes(start, stop)) for entrant in running]
    load = Load(
        demand=np.stack(demand),
        uppers=np.concatenate(uppers),
        min_replicas=np.stack([low for low, _ in windows]),
        max_replicas=np.stack([high for _, high in windows]),
    )
    span = fleet.run(Rules(rows), load)
    for entrant, (first, last) in zip(running, pairwise(ends), strict=True):
        entrant.record(start, stop, span.of(slice(first, last)))
