import asyncio

from fakes.clock import FakeClock
from fakes.storages import ALL, WIDGET, storage, taken, widget, with_metadata
from gputide.kubeapi.definitions import FINALIZER, Definitions
from gputide.kubeapi.kinds.registration import DEFINITION
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.registry import Registry
from gputide.kubeapi.storage import SqliteStorage


def definition(plural: str = "widgets", kind: str = "Widget", **schema: object) -> JsonObject:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"} | schema},
                }
            ],
        },
    }


def conditions(crd: JsonObject) -> dict[str, tuple[str, str]]:
    rows = crd["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"]) for one in rows}


async def loaded(store: SqliteStorage) -> Registry:
    registry = Registry()
    await Definitions(store, registry, FakeClock()).load()
    return registry


async def test_a_stored_definition_is_served_and_says_so() -> None:
    async with storage() as store:
        await store.create(DEFINITION, definition())
        registry = await loaded(store)
        crd = await store.get(DEFINITION, "", "widgets.x.io")

        assert [kind.plural for kind in registry.kinds()] == ["widgets"]
        assert conditions(crd) == {
            "NamesAccepted": ("True", "NoConflicts"),
            "Established": ("True", "InitialNamesAccepted"),
        }
        assert crd["status"]["storedVersions"] == ["v1"]
        assert crd["status"]["acceptedNames"]["kind"] == "Widget"
        assert crd["metadata"]["finalizers"] == [FINALIZER]

        version = crd["metadata"]["resourceVersion"]
        await loaded(store)
        again = await store.get(DEFINITION, "", "widgets.x.io")
        assert again["metadata"]["resourceVersion"] == version


async def test_rules_that_nothing_evaluates_are_told() -> None:
    async with storage() as store:
        rule = {"rule": "self.spec.a < self.spec.b"}
        await store.create(DEFINITION, definition(**{"x-kubernetes-validations": [rule]}))
        await loaded(store)
        crd = await store.get(DEFINITION, "", "widgets.x.io")

        assert conditions(crd)["RulesEvaluated"] == ("False", "NoEvaluator")
        assert "self.spec.a < self.spec.b" in crd["status"]["conditions"][-1]["message"]


async def test_a_second_definition_of_one_kind_is_not_served() -> None:
    async with storage() as store:
        await store.create(DEFINITION, definition())
        await loaded(store)
        await store.create(DEFINITION, definition("others", "Widget"))
        registry = await loaded(store)
        crd = await store.get(DEFINITION, "", "others.x.io")

        assert [kind.plural for kind in registry.kinds()] == ["widgets"]
        assert conditions(crd) == {"NamesAccepted": ("False", "NamesConflict")}


async def test_a_definition_that_cannot_be_read_says_why() -> None:
    async with storage() as store:
        broken = definition()
        column = {"name": "A", "type": "string", "jsonPath": "nothing"}
        broken["spec"]["versions"][0]["additionalPrinterColumns"] = [column]
        await store.create(DEFINITION, broken)
        registry = await loaded(store)
        crd = await store.get(DEFINITION, "", "widgets.x.io")

        assert registry.kinds() == ()
        assert conditions(crd) == {"Established": ("False", "InvalidDefinition")}
        assert "JSONPath 'nothing'" in crd["status"]["conditions"][0]["message"]


async def test_a_version_that_is_served_no_more_leaves_and_a_new_one_comes() -> None:
    async with storage() as store:
        await store.create(DEFINITION, definition())
        registry = Registry()
        definitions = Definitions(store, registry, FakeClock())
        await definitions.load()

        def moved(crd: JsonObject) -> JsonObject:
            old, new = crd["spec"]["versions"][0], crd["spec"]["versions"][0] | {"name": "v2"}
            versions = [old | {"served": False, "storage": False}, new]
            return crd | {"spec": crd["spec"] | {"versions": versions}}

        await store.update(DEFINITION, "", "widgets.x.io", moved)
        await definitions.load()
        crd = await store.get(DEFINITION, "", "widgets.x.io")

        assert [kind.version for kind in registry.kinds()] == ["v2"]
        assert crd["status"]["storedVersions"] == ["v1", "v2"]


async def test_a_deleted_definition_takes_its_objects_with_it_and_then_goes() -> None:
    async with storage() as store:
        registry, clock = Registry(), FakeClock()
        running = asyncio.create_task(Definitions(store, registry, clock).run())
        events = store.watch(DEFINITION, ALL, resource_version="1", has_bookmarks=False)
        await store.create(DEFINITION, definition())
        assert await taken(events, 2) == [("ADDED", "widgets.x.io"), ("MODIFIED", "widgets.x.io")]

        await store.create(WIDGET, widget("a"))
        await store.create(WIDGET, widget("b", finalizers=["x.io/wait"]))
        objects = store.watch(WIDGET, ALL, resource_version="0", has_bookmarks=False)
        assert await taken(objects, 2) == [("ADDED", "a"), ("ADDED", "b")]
        await store.delete(DEFINITION, "", "widgets.x.io")
        assert await taken(objects, 2) == [("DELETED", "a"), ("MODIFIED", "b")]
        assert [kind.plural for kind in registry.kinds()] == ["widgets"]

        await store.update(WIDGET, "n", "b", with_metadata(finalizers=[]))
        while (await anext(events)).type != "DELETED":
            pass
        assert registry.kinds() == ()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        for one in (events, objects):
            await one.aclose()
