"""What a contestant sees and what it is held against: origins, histories, targets."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

import numpy as np

from bench.traces import Load
from gputide.forecast.model import FloatArray, History, Lead

ORIGIN_EVERY_HOURS = 6


class Task(Enum):
    """What is forecast; the value is its lead, None for the band of the coming day."""

    DAY_AHEAD = None
    MAX_OF_5_MINUTES = Lead(first_step=1, last_step=5)
    ONE_HOUR = Lead(first_step=60, last_step=60)
    SIX_HOURS = Lead(first_step=360, last_step=360)

    @property
    def title(self) -> str:
        """How tables name it."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """What one contestant may look at for one origin, `values[T]`.

    Columns before `origin` are history. Those from `origin` on are the day itself, and are only
    there for a lead: issue i is made with the columns before `origin + i` and no other.
    """

    values: FloatArray
    origin: int
    start_local: datetime
    step_seconds: int

    @property
    def steps_per_day(self) -> int:
        """Columns in 24 h."""
        return 86_400 // self.step_seconds

    @property
    def past(self) -> FloatArray:
        """The history alone, `[T]`."""
        return self.values[: self.origin]

    def history(self) -> History:
        """Return what is known at the origin, as the package takes it."""
        return History(
            values=self.past[None], step_seconds=self.step_seconds, start_local=self.start_local
        )


def origins_of(load: Load, *, history_days: int, max_origins: int) -> list[int]:
    """Return columns with a full history before and a day after them, evenly spread."""
    per_day = load.steps_per_day
    every = ORIGIN_EVERY_HOURS * per_day // 24
    possible = np.arange(history_days * per_day, len(load.values) - per_day + 1, every)
    if not len(possible):
        return []
    count = min(max_origins, len(possible))
    chosen = np.rint(np.linspace(0, len(possible) - 1, count)).astype(int)
    if len(possible) >= 4 * count:  # else even steps may fall on one time of day alone
        chosen = np.minimum(chosen + np.arange(count) % 4, len(possible) - 1)
    return [int(possible[at]) for at in np.unique(chosen)]


def window_of(load: Load, origin: int, task: Task, *, history_days: int) -> Window:
    """Return what is seen from one origin: the days before, and for a lead the day as it comes."""
    per_day = load.steps_per_day
    first = origin - history_days * per_day
    end = origin if task is Task.DAY_AHEAD else origin + per_day - 1
    return Window(
        values=load.values[first:end].copy(),
        origin=origin - first,
        start_local=load.start_local + timedelta(seconds=first * load.step_seconds),
        step_seconds=load.step_seconds,
    )


def actual_of(load: Load, origin: int, task: Task) -> FloatArray:
    """Return what came, one value an issue, `[steps of a day]`; NaN where it is unknown."""
    per_day = load.steps_per_day
    if task.value is None:
        return load.values[origin : origin + per_day]
    first, last = task.value.first_step, task.value.last_step
    ahead = np.full(per_day + last, np.nan)
    rest = load.values[origin : origin + per_day + last - 1]
    ahead[: len(rest)] = rest
    spans = np.lib.stride_tricks.sliding_window_view(ahead, last - first + 1)
    came: FloatArray = np.fmax.reduce(spans[first - 1 : first - 1 + per_day], axis=1)
    return came
