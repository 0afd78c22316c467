"""What lost data cost: a lost day, 5 % of the minutes, three gaps of hours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.accuracy import Setup
from bench.opponents import gputide
from bench.traces import Load
from bench.windows import Task, Window, actual_of, origins_of, window_of
from gputide.forecast.model import FloatArray
from gputide.forecast.score import coverage_ratio, pinball_loss_ratio

Damage = Callable[[Window, np.random.Generator], FloatArray]


def lost_day(window: Window, _rng: np.random.Generator) -> FloatArray:
    """Lose the third last day."""
    values, per_day = window.values.copy(), window.steps_per_day
    values[window.origin - 3 * per_day : window.origin - 2 * per_day] = np.nan
    return values


def lost_minutes(window: Window, rng: np.random.Generator) -> FloatArray:
    """Lose each value with a probability of 5 %."""
    return np.where(rng.random(len(window.values)) < 0.05, np.nan, window.values)


def gaps(window: Window, rng: np.random.Generator) -> FloatArray:
    """Lose three stretches of half an hour to six hours."""
    values, hour = window.values.copy(), window.steps_per_day // 24
    for _ in range(3):
        length = int(rng.integers(hour // 2, 6 * hour + 1))
        start = int(rng.integers(0, window.origin - length))
        values[start : start + length] = np.nan
    return values


DAMAGES: dict[str, Damage] = {
    "lost day": lost_day,
    "5 % of minutes": lost_minutes,
    "three gaps": gaps,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DamageRow:
    """What one kind of damage costs the band of the coming day, over all traces."""

    damage: str
    history_days: int
    traces: int
    loss_ratio: float
    """Geometric mean over the traces of pinball loss with the damage, divided by that without."""

    worst_loss_ratio: float
    worst_trace: str
    coverage_mean: float


def measure_damage(loads: Sequence[Load], setup: Setup) -> list[DamageRow]:
    """Return a row for each kind of damage and length of history."""
    rows = []
    for days in setup.history_days:
        fit = [load for load in loads if origins_of(load, history_days=days, max_origins=1)]
        sound = {load.name: _score(load, days, setup, None) for load in fit}
        for name, damage in DAMAGES.items():
            hurt = {load.name: _score(load, days, setup, damage) for load in fit}
            ratios = {
                trace: loss / sound[trace][0]
                for trace, (loss, _) in hurt.items()
                if sound[trace][0] > 0
            }
            if not ratios:
                continue
            worst = max(ratios, key=lambda trace: ratios[trace])
            rows.append(
                DamageRow(
                    damage=name,
                    history_days=days,
                    traces=len(ratios),
                    loss_ratio=float(np.exp(np.mean(np.log(list(ratios.values()))))),
                    worst_loss_ratio=ratios[worst],
                    worst_trace=worst,
                    coverage_mean=float(np.mean([covered for _, covered in hurt.values()])),
                )
            )
    return rows


def _score(load: Load, days: int, setup: Setup, damage: Damage | None) -> tuple[float, float]:
    """Return pinball loss and coverage of the band of the coming day, over all origins."""
    bounds, actual = [], []
    for origin in origins_of(load, history_days=days, max_origins=setup.max_origins):
        window = window_of(load, origin, Task.DAY_AHEAD, history_days=days)
        if damage is not None:
            window = replace(window, values=damage(window, np.random.default_rng(origin)))
        bounds.append(gputide(window, Task.DAY_AHEAD, setup.quantile))
        actual.append(actual_of(load, origin, Task.DAY_AHEAD))
    came, bound = np.concatenate(actual), np.concatenate(bounds)
    loss = float(pinball_loss_ratio(came, bound, setup.quantile))
    return loss, float(coverage_ratio(came, bound))
