import asyncio

import pytest

from fakes.storages import (
    ALL,
    GADGET,
    NAMESPACE,
    WIDGET,
    WIDGET_V2,
    sized,
    storage,
    widget,
    with_metadata,
)
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.storage import SqliteStorage
from gputide.kubeapi.storage.model import Bounds


async def refused(store: SqliteStorage, kind: Kind, obj: JsonObject) -> StatusError:
    with pytest.raises(StatusError) as caught:
        await store.create(kind, obj)
    return caught.value


async def test_what_was_created_can_be_read_in_every_version_of_its_group() -> None:
    async with storage() as store:
        made = await store.create(WIDGET, widget())

        assert await store.get(WIDGET, "n", "a") == made
        assert (await store.get(WIDGET_V2, "n", "a"))["apiVersion"] == "x.io/v2"
        assert made["metadata"]["resourceVersion"] == "2"


async def test_a_name_is_taken_once_per_namespace_and_kind() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget())
        await store.create(WIDGET, widget(namespace="other"))
        await store.create(
            GADGET, {"apiVersion": "x.io/v1", "kind": "Gadget"} | {"metadata": {"name": "a"}}
        )
        again = await refused(store, WIDGET, widget())

        assert (again.code, again.reason) == (409, "AlreadyExists")
        assert str(again) == 'widgets.x.io "a" already exists'


async def test_what_is_not_there_is_not_found() -> None:
    async with storage() as store:
        for ask in (
            store.get(WIDGET, "n", "a"),
            store.update(WIDGET, "n", "a", sized(2)),
            store.delete(WIDGET, "n", "a"),
        ):
            with pytest.raises(StatusError, match='"a" not found'):
                await ask


async def test_an_update_that_changes_nothing_keeps_the_version() -> None:
    async with storage() as store:
        made = await store.create(WIDGET, widget())
        same = await store.update(WIDGET, "n", "a", sized(1))
        grown = await store.update(WIDGET, "n", "a", sized(2))

        assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
        assert int(grown["metadata"]["resourceVersion"]) == 3
        assert grown["metadata"]["generation"] == 2


async def test_of_writers_that_start_from_one_version_one_wins() -> None:
    async with storage() as store:
        made = await store.create(WIDGET, widget())

        async def write(size: int) -> bool:
            try:
                await store.update(WIDGET, "n", "a", lambda _: made | {"spec": {"size": size}})
            except StatusError as error:
                return error.code != 409
            return True

        won = await asyncio.gather(*(write(size) for size in range(2, 12)))

        assert won.count(True) == 1


async def test_writers_without_a_version_lose_nothing() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget())

        def grown(obj: JsonObject) -> JsonObject:
            return obj | {"spec": {"size": obj["spec"]["size"] + 1}}

        await asyncio.gather(*(store.update(WIDGET, "n", "a", grown) for _ in range(50)))

        assert (await store.get(WIDGET, "n", "a"))["spec"] == {"size": 51}


async def test_a_change_that_fails_leaves_the_object_and_the_counter() -> None:
    def broken(_: JsonObject) -> JsonObject:
        raise ZeroDivisionError

    async with storage() as store:
        made = await store.create(WIDGET, widget())
        with pytest.raises(ZeroDivisionError):
            await store.update(WIDGET, "n", "a", broken)

        assert await store.get(WIDGET, "n", "a") == made
        assert await store.revision() == 2


async def test_an_object_that_is_nested_too_deeply_is_refused() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget())
        deep: JsonObject = {}
        for _ in range(5000):
            deep = {"a": deep}
        with pytest.raises(StatusError, match="nested too deeply") as caught:
            await store.update(WIDGET, "n", "a", lambda obj: obj | {"spec": deep})

        assert caught.value.code == 400


async def test_true_is_another_value_than_one() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget())
        changed = await store.update(WIDGET, "n", "a", lambda obj: obj | {"spec": {"size": True}})

        assert changed["metadata"]["resourceVersion"] == "3"
        assert (await store.get(WIDGET, "n", "a"))["spec"] == {"size": True}


