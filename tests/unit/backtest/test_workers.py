"""Replays on processes of their own: the same reports, in order, with errors as they are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from gputide.backtest.model import PolicyName, Trace, Workload
from gputide.backtest.settings import BacktestSettings
from gputide.backtest.workers import Batch, replay_batches
from gputide.errors import InputError

QUICK = BacktestSettings(
    history_days=1, evaluated_days=1, tuning_days=1, policies=(PolicyName.FIXED, PolicyName.HPA)
)


class Watching:
    def __init__(self) -> None:
        self.shares: dict[str, list[float]] = {}

    @contextmanager
    def trace(self, name: str, *, number: int, count: int) -> Iterator[Callable[[float], None]]:
        assert 1 <= number <= count
        yield self.shares.setdefault(name, []).append


def batch(number: int, *, minutes: int = 2 * 1440) -> Batch:
    trace = Trace(
        name=f"load-{number}",
        demand=20.0 * number + 10 * np.sin(np.arange(minutes) * np.pi / 720),
        start_utc=datetime(2026, 1, 1, tzinfo=UTC),
        time_zone="UTC",
    )
    workload = Workload(capacity_per_pod=1.0)
    return Batch(number=number, traces=(trace,), workloads=(workload,), settings=QUICK)


def test_two_processes_report_what_one_does_in_the_same_order() -> None:
    batches = [batch(number) for number in (1, 2, 3)]
    watcher = Watching()

    beside = replay_batches(batches, watcher, workers=2)
    alone = replay_batches(batches, Watching(), workers=1)

    assert [report.trace.name for report in beside] == ["load-1", "load-2", "load-3"]
    assert [report.outcomes for report in beside] == [report.outcomes for report in alone]
    assert set(watcher.shares) == {"load-1", "load-2", "load-3"}


def test_an_error_of_a_worker_keeps_its_words() -> None:
    broken = batch(2)
    short = replace(broken.traces[0], demand=broken.traces[0].demand[:60])

    with pytest.raises(InputError, match="load-2"):
        replay_batches([batch(1), replace(broken, traces=(short,))], Watching(), workers=2)
