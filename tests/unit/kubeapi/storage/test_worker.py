import asyncio
import sqlite3
import threading
from collections.abc import Sequence

import pytest

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.storage.model import Bounds, Logged, Place
from gputide.kubeapi.storage.rows import Rows
from gputide.kubeapi.storage.schema import opened
from gputide.kubeapi.storage.worker import Worker


class Ear:
    """A listener that remembers the revisions it was told, and whether they were on disk."""

    def __init__(self, *, is_deaf: bool = False) -> None:
        self.heard: list[int] = []
        self.is_deaf = is_deaf

    def tell(self, events: Sequence[Logged]) -> bool:
        self.heard += [one.revision for one in events]
        return not self.is_deaf


def working(**bounds: int) -> Worker:
    return Worker(opened(":memory:"), Bounds(**bounds), lambda: 0.0)


def writing(name: str):  # noqa: ANN201 a step
    def step(rows: Rows) -> int:
        obj = {"metadata": {"uid": name}}
        rows.write(Place("", "things", "", name), obj, None, 0.0)
        return rows.counters.revision

    return step


async def test_steps_run_in_order_outside_the_event_loop() -> None:
    worker = working()
    threads = await asyncio.gather(*(worker.ask(lambda _: threading.get_ident()) for _ in "abc"))
    revisions = await asyncio.gather(*(worker.ask(writing(name)) for name in "abc"))
    worker.close()

    assert len({*threads, threading.get_ident()}) == 2
    assert revisions == [2, 3, 4]


async def test_a_step_that_fails_takes_its_own_writes_with_it_and_no_others() -> None:
    def broken(rows: Rows) -> None:
        writing("broken")(rows)
        raise ValueError

    worker, ear = working(), Ear()
    await worker.ask(lambda _: worker.listen(ear))
    results = await asyncio.gather(
        worker.ask(writing("a")), worker.ask(broken), worker.ask(writing("b")),
        return_exceptions=True,
    )  # fmt: skip
    found = await worker.ask(
        lambda rows: [key[1] for key, _ in rows.objects("", "things", "", None)]
    )
    worker.close()

    assert isinstance(results[1], ValueError)
    assert (results[0], results[2]) == (2, 3)
    assert found == ["a", "b"]
    assert ear.heard == [2, 3]


async def test_a_database_that_fails_fails_the_whole_commit_and_says_so() -> None:
    def full(_: Rows) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    worker, ear = working(), Ear()
    await worker.ask(lambda _: worker.listen(ear))
    gate = threading.Event()
    waiting = asyncio.gather(
        worker.ask(lambda _: gate.wait(10)), worker.ask(writing("a")), worker.ask(full),
        return_exceptions=True,
    )  # fmt: skip
    gate.set()
    results = await waiting
    revision = await worker.ask(writing("b"))
    worker.close()

    assert isinstance(results[2], StatusError)
    assert "disk is full" in str(results[2])
    assert revision == (3 if results[1] == 2 else 2)  # whether both waited for one commit
    assert ear.heard == ([2, 3] if results[1] == 2 else [2])


async def test_more_steps_than_the_bound_are_refused() -> None:
    worker = working(max_pending=2)
    gate, is_running = threading.Event(), threading.Event()

    def wait(_: Rows) -> None:
        is_running.set()
        gate.wait(10)

    first = asyncio.ensure_future(worker.ask(wait))
    await asyncio.to_thread(is_running.wait, 10)
    waiting = [asyncio.ensure_future(worker.ask(writing(name))) for name in "abc"]
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    gate.set()
    await first
    with pytest.raises(StatusError) as refused:
        done.pop().result()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    worker.close()

    assert (refused.value.code, refused.value.retry_after_seconds) == (429, 1)
    assert results[:2] == [2, 3]


async def test_a_step_that_nobody_waits_for_any_more_is_not_run() -> None:
    worker = working()
    gate, is_running = threading.Event(), threading.Event()

    def wait(_: Rows) -> None:
        is_running.set()
        gate.wait(10)

    first = asyncio.ensure_future(worker.ask(wait))
    await asyncio.to_thread(is_running.wait, 10)
    given_up = asyncio.ensure_future(worker.ask(writing("a")))
    await asyncio.wait([given_up], timeout=0)
    given_up.cancel()
    await asyncio.wait([given_up])
    gate.set()
    await first

    assert await worker.ask(writing("b")) == 2
    worker.close()


async def test_a_listener_that_wants_no_more_is_told_no_more() -> None:
    worker, ear = working(), Ear(is_deaf=True)
    await worker.ask(lambda _: worker.listen(ear))
    await worker.ask(writing("a"))
    await worker.ask(writing("b"))
    worker.close()

    assert ear.heard == [2]


async def test_a_closed_storage_answers_that_it_is() -> None:
    worker = working()
    worker.close()
    worker.close()
    with pytest.raises(StatusError) as refused:
        await worker.ask(lambda _: 1)

    assert refused.value.code == 503
