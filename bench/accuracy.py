"""How near the bounds come: pinball loss, coverage and CPU time beside the opponents."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from bench.opponents import MAX_OF_DAYS, PERSISTENCE, Contestant
from bench.traces import Load, Skipped
from bench.windows import Task, Window, actual_of, origins_of, window_of
from gputide.forecast.model import FloatArray
from gputide.forecast.period import find_periods
from gputide.forecast.score import coverage_ratio, pinball_loss_ratio

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is measured."""

    history_days: Sequence[int] = (7, 14)
    max_origins: int = 14
    quantile: float = 0.95
    tasks: Sequence[Task] = tuple(Task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One contestant on one trace, over all origins."""

    trace: str
    task: str
    history_days: int
    contestant: str
    pinball_loss_ratio: float
    coverage_ratio: float
    cpu_ms: float
    """Of one origin: training and the issues of a day."""

    origins: int
    is_periodic: bool
    """Whether a period was found at most of the origins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One contestant over all traces."""

    task: str
    history_days: int
    contestant: str
    traces: int
    loss_to_max_of_days: float
    """Geometric mean over the traces of pinball loss divided by that of max of days."""

    periodic_loss_to_max_of_days: float
    periodic_coverage_mean: float
    periodic_coverage_worst: float
    periodic_coverage_worst_trace: str
    coverage_mean: float
    coverage_worst: float
    coverage_worst_trace: str
    loss_to_better_worst: float
    """Highest ratio of pinball loss to the better of max of days and persistence."""

    loss_to_better_worst_trace: str
    cpu_ms: float


def measure(
    loads: Sequence[Load],
    contestants: Mapping[str, Contestant],
    setup: Setup,
    *,
    on_progress: Progress = lambda _what: None,
) -> tuple[list[Row], list[Skipped]]:
    """Return a row for each trace, task, length of history and contestant."""
    rows: list[Row] = []
    skipped: list[Skipped] = []
    for days in setup.history_days:
        for load in loads:
            origins = origins_of(load, history_days=days, max_origins=setup.max_origins)
            if not origins:
                length = len(load.values) / load.steps_per_day
                reason = f"holds {length:.1f} days; {days} of history need {days + 1}"
                skipped.append(Skipped(name=load.name, reason=reason))
                continue
            on_progress(f"{load.name}, {days} days of history")
            rows += _rows(load, origins, contestants, setup, days)
    return rows, skipped


def _rows(
    load: Load,
    origins: Sequence[int],
    contestants: Mapping[str, Contestant],
    setup: Setup,
    days: int,
) -> Iterator[Row]:
    is_periodic = _is_periodic(load, origins, days)
    for task in setup.tasks:
        windows = [window_of(load, origin, task, history_days=days) for origin in origins]
        actual = np.concatenate([actual_of(load, origin, task) for origin in origins])
        for name, contestant in contestants.items():
            bound, cpu_ms = _bounds(contestant, windows, task, setup.quantile)
            yield Row(
                trace=load.name,
                task=task.title,
                history_days=days,
                contestant=name,
                pinball_loss_ratio=float(pinball_loss_ratio(actual, bound, setup.quantile)),
                coverage_ratio=float(coverage_ratio(actual, bound)),
                cpu_ms=cpu_ms,
                origins=len(origins),
                is_periodic=is_periodic,
            )


def _bounds(
    contestant: Contestant, windows: Sequence[Window], task: Task, quantile: float
) -> tuple[FloatArray, float]:
    """Return the bounds of all origins in a row, and the CPU milliseconds of one."""
    began = process_time()
    bounds = [contestant(window, task, quantile) for window in windows]
    cpu_ms = (process_time() - began) / len(windows) * 1e3
    held = [_held(bound, window) for bound, window in zip(bounds, windows, strict=True)]
    return np.concatenate(held), cpu_ms


def _held(bound: FloatArray, window: Window) -> FloatArray:
    """Return the bound with the last known value where it has none: silence must cost too."""
    known = window.past[~np.isnan(window.past)]
    return np.where(np.isnan(bound), known[-1] if len(known) else 0.0, bound)


def _is_periodic(load: Load, origins: Sequence[int], days: int) -> bool:
    windows = [window_of(load, origin, Task.DAY_AHEAD, history_days=days) for origin in origins]
    found = [bool(find_periods(window.history())[0]) for window in windows]
    return sum(found) * 2 > len(found)


def summarize(rows: Sequence[Row]) -> list[Summary]:
    """Return each contestant over all traces, per task and length of history."""
    groups: dict[tuple[str, int], dict[str, dict[str, Row]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows:
        groups[row.task, row.history_days][row.contestant][row.trace] = row
    return [
        _summary(by_contestant, name) for by_contestant in groups.values() for name in by_contestant
    ]


def _summary(by_contestant: Mapping[str, Mapping[str, Row]], name: str) -> Summary:
    mine = by_contestant[name]
    first = next(iter(mine.values()))
    periodic = {trace: row for trace, row in mine.items() if row.is_periodic}
    to_max = _loss_ratios(mine, by_contestant.get(MAX_OF_DAYS, {}))
    to_better = _loss_ratios(mine, _better(by_contestant))
    worst_loss = max(to_better, key=lambda trace: to_better[trace], default="")
    covered = sorted(mine.values(), key=lambda row: row.coverage_ratio)
    covered_periodic = [row for row in covered if row.is_periodic]
    return Summary(
        task=first.task,
        history_days=first.history_days,
        contestant=name,
        traces=len(mine),
        loss_to_max_of_days=_geometric_mean(list(to_max.values())),
        periodic_loss_to_max_of_days=_geometric_mean(
            [ratio for trace, ratio in to_max.items() if trace in periodic]
        ),
        periodic_coverage_mean=_mean([row.coverage_ratio for row in covered_periodic]),
        periodic_coverage_worst=_first(covered_periodic)[0],
        periodic_coverage_worst_trace=_first(covered_periodic)[1],
        coverage_mean=_mean([row.coverage_ratio for row in covered]),
        coverage_worst=_first(covered)[0],
        coverage_worst_trace=_first(covered)[1],
        loss_to_better_worst=to_better.get(worst_loss, np.nan),
        loss_to_better_worst_trace=worst_loss,
        cpu_ms=_mean([row.cpu_ms for row in covered]),
    )


def _better(by_contestant: Mapping[str, Mapping[str, Row]]) -> dict[str, Row]:
    """Return for each trace the row of the better of max of days and persistence."""
    best: dict[str, Row] = {}
    for name in (MAX_OF_DAYS, PERSISTENCE):
        for trace, row in by_contestant.get(name, {}).items():
            rival = best.get(trace)
            if rival is None or row.pinball_loss_ratio < rival.pinball_loss_ratio:
                best[trace] = row
    return best


def _loss_ratios(mine: Mapping[str, Row], others: Mapping[str, Row]) -> dict[str, float]:
    """Return pinball losses divided by another's; a trace where that has none is left out."""
    return {
        trace: row.pinball_loss_ratio / others[trace].pinball_loss_ratio
        for trace, row in mine.items()
        if trace in others and others[trace].pinball_loss_ratio > 0
    }


def _geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-12))))) if ratios else float("nan")


def _mean(values: Sequence[float]) -> float:
    return float(np.nanmean(values)) if values else float("nan")


def _first(rows: Sequence[Row]) -> tuple[float, str]:
    return (rows[0].coverage_ratio, rows[0].trace) if rows else (float("nan"), "")
