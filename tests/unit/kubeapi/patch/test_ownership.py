from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gputide.kubeapi.model import Kind
from gputide.kubeapi.patch import record_update
from gputide.kubeapi.patch.ownership import ANCIENT, MAX_UPDATERS, decoded

KIND = Kind(group="", version="v1", kind="ConfigMap", plural="configmaps")
NOW = datetime(2026, 12, 1, 2, 3, 4, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def config(**data: str) -> dict:
    metadata = {"name": "c", "namespace": "n", "uid": "u", "labels": {"a": "b"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def rows(obj: dict) -> dict:
    return {one["manager"]: one for one in obj["metadata"]["managedFields"]}


def test_a_create_owns_all_but_what_the_server_keeps() -> None:
    made = record_update(None, config(x="1"), KIND, manager="kubectl-create", now=NOW)

    assert made["metadata"]["managedFields"] == [
        {
            "manager": "kubectl-create",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-12-01T02:03:04Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:data": {".": {}, "f:x": {}},
            },
        }
    ]


def test_what_another_writer_changes_becomes_his_and_what_he_deletes_nobodys() -> None:
    first = record_update(None, config(x="1", y="1", z="1"), KIND, manager="one", now=NOW)
    body = first | {"data": {"x": "2", "y": "1"}}
    second = rows(record_update(first, body, KIND, manager="two", now=LATER))

    assert second["one"]["fieldsV1"]["f:data"] == {".": {}, "f:y": {}}
    assert second["two"]["fieldsV1"] == {"f:data": {"f:x": {}}}
    assert second["two"]["time"] == "2026-12-01T03:03:04Z"


def test_a_write_that_changes_nothing_changes_no_row() -> None:
    first = record_update(None, config(x="1"), KIND, manager="one", now=NOW)

    assert record_update(first, dict(first), KIND, manager="one", now=LATER) == first
    assert record_update(first, dict(first), KIND, manager="two", now=LATER) == first


def test_what_is_always_there_and_a_status_that_is_another_s_part_have_no_owner() -> None:
    kind = replace(KIND, has_status=True)
    body = {"apiVersion": "v1", "metadata": {}, "spec": {"a": {"b": 1}}, "status": {"n": 1}}
    made = record_update(None, body, kind, manager="one", now=NOW)
    custom = replace(kind, has_strategic_merge=False)
    other = record_update(None, body, custom, manager="one", now=NOW)

    assert rows(made)["one"]["fieldsV1"] == {"f:spec": {"f:a": {".": {}, "f:b": {}}}}
    assert rows(other)["one"]["fieldsV1"] == {"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}}}


def test_writers_of_a_subresource_have_rows_of_their_own() -> None:
    first = record_update(None, config(x="1"), KIND, manager="one", now=NOW)
    body = first | {"status": {"n": 1}}
    second = record_update(first, body, KIND, manager="one", now=NOW, subresource="status")

    assert [one["subresource"] for one in second["metadata"]["managedFields"][1:]] == ["status"]


def test_a_body_without_rows_keeps_those_of_the_object() -> None:
    first = record_update(None, config(x="1"), KIND, manager="one", now=NOW)

    assert record_update(first, config(x="1"), KIND, manager="two", now=LATER) == first


def test_a_body_may_rewrite_the_rows_and_reset_them() -> None:
    first = record_update(None, config(x="1"), KIND, manager="one", now=NOW)
    moved = [one | {"manager": "moved"} for one in first["metadata"]["managedFields"]]
    body = first | {"metadata": first["metadata"] | {"managedFields": moved}}
    assert set(rows(record_update(first, body, KIND, manager="x", now=NOW))) == {"moved"}

    body = first | {"metadata": first["metadata"] | {"managedFields": [{}]}}
    reset = record_update(first, body, KIND, manager="x", now=NOW)
    assert "managedFields" not in reset["metadata"]


def test_the_oldest_of_too_many_writers_are_thrown_together() -> None:
    obj: dict | None = None
    data: dict[str, str] = {}
    for n in range(MAX_UPDATERS + 4):
        data |= {f"k{n}": "v"}
        when = NOW + timedelta(minutes=n)
        obj = record_update(obj, config(**data), KIND, manager=f"m{n}", now=when)
    assert obj is not None
    kept = {one.manager: one for one in decoded(obj)}

    assert len(kept) == MAX_UPDATERS
    assert kept[f"m{MAX_UPDATERS + 3}"].paths
    assert {path[-1] for path in kept[ANCIENT].paths} == {
        "f:labels",
        "f:a",
        "f:data",
        *(f"f:k{n}" for n in range(5)),
    }


def test_rows_that_cannot_be_read_count_as_nothing() -> None:
    broken = config(x="1")
    broken["metadata"]["managedFields"] = ["text", {"manager": 3, "operation": "Apply"}]

    assert decoded(broken) == []
