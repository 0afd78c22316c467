"""Several replays on several cores: one process a batch of traces, stopped at once when asked."""

import multiprocessing
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue

from gputide.backtest.model import Trace, TraceReport, Workload
from gputide.backtest.ports import Watcher
from gputide.backtest.race import Progress
from gputide.backtest.replay import replay_all
from gputide.backtest.settings import BacktestSettings

POLL_SECONDS = 0.2

_news: "SimpleQueue[tuple[int, float]] | None" = None
"""In a worker: where it tells its batch's number and the share that is done."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """A few traces that run side by side as the rows of one replay."""

    number: int
    traces: tuple[Trace, ...]
    workloads: tuple[Workload, ...]
    settings: BacktestSettings

    @property
    def name(self) -> str:
        """Names of the traces, for whoever watches."""
        return ", ".join(trace.name for trace in self.traces)

    def replay(self, on_progress: Progress) -> tuple[TraceReport, ...]:
        """Replay them here."""
        return replay_all(self.traces, self.workloads, self.settings, on_progress=on_progress)


def replay_batches(
    batches: Sequence[Batch], watcher: Watcher, *, workers: int
) -> tuple[TraceReport, ...]:
    """Replay the batches on so many processes; reports come in the order of the batches."""
    if min(workers, len(batches)) <= 1:
        reports: list[TraceReport] = []
        for batch in batches:
            with watcher.trace(batch.name, number=batch.number, count=len(batches)) as on_progress:
                reports += batch.replay(on_progress)
        return tuple(reports)
    return _replay_beside(batches, watcher, min(workers, len(batches)))


def _replay_beside(
    batches: Sequence[Batch], watcher: Watcher, workers: int
) -> tuple[TraceReport, ...]:
    # A fresh interpreter a worker: forking would copy whatever threads and locks there are.
    context = multiprocessing.get_context("spawn")
    news: SimpleQueue[tuple[int, float]] = context.SimpleQueue()
    done: dict[int, tuple[TraceReport, ...]] = {}
    # Leaving the pool's context ends its processes, so that an interrupt waits for nobody.
    with ExitStack() as stack, context.Pool(workers, _begin, (news,)) as pool:
        told = {
            batch.number: stack.enter_context(
                watcher.trace(batch.name, number=batch.number, count=len(batches))
            )
            for batch in batches
        }
        results = pool.imap_unordered(_work, batches)
        while len(done) < len(batches):
            try:
                number, reports = results.next(POLL_SECONDS)
                done[number] = reports
            except multiprocessing.TimeoutError:
                pass
            while not news.empty():
                number, share = news.get()
                told[number](share)
    return tuple(report for batch in batches for report in done[batch.number])


def _begin(news: "SimpleQueue[tuple[int, float]]") -> None:
    global _news  # noqa: PLW0603 a pool's worker has no other place for what it is given once
    _news = news
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends the pool


def _work(batch: Batch) -> tuple[int, tuple[TraceReport, ...]]:
    def on_progress(share: float) -> None:
        if _news is not None:
            _news.put((batch.number, share))

    return batch.number, batch.replay(on_progress)
