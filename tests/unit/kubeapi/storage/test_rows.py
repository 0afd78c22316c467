from gputide.kubeapi.storage.model import Place
from gputide.kubeapi.storage.rows import Rows, encoded, parsed
from gputide.kubeapi.storage.schema import opened

PARENT, CHILD = Place("g", "parents", "n", "p"), Place("g", "children", "n", "c")


def thing(uid: str, *owners: str) -> dict:
    references = [{"uid": one} for one in owners]
    return {
        "apiVersion": "g/v1",
        "kind": "Thing",
        "metadata": {"uid": uid, "ownerReferences": references},
    }


def family() -> Rows:
    rows = Rows(opened(":memory:"))
    rows.write(PARENT, thing("parent"), None, 0.0)
    rows.write(CHILD, thing("child", "parent", "aunt"), None, 10.0)
    return rows


def test_dependents_are_found_by_the_uid_of_any_owner() -> None:
    rows = family()

    assert [one.place for one in rows.owned_by("parent")] == [CHILD]
    assert [one.uid for one in rows.owned_by("aunt")] == ["child"]
    assert [one.place for one in rows.dangling()] == [CHILD]

    rows.write(CHILD, thing("child", "parent"), encoded(thing("child")), 20.0)
    assert rows.owned_by("aunt") == []
    assert rows.dangling() == []
    rows.remove(PARENT, thing("parent"), 30.0)
    assert [one.place for one in rows.dangling()] == [CHILD]


def test_an_object_is_found_by_place_uid_and_namespace() -> None:
    rows = family()
    child = rows.find(CHILD)

    assert child is not None
    assert parsed(child)["metadata"]["resourceVersion"] == "3"
    assert [one.place for one in rows.by_uid("child")] == [CHILD]
    assert {one.place for one in rows.in_namespace("n")} == {PARENT, CHILD}
    assert rows.by_uid("child")[0].as_kind().api_version == "g/v1"
    assert rows.count("g", "children", "n", ("", "")) == 1


def test_the_log_is_shortened_by_count_and_by_age() -> None:
    rows = family()
    for n in range(20):
        rows.write(CHILD, thing("child"), encoded(thing("child")), 20.0 + n)
    rows.save_counters(10, 0.0)
    assert [one.revision for one in rows.events_after(0)] == list(range(14, 24))
    assert rows.counters.compacted == 13

    while rows.counters.revision % 64:
        rows.write(CHILD, thing("child"), encoded(thing("child")), 100.0)
    rows.save_counters(1000, 35.0)
    assert rows.events_after(0)[0].revision == rows.counters.compacted + 1 == 19
    assert rows.read_counters().compacted == 18
