"""One pass over the days: every setting runs, and tuned policies choose among them each evening.

So a tuned policy's figures come from one run, with its own switches in it, never from hindsight.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gputide.backtest.frame import Frame
from gputide.backtest.ledger import Ledger, Meter
from gputide.backtest.model import FloatArray, Workload
from gputide.backtest.policies.contestant import rules_of
from gputide.backtest.policies.field import Field
from gputide.backtest.policies.series import SeriesTable
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.simulate import STEPS_PER_MINUTE, Fleet, Load, Rules
from gputide.backtest.tune import choose, prospect

Progress = Callable[[float], None]
"""Is told the share of the work that is done, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Race:
    """Who runs on what: N settings, then K tuned policies."""

    frame: Frame
    field: Field
    table: SeriesTable
    workload: Workload
    settings: BacktestSettings

    def rules(self, choices: list[int]) -> Rules:
        """Return the rows of a day on which the tuned policies run these settings."""
        entries = [*self.field.settings, *(self.field.settings[at] for at in choices)]
        return rules_of(
            entries,
            series_names=self.table.names,
            workload=self.workload,
            metric=self.settings.metric,
        )

    def load(self, minutes: slice) -> Load:
        """Return what happens in some minutes."""
        return Load(demand=self.frame.demand[minutes], uppers=self.table.values[:, minutes])

    def tuned_choices(self, days: list[Ledger]) -> list[int]:
        """Return what each tuned policy runs after these replayed days."""
        recent = days[-self.settings.tuning_days :]
        if not recent or not any(day.known_minutes.any() for day in recent):
            return [tuned.default for tuned in self.field.tuned]
        promise = prospect(recent, is_late_budgeted=self.settings.is_late_budgeted)
        budget = self.settings.harm_budget_ratio
        return [choose(tuned, promise, budget_ratio=budget) for tuned in self.field.tuned]


@dataclass(slots=True, kw_only=True, eq=False)
class Result:
    """What a race yields over the evaluated span."""

    ledger: Ledger
    """[N + K]."""

    replicas: FloatArray
    """[M, N + K]: pods at the start of each minute."""

    choices: list[list[int]] = field(default_factory=list)
    """Of each evaluated day, the setting that each tuned policy ran."""

    @property
    def latest(self) -> list[int]:
        """What each tuned policy ran last."""
        return self.choices[-1]


def run_race(race: Race, *, on_progress: Progress) -> Result:
    """Return the ledgers of all settings and tuned policies over the evaluated span."""
    frame, count = race.frame, len(race.field.settings)
    choices = [tuned.default for tuned in race.field.tuned]
    rules = race.rules(choices)
    fleet = Fleet.start(
        _first_replicas(race, rules), start_delay_seconds=race.workload.start_delay_seconds
    )
    meter = Meter(fleet.asked, queue_limit_seconds=race.workload.initial_queue_limit_seconds)
    result = Result(
        ledger=Ledger.empty(len(fleet.asked)),
        replicas=np.empty((frame.end - frame.first, len(fleet.asked))),
    )
    past: list[Ledger] = []
    for minutes in frame.days:
        if minutes.start >= frame.first:
            choices = race.tuned_choices(past)
            result.choices.append(choices)
            rules = race.rules(choices)
        span = fleet.run(rules, race.load(minutes))
        day = meter.measure(frame.demand[minutes], span)
        past.append(day.select(slice(0, count)))
        if minutes.start >= frame.first:
            result.ledger += day
            shown = slice(minutes.start - frame.first, minutes.stop - frame.first)
            result.replicas[shown] = span.asked[::STEPS_PER_MINUTE]
        on_progress((minutes.stop - frame.start) / (frame.end - frame.start))
    return result


def _first_replicas(race: Race, rules: Rules) -> FloatArray:
    """Return what the rows run at the start, `[N + K]`, as if the first load had stood for long."""
    known = race.frame.demand[race.frame.start :]
    known = known[~np.isnan(known)]
    first = float(known[0]) if len(known) else 0.0
    wanted = np.maximum(np.ceil(first / rules.policies.proactive_target), 1.0)
    return np.minimum(np.maximum(wanted, rules.min_replicas), rules.max_replicas)
