"""`make bench`, or `python -m bench --help`."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.status import Status

from bench import accuracy, tables
from bench.accuracy import Setup
from bench.boosting import boosted_trees
from bench.cost import measure_cost
from bench.damage import measure_damage
from bench.opponents import BOOSTING, CONTESTANTS, Contestant
from bench.traces import Skipped, load_of, load_traces
from gputide.backtest.model import Trace
from gputide.backtest.settings import BacktestSettings
from gputide.errors import GputideError, SettingError

TERMINAL_COLUMNS = 240
"""Width of the tables where the output is no terminal."""


Positive = Annotated[int, Parameter(validator=Number(gte=1))]


class Part(StrEnum):
    """What can be measured alone."""

    ACCURACY = "accuracy"
    COST = "cost"
    POLICIES = "policies"


app = App(name="bench", version_flags=[])


@app.default
def bench(
    *,
    history_days: Annotated[
        tuple[Positive, ...], Parameter(consume_multiple=True, negative_iterable=())
    ] = (7, 14),
    only: Part | None = None,
    traces: Annotated[Path | None, Parameter(env_var="GPUTIDE_TRACES")] = None,
    max_origins: Positive = 8,
    workloads: Positive = 1000,
    json: Path | None = None,
) -> None:
    """Measure forecasts and policies, and print the tables.

    Parameters
    ----------
    history_days
        Days that a forecast may look back; several may be given.
    only
        Measure this part alone.
    traces
        Folder of .csv and .csv.gz files; without it the project's own traces.
    max_origins
        Forecasts of each trace begin at no more than so many points in time.
    workloads
        How many workloads the cost is measured on, in one call.
    json
        Write every figure to this file too.

    """
    if json is not None and not json.parent.is_dir():
        raise SettingError("json", f"{json.parent} is no folder")
    console = Console(width=None if sys.stdout.isatty() else TERMINAL_COLUMNS)
    figures: dict[str, object] = {}
    loaded, skipped = load_traces(traces) if only is not Part.COST else ([], [])
    tables.print_skipped(console, skipped)
    if only in (None, Part.ACCURACY):
        setup = Setup(history_days=history_days, max_origins=max_origins)
        figures |= _accuracy(console, loaded, setup)
    if only in (None, Part.POLICIES):
        figures |= _policies(console, loaded)
    if only in (None, Part.COST):
        days = max(history_days)
        costs = measure_cost(workloads=workloads, days=days)
        tables.print_cost(console, costs, workloads=workloads, days=days)
        figures["cost"] = costs
    if json is not None:
        json.write_bytes(msgspec.json.format(msgspec.json.encode(figures)))


def _accuracy(console: Console, loaded: list[Trace], setup: Setup) -> Mapping[str, object]:
    contestants: dict[str, Contestant] = dict(CONTESTANTS)
    if find_spec("sklearn"):
        contestants[BOOSTING] = boosted_trees
    else:
        tables.print_skipped(console, [Skipped(name=BOOSTING, reason="needs scikit-learn")])
    loads = [load_of(trace) for trace in loaded]
    with _watching("accuracy") as status:
        rows, short = accuracy.measure(loads, contestants, setup, on_progress=status.update)
        damage = measure_damage(loads, setup)
    summaries = accuracy.summarize(rows)
    tables.print_skipped(console, short)
    tables.print_accuracy(console, rows, summaries)
    tables.print_damage(console, damage)
    return {"accuracy": rows, "accuracy_summary": summaries, "damage": damage}


def _policies(console: Console, loaded: list[Trace]) -> Mapping[str, object]:
    from bench import policies

    with _watching("policies") as status:
        rows, skipped = policies.race(loaded, BacktestSettings(), on_progress=status.update)
    summaries = policies.summarize(rows)
    tables.print_skipped(console, skipped)
    tables.print_policies(console, rows, summaries)
    return {"policies": rows, "policies_summary": summaries}


def _watching(what: str) -> Status:
    return Status(what, console=Console(stderr=True))


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark; an error of ours is one line."""
    try:
        app(arguments)
    except GputideError as error:
        Console(stderr=True).print(f"bench: {error}", style="bold red", highlight=False)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main(sys.argv[1:])
