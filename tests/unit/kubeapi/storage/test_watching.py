import asyncio

import pytest

from fakes.clock import FakeClock
from fakes.storages import (
    ALL,
    GADGET,
    WIDGET,
    WIDGET_V2,
    by_one_label,
    sized,
    storage,
    taken,
    widget,
    with_metadata,
)
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Selection
from gputide.kubeapi.storage import SqliteStorage
from gputide.kubeapi.storage.model import Bounds
from gputide.kubeapi.storage.schema import opened


def watch(store: SqliteStorage, version: str = "0", selection: Selection = ALL, **more: bool):  # noqa: ANN201 a generator
    return store.watch(
        WIDGET,
        selection,
        resource_version=version,
        has_bookmarks=more.get("has_bookmarks", False),
    )


async def test_a_watch_starts_with_what_is_there_and_goes_on() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget("a"))
        events = watch(store)
        assert await taken(events, 1) == [("ADDED", "a")]

        await store.create(
            GADGET, {"apiVersion": "x.io/v1", "kind": "Gadget", "metadata": {"name": "g"}}
        )
        await store.create(WIDGET, widget("b"))
        await store.update(WIDGET, "n", "a", sized(2))
        await store.delete(WIDGET, "n", "a")
        assert await taken(events, 3) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "a")]
        await events.aclose()


async def test_a_watch_from_a_version_tells_what_came_after_it() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget("a"))
        page = await store.list(WIDGET, ALL)
        await store.create(WIDGET, widget("b", "other"))
        await store.create(WIDGET, widget("c"))
        events = watch(store, page.resource_version, Selection(namespace="n"))
        await store.delete(WIDGET, "n", "c")

        assert await taken(events, 2) == [("ADDED", "c"), ("DELETED", "c")]
        await events.aclose()


async def test_nothing_is_lost_or_told_twice_while_others_write() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget("a"))

        async def write() -> None:
            for size in range(2, 102):
                await store.update(WIDGET, "n", "a", sized(size))

        async def follow() -> list[int]:
            events = watch(store, "1")
            sizes = [(await anext(events)).object["spec"]["size"] for _ in range(101)]
            await events.aclose()
            return sizes

        _, *followed = await asyncio.gather(write(), *(follow() for _ in range(5)))

        assert followed == [list(range(1, 102))] * 5


async def test_objects_enter_and_leave_a_selection() -> None:
    async with storage() as store:
        events = watch(store, "1", Selection(label_selector="is=x"))
        await store.create(WIDGET, widget("a"))
        await store.update(WIDGET, "n", "a", with_metadata(labels={"is": "x"}))
        await store.update(WIDGET, "n", "a", sized(2))
        left = await store.update(WIDGET, "n", "a", with_metadata(labels={"is": "y"}))
        await store.delete(WIDGET, "n", "a")
        await store.create(WIDGET, widget("b", labels={"is": "x"}))
        assert await taken(events, 2) == [("ADDED", "a"), ("MODIFIED", "a")]
        gone = await anext(events)

        assert gone.type == "DELETED"
        assert gone.object["metadata"]["labels"] == {"is": "x"}
        version = left["metadata"]["resourceVersion"]
        assert gone.object["metadata"]["resourceVersion"] == version
        assert await taken(events, 1) == [("ADDED", "b")]
        await events.aclose()


async def test_a_watch_of_another_version_sees_that_version() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget("a"))
        events = store.watch(WIDGET_V2, ALL, resource_version="1", has_bookmarks=False)

        assert (await anext(events)).object["apiVersion"] == "x.io/v2"
        await events.aclose()


async def test_the_end_of_what_was_there_and_long_silence_are_bookmarked() -> None:
    connection = opened(":memory:")
    store = SqliteStorage(connection, FakeClock(), select=by_one_label, bookmark_seconds=0.01)
    async with store:
        events = watch(store, has_bookmarks=True)
        first = await anext(events)
        await store.create(
            GADGET, {"apiVersion": "x.io/v1", "kind": "Gadget", "metadata": {"name": "g"}}
        )
        second = await anext(events)
        while second.object["metadata"]["resourceVersion"] == "1":
            second = await anext(events)

        assert first.object == {
            "kind": "Widget",
            "apiVersion": "x.io/v1",
            "metadata": {
                "resourceVersion": "1",
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }
        assert (second.type, second.object["metadata"]) == ("BOOKMARK", {"resourceVersion": "2"})
        await events.aclose()


async def test_a_version_that_is_compacted_is_expired() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget("a"))
        await store.create(WIDGET, widget("b"))
        await store.compact()
        with pytest.raises(StatusError, match=r"too old resource version: 2 \(3\)") as caught:
            await anext(watch(store, "2"))

        assert (caught.value.code, caught.value.reason) == (410, "Expired")


@pytest.mark.parametrize(("version", "code"), [("9", 504), ("x", 400), ("-1", 400), ("²", 400)])
async def test_a_version_of_the_future_or_no_version_is_refused(version: str, code: int) -> None:
    async with storage() as store:
        with pytest.raises(StatusError) as caught:
            await anext(watch(store, version))

        assert caught.value.code == code


async def test_a_watcher_that_reads_too_slowly_is_dropped_and_the_others_are_not() -> None:
    async with storage(Bounds(max_behind=5)) as store:
        await store.create(WIDGET, widget("a"))
        slow, quick = watch(store), watch(store)
        assert await taken(slow, 1) == await taken(quick, 1)
        for size in range(2, 12):
            await store.update(WIDGET, "n", "a", sized(size))
            assert await taken(quick, 1) == [("MODIFIED", "a")]
        with pytest.raises(StatusError, match="over 5 events behind") as caught:
            await anext(slow)

        assert caught.value.code == 410
        await quick.aclose()


async def test_more_watches_than_the_bound_are_refused_until_one_ends() -> None:
    async with storage(Bounds(max_watchers=1)) as store:
        await store.create(WIDGET, widget("a"))
        first = watch(store)
        await anext(first)
        with pytest.raises(StatusError) as caught:
            await anext(watch(store))
        assert caught.value.code == 429

        await first.aclose()
        second = watch(store)
        assert await taken(second, 1) == [("ADDED", "a")]
        await second.aclose()


async def test_a_watch_over_all_kinds_tells_of_each() -> None:
    async with storage() as store:
        events = store.changes("1")
        await store.create(WIDGET, widget("a"))
        await store.create(
            GADGET, {"apiVersion": "x.io/v1", "kind": "Gadget", "metadata": {"name": "g"}}
        )

        assert await taken(events, 2) == [("ADDED", "a"), ("ADDED", "g")]
        await events.aclose()
