"""How a long-running command ends: SIGTERM is an orderly end, SIGINT an interruption."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any


async def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run until done, SIGTERM or interruption; raise what the work raises, unwrapped."""
    task = asyncio.create_task(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        _raise_first(task)


def _raise_first(task: asyncio.Task[None]) -> None:
    """Raise the one error behind a group of tasks, so that the command line can word it."""
    error = task.exception()
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if error is not None:
        raise error
