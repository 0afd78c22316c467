import asyncio
import os
import signal

import pytest

from gputide.cli.process import run_until_stopped
from gputide.errors import InputError


def test_work_that_ends_ends_the_process() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("done")

    asyncio.run(run_until_stopped(work()))

    assert done == ["done"]


def test_a_signal_to_end_is_an_orderly_end() -> None:
    told: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            told.append("tidied up")

    asyncio.run(run_until_stopped(work()))

    assert told == ["tidied up"]


def test_an_error_comes_out_as_it_is() -> None:
    async def work() -> None:
        raise InputError("file", "is odd")

    with pytest.raises(InputError, match="file: is odd"):
        asyncio.run(run_until_stopped(work()))


def test_the_one_error_behind_groups_of_tasks_comes_out_unwrapped() -> None:
    async def fail() -> None:
        raise InputError("file", "is odd")

    async def inner() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(inner())
            group.create_task(asyncio.Event().wait())

    with pytest.raises(InputError, match="file: is odd"):
        asyncio.run(run_until_stopped(work()))


def test_several_errors_stay_together() -> None:
    async def work() -> None:
        raise ExceptionGroup("both", [InputError("a", "x"), InputError("b", "y")])

    with pytest.raises(ExceptionGroup):
        asyncio.run(run_until_stopped(work()))
