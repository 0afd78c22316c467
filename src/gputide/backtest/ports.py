"""What a backtest needs from outside: somebody who watches."""

from contextlib import AbstractContextManager
from typing import Protocol

from gputide.backtest.race import Progress


class Watcher(Protocol):
    """Somebody who is told how far a backtest is."""

    def trace(self, name: str, *, number: int, count: int) -> AbstractContextManager[Progress]:
        """Return a context that lasts as long as one replay, the `number`th of `count`.

        `name` is its trace, or the names of a few that run side by side.

        Inside, the callable takes the share that is done, 0 to 1.
        """
