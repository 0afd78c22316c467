import asyncio

import pytest

from fakes.clock import FakeClock
from fakes.storages import ALL, GADGET, NAMESPACE, WIDGET, storage, widget, with_metadata
from gputide.kubeapi.collector import Collector
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.storage import SqliteStorage
from gputide.kubeapi.storage.model import Bounds


def owned(name: str, *uids: str) -> dict:
    return widget(name, ownerReferences=[{"uid": uid, "name": "o", "kind": "W"} for uid in uids])


async def collected(store: SqliteStorage) -> list[str]:
    """Let the collector take every event until none is left; return the names that remain."""
    collector = Collector(store, FakeClock())
    await collector.sweep()
    seen = 1
    while (revision := await store.revision()) > seen:
        events = store.changes(str(seen))
        for _ in range(revision - seen):
            await collector.take(await anext(events))
        await events.aclose()
        seen = revision
    return [one["metadata"]["name"] for one in (await store.list(WIDGET, ALL)).items]


async def uid(store: SqliteStorage, name: str) -> str:
    return str((await store.create(WIDGET, widget(name)))["metadata"]["uid"])


async def test_what_nobody_owns_any_more_goes_and_with_it_what_it_owned() -> None:
    async with storage() as store:
        root = await uid(store, "root")
        child = (await store.create(WIDGET, owned("child", root)))["metadata"]["uid"]
        await store.create(WIDGET, owned("grandchild", child))
        await store.create(WIDGET, widget("stranger"))
        await store.delete(WIDGET, "n", "root")

        assert await collected(store) == ["stranger"]


async def test_an_object_with_a_second_owner_stays_and_forgets_the_first() -> None:
    async with storage() as store:
        one, two = await uid(store, "one"), await uid(store, "two")
        await store.create(WIDGET, owned("child", one, two))
        await store.delete(WIDGET, "n", "one")

        assert await collected(store) == ["child", "two"]
        child = await store.get(WIDGET, "n", "child")
        assert [ref["uid"] for ref in child["metadata"]["ownerReferences"]] == [two]


async def test_an_object_that_is_born_without_its_owner_goes_at_once() -> None:
    async with storage() as store:
        await store.create(WIDGET, owned("child", "never-there"))

        assert await collected(store) == []


async def test_an_owner_deleted_in_the_foreground_waits_for_its_dependents() -> None:
    async with storage() as store:
        root = await uid(store, "root")
        await store.create(WIDGET, owned("child", root) | {"spec": {}})
        await store.update(WIDGET, "n", "child", with_metadata(finalizers=["x.io/wait"]))
        await store.delete(WIDGET, "n", "root", propagation="Foreground")
        assert await collected(store) == ["child", "root"]

        await store.update(WIDGET, "n", "child", with_metadata(finalizers=[]))
        assert await collected(store) == []


async def test_a_namespace_goes_once_all_that_lies_in_it_is_gone() -> None:
    async with storage(requires_namespaces=True) as store:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
        await store.create(NAMESPACE, body | {"spec": {"finalizers": ["kubernetes"]}})
        await store.create(WIDGET, widget("a"))
        await store.create(WIDGET, widget("b", finalizers=["x.io/wait"]))
        await store.create(
            GADGET, {"apiVersion": "x.io/v1", "kind": "Gadget"} | {"metadata": {"name": "g"}}
        )
        await store.delete(NAMESPACE, "", "n")
        assert await collected(store) == ["b"]
        assert (await store.get(NAMESPACE, "", "n"))["status"]["phase"] == "Terminating"

        await store.update(WIDGET, "n", "b", with_metadata(finalizers=[]))
        assert await collected(store) == []
        with pytest.raises(StatusError, match='namespaces "n" not found'):
            await store.get(NAMESPACE, "", "n")
        assert await store.get(GADGET, "", "g")


async def test_it_starts_over_once_the_log_has_forgotten_where_it_was() -> None:
    async with storage(Bounds(max_behind=1)) as store:
        collecting = asyncio.create_task(Collector(store, FakeClock()).run())
        for n in range(5):
            root = await uid(store, f"root{n}")
            await store.create(WIDGET, owned(f"child{n}", root))
            await store.delete(WIDGET, "n", f"root{n}")
        remaining = 1
        while remaining:
            remaining = len((await store.list(WIDGET, ALL)).items)
        collecting.cancel()
        await asyncio.gather(collecting, return_exceptions=True)
