"""What forecasts cost: CPU time a workload, memory, and how far both are from the floor."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from gputide.errors import GputideError

ROOT = Path(__file__).parent.parent
START_UPS = 7
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One figure, its goal where the project has one, and the floor that it stands on."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    floor: float | None = None
    floor_is: str = ""


def measure_cost(*, workloads: int, days: int) -> list[CostRow]:
    """Return the cost of many workloads in one call, measured in fresh processes on one thread."""
    figures = {part: _probe(part, workloads, days) for part in ("floor", "band", "lead", "verdict")}
    floor = figures["floor"]
    one_pass, sort = floor["copy_ms"], floor["copy_and_sort_ms"]
    known = "one copy of the minutes"
    rows = [
        _fit_row("day-ahead band, fit", figures["band"]["fit_ms"], sort),
        _fit_row("lead forecast, fit (5 min, q 0.95)", figures["lead"]["fit_ms"], sort),
        CostRow(
            what="lead forecast, one re-issue",
            value=figures["lead"]["issue_us"],
            unit="us/workload",
            goal=20,
            floor=floor["newest_copy_us"],
            floor_is="one copy of the newest hour",
        ),
        _fit_row("periods", figures["verdict"]["periods_ms"], one_pass, goal=0.3, floor_is=known),
        _fit_row(
            "soundness", figures["verdict"]["soundness_ms"], one_pass, goal=None, floor_is=known
        ),
        _fit_row("verdict in all", figures["verdict"]["verdict_ms"], sort, goal=None),
    ]
    rows += [
        CostRow(
            what=f"peak memory, {part}",
            value=figures[part]["peak_mb"],
            unit="MB",
            goal=600,
            floor=figures["floor"]["data_mb"],
            floor_is="the minutes themselves",
        )
        for part in ("band", "lead", "verdict")
    ]
    return [*rows, measure_start_up()]


def measure_start_up() -> CostRow:
    """Return the wall time of `gputide --help`, the median of several."""
    command = [sys.executable, "-m", "gputide", "--help"]
    bare = _median_seconds([sys.executable, "-c", "pass"])
    return CostRow(
        what="gputide --help",
        value=_median_seconds(command),
        unit="s",
        goal=0.15,
        floor=bare,
        floor_is="the interpreter alone",
    )


def _fit_row(
    what: str,
    value: float,
    floor: float,
    *,
    goal: float | None = 2.0,
    floor_is: str = "a copy and a sort of the minutes",
) -> CostRow:
    return CostRow(
        what=what, value=value, unit="ms/workload", goal=goal, floor=floor, floor_is=floor_is
    )


def _probe(part: str, workloads: int, days: int) -> Mapping[str, float]:
    """Run one part in a process of its own; its peak memory is that part's alone."""
    command = [sys.executable, "-m", "bench.cost_probe", part, str(workloads), str(days)]
    done = subprocess.run(  # noqa: S603 - our own module, arguments of our own
        command,
        cwd=ROOT,
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise GputideError(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1]}")
    figures: Mapping[str, float] = json.loads(done.stdout)
    return figures


def _median_seconds(command: Sequence[str]) -> float:
    seconds = []
    for _ in range(START_UPS):
        began = perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)  # noqa: S603 - likewise
        seconds.append(perf_counter() - began)
    return sorted(seconds)[START_UPS // 2]