async def test_a_dry_run_answers_and_stores_nothing() -> None:
    async with storage() as store:
        tried = await store.create(WIDGET, widget(), is_dry_run=True)
        assert tried["metadata"]["uid"]
        assert not (await store.list(WIDGET, ALL)).items

        made = await store.create(WIDGET, widget())
        grown = await store.update(WIDGET, "n", "a", sized(2), is_dry_run=True)
        await store.delete(WIDGET, "n", "a", is_dry_run=True)
        assert grown["spec"] == {"size": 2}
        assert await store.get(WIDGET, "n", "a") == made


async def test_preconditions_guard_a_delete() -> None:
    async with storage() as store:
        made = await store.create(WIDGET, widget())
        for wrong in ({"uid": "x"}, {"resource_version": "1"}):
            with pytest.raises(StatusError, match="Precondition failed") as caught:
                await store.delete(WIDGET, "n", "a", **wrong)
            assert caught.value.code == 409

        gone = await store.delete(WIDGET, "n", "a", uid=made["metadata"]["uid"])
        assert gone["spec"] == made["spec"]
        assert not (await store.list(WIDGET, ALL)).items


async def test_an_object_with_finalizers_goes_when_the_last_is_taken_off() -> None:
    async with storage() as store:
        await store.create(WIDGET, widget(finalizers=["x.io/a", "x.io/b"]))
        marked = await store.delete(WIDGET, "n", "a")
        again = await store.delete(WIDGET, "n", "a")
        assert marked["metadata"]["deletionTimestamp"]
        assert again == marked

        await store.update(WIDGET, "n", "a", with_metadata(finalizers=["x.io/b"]))
        assert (await store.get(WIDGET, "n", "a"))["metadata"]["finalizers"] == ["x.io/b"]
        await store.update(WIDGET, "n", "a", with_metadata(finalizers=[]))
        assert not (await store.list(WIDGET, ALL)).items


async def test_orphans_are_freed_and_foreground_waits_for_dependents() -> None:
    async with storage() as store:
        owner = (await store.create(WIDGET, widget("owner")))["metadata"]["uid"]
        await store.create(WIDGET, widget("part", ownerReferences=[{"uid": owner}]))
        waiting = await store.delete(WIDGET, "n", "owner", propagation="Foreground")
        assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]

        await store.update(WIDGET, "n", "owner", with_metadata(finalizers=[]))
        part = (await store.get(WIDGET, "n", "part"))["metadata"]
        assert [one.place.name for one in await store.dangling()] == ["part"]
        assert part["ownerReferences"]

        second = (await store.create(WIDGET, widget("owner")))["metadata"]["uid"]
        await store.update(WIDGET, "n", "part", with_metadata(ownerReferences=[{"uid": second}]))
        await store.delete(WIDGET, "n", "owner", propagation="Orphan")
        assert (await store.get(WIDGET, "n", "part"))["metadata"]["ownerReferences"] == []
        with pytest.raises(StatusError, match="unknown propagationPolicy 'Sideways'"):
            await store.delete(WIDGET, "n", "part", propagation="Sideways")


async def test_nothing_is_created_in_a_namespace_that_is_absent_or_on_its_way_out() -> None:
    async with storage(requires_namespaces=True) as store:
        absent = await refused(store, WIDGET, widget())
        assert str(absent) == 'namespaces "n" not found'

        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
        await store.create(NAMESPACE, namespace | {"spec": {"finalizers": ["kubernetes"]}})
        await store.create(WIDGET, widget())
        await store.delete(NAMESPACE, "", "n")
        leaving = await refused(store, WIDGET, widget("b"))
        assert (leaving.code, leaving.problems[0].reason) == (403, "NamespaceTerminating")
        assert (await refused(store, WIDGET, widget(namespace=""))).code == 400


async def test_an_object_above_the_bound_is_refused() -> None:
    async with storage(Bounds(max_object_bytes=400)) as store:
        large = await refused(store, WIDGET, widget(labels={"a": "x" * 400}))
        assert large.code == 413

        await store.create(WIDGET, widget())
        with pytest.raises(StatusError, match="at most 400"):
            await store.update(WIDGET, "n", "a", with_metadata(labels={"a": "x" * 400}))
