"""How far a long command is: a bar on a terminal, a line at a time elsewhere. Always on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from gputide.backtest.report.table import plain

NAMES = Column(max_width=40, no_wrap=True, overflow="ellipsis")


class TerminalWatcher:
    """Tells a person at a terminal, or a log, how far a backtest is."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self._progress = progress
        self._console = console
        self._task = progress.add_task("", total=1.0) if console.is_terminal else None
        self._shares: dict[int, float] = {}

    @contextmanager
    def trace(self, name: str, *, number: int, count: int) -> Iterator[Callable[[float], None]]:
        """Show one replay's progress while the context lasts; several may last at a time."""
        if self._task is None:
            line = f"replaying {plain(name)} ({number} of {count})"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            yield _ignore
            return
        task = self._task

        def on_progress(share: float) -> None:
            self._shares[number] = min(max(share, 0.0), 1.0)
            self._progress.update(
                task,
                description=f"{number} of {count}: {plain(name)}",
                total=count,
                completed=sum(self._shares.values()),
            )

        on_progress(0)
        yield on_progress
        on_progress(1)


@contextmanager
def watching(console: Console) -> Iterator[TerminalWatcher]:
    """Return a watcher on that console; its bar disappears at the end."""
    progress = Progress(
        TextColumn("{task.description}", markup=False, table_column=NAMES),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with progress:
        yield TerminalWatcher(progress, console)


def _ignore(_share: float) -> None:
    """Tell nothing: the line said that the trace has begun; its parts would fill the log."""
