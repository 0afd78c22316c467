"""One part of the cost, in a process of its own: `python -m bench.cost_probe PART WORKLOADS DAYS`.

Prints a JSON object of figures.
"""

import json
import resource
import sys
from collections.abc import Callable
from datetime import datetime
from time import process_time

import numpy as np

from gputide.forecast.band import forecast_day
from gputide.forecast.clean import inspect
from gputide.forecast.lead import fit_lead
from gputide.forecast.model import FloatArray, History, Lead
from gputide.forecast.period import find_periods
from gputide.forecast.verdict import judge

MONDAY = datetime.fromisoformat("2024-01-01")
MINUTES = 1440
ISSUES = 20


def minutes_of(workloads: int, days: int) -> FloatArray:
    """Return noisy tides with a week, each row another: the same for the same arguments."""
    clock = np.arange(days * MINUTES)
    wave = np.sin(2 * np.pi * clock / MINUTES) * np.where(clock // MINUTES % 7 < 5, 1.0, 0.3)
    values = np.empty((workloads, len(clock)))
    for row in range(workloads):
        rng = np.random.default_rng(row)
        noise = rng.standard_normal(len(clock), dtype=np.float32)
        np.maximum(3 + (1 + row % 5) * np.roll(wave, row * 7) + 0.5 * noise, 0, out=values[row])
    return values


def floor(history: History) -> dict[str, float]:
    """Return what touching the minutes costs: a copy, a copy and a sort, a copy of an hour."""
    values = history.values
    count = len(values)
    copy = _milliseconds(lambda: [row.copy() for row in values]) / count
    both = _milliseconds(lambda: [np.sort(row.astype(np.float32)) for row in values]) / count
    newest = _milliseconds(lambda: [values[:, -60:].copy() for _ in range(ISSUES)]) / ISSUES
    return {
        "copy_ms": copy,
        "copy_and_sort_ms": both,
        "newest_copy_us": newest / count * 1e3,
        "data_mb": values.nbytes / 1e6,
    }


def band(history: History) -> dict[str, float]:
    """Return the cost of the bands of the coming day."""
    return {"fit_ms": _milliseconds(lambda: forecast_day(history)) / len(history.values)}


def lead(history: History) -> dict[str, float]:
    """Return the cost of fitting the lead forecast and of issuing it anew from newer minutes."""
    count = len(history.values)
    began = process_time()
    forecaster = fit_lead(history, lead=Lead(first_step=1, last_step=5), quantiles=(0.95,))
    fit = (process_time() - began) * 1e3
    newest = history.values[:, -forecaster.needed_steps :].copy()
    forecaster.issue(newest, steps_since_fit=0)
    issues = range(1, ISSUES + 1)
    spent = _milliseconds(lambda: [forecaster.issue(newest, steps_since_fit=at) for at in issues])
    return {"fit_ms": fit / count, "issue_us": spent / ISSUES / count * 1e3}


def verdict(history: History) -> dict[str, float]:
    """Return the cost of periods, soundness and the whole verdict."""
    count = len(history.values)
    return {
        "periods_ms": _milliseconds(lambda: find_periods(history)) / count,
        "soundness_ms": _milliseconds(lambda: inspect(history)) / count,
        "verdict_ms": _milliseconds(lambda: judge(history, 0.95)) / count,
    }


PARTS = {"floor": floor, "band": band, "lead": lead, "verdict": verdict}


def _milliseconds(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds of this process that some work takes."""
    began = process_time()
    work()
    return (process_time() - began) * 1e3


def main(part: str, workloads: int, days: int) -> None:
    """Measure one part and print its figures, the peak memory of the process among them."""
    history = History(values=minutes_of(workloads, days), step_seconds=60, start_local=MONDAY)
    figures = PARTS[part](history)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps(figures | {"peak_mb": peak}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
