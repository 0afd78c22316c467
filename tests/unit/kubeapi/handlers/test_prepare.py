from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from fakes.api_servers import BOX, ZONE, box
from fakes.refusals import code_of
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers.options import WriteOptions
from gputide.kubeapi.handlers.prepare import Preparation
from gputide.kubeapi.model import JsonObject, Kind, Problem

OPTIONS = WriteOptions(now=datetime(2026, 3, 1, tzinfo=UTC), manager="me")


def way(kind: Kind = BOX, *, validation: str = "Strict", **more: Any) -> Preparation:  # noqa: ANN401 fields
    options = replace(OPTIONS, validation=validation)
    return Preparation(kind=kind, options=options, **{"namespace": "n"} | more)


def stored(**status: object) -> JsonObject:
    obj = way().created(box("a", size=2))
    obj["metadata"] |= {"uid": "u", "resourceVersion": "5", "generation": 1}
    return obj | ({"status": status} if status else {})


def test_a_new_object_gets_its_place_its_defaults_and_its_writer() -> None:
    obj = way().created(box("a"))
    assert obj["metadata"]["namespace"] == "n"
    assert obj["spec"] == {"size": 1, "mode": "a"}
    assert "managedFields" in obj["metadata"]


def test_a_new_object_has_no_status() -> None:
    assert "status" not in way().created(box("a") | {"status": {"ok": True}})


@pytest.mark.parametrize(
    "change",
    [
        {"apiVersion": "x.io/v2"},
        {"kind": "Bottle"},
        {"metadata": {"name": "a", "namespace": "other"}},
    ],
)
def test_what_the_url_contradicts_is_a_400(change: dict[str, Any]) -> None:
    assert code_of(lambda: way().created(box("a") | change)) == 400


def test_another_name_than_the_urls_is_a_400() -> None:
    assert code_of(lambda: way(name="b").updated(stored(), box("a"))) == 400


def test_a_cluster_scoped_object_has_no_namespace() -> None:
    zone = {"metadata": {"name": "z"}}
    assert "namespace" not in way(ZONE, namespace="").created(zone)["metadata"]
    placed = {"metadata": {"name": "z", "namespace": "n"}}
    assert code_of(lambda: way(ZONE, namespace="").created(placed)) == 400


def test_a_strict_write_refuses_unknown_and_duplicate_fields() -> None:
    body = box("a", foo=1)
    body["metadata"]["bar"] = 1
    with pytest.raises(StatusError) as caught:
        way(duplicates=["size"]).created(body)
    assert caught.value.code == 400
    for part in ('unknown field "metadata.bar"', 'unknown field "spec.foo"', 'field "size"'):
        assert part in caught.value.message


def test_a_write_that_warns_drops_unknown_fields_and_says_so() -> None:
    warned, ignored = way(validation="Warn"), way(validation="Ignore")
    assert "foo" not in warned.created(box("a", foo=1))["spec"]
    assert warned.warnings == ['unknown field "spec.foo"']
    assert "foo" not in ignored.created(box("a", foo=1))["spec"]
    assert ignored.warnings == []


def test_what_is_invalid_is_a_422_that_names_it() -> None:
    with pytest.raises(StatusError) as caught:
        way().created(box("A", size=0, mode="c"))
    assert caught.value.code == 422
    fields = [one.field for one in caught.value.problems]
    assert fields == ["metadata.name", "spec.size", "spec.mode"]


def test_a_kind_may_know_more_than_its_schema() -> None:
    problem = Problem(field="spec", message="never")
    kind = replace(BOX, validate=lambda _new, old: [problem] if old is None else [])
    assert code_of(lambda: way(kind).created(box("a"))) == 422
    assert code_of(lambda: way(kind, name="a").updated(stored(), box("a", size=3))) is None


def test_an_update_leaves_the_status_alone() -> None:
    new = way(name="a").updated(stored(ok=True), box("a", size=3) | {"status": {"ok": False}})
    assert (new["spec"]["size"], new["status"]) == (3, {"ok": True})


def test_a_status_write_leaves_all_else_alone() -> None:
    body = box("a", size=9) | {"status": {"ok": True}}
    body["metadata"] |= {"labels": {"a": "b"}, "resourceVersion": "4"}
    new = way(name="a", subresource="status").updated(stored(), body)
    assert (new["spec"]["size"], new["status"]) == (2, {"ok": True})
    assert "labels" not in new["metadata"]
    assert new["metadata"]["resourceVersion"] == "4"


def test_a_status_may_be_written_where_the_rest_is_invalid_already() -> None:
    old = stored() | {"spec": {"size": 0}}
    new = way(name="a", subresource="status").updated(old, old | {"status": {"ok": True}})
    assert new["status"] == {"ok": True}


def test_a_finalizer_may_go_where_the_rest_is_invalid_already() -> None:
    old = stored() | {"spec": {"size": 0, "mode": "a"}}
    body = old | {"metadata": old["metadata"] | {"finalizers": []}}
    assert code_of(lambda: way(name="a").updated(old, body)) is None


def test_writing_the_same_again_changes_nothing() -> None:
    old = way(name="a").updated(stored(), box("a", size=2))
    assert way(name="a").updated(old, old) == old


@pytest.mark.parametrize(
    "metadata", ["x", ["a"], 1, {"managedFields": {"a": 1}}, {"managedFields": [1]}]
)
def test_metadata_of_an_odd_shape_is_a_400(metadata: object) -> None:
    assert code_of(lambda: way().created(box("a") | {"metadata": metadata})) == 400


@pytest.mark.parametrize("part", ["default", "validate"])
def test_an_object_that_its_kind_cannot_read_is_a_422(part: str) -> None:
    readers: dict[str, Any] = {
        "default": lambda obj: obj["status"]["a"].items(),
        "validate": lambda obj, _old: obj["status"]["a"].items(),
    }
    kind = replace(BOX, has_status=False, **{part: readers[part]})
    body = box("a") | {"status": {"a": "odd"}}
    assert code_of(lambda: way(kind).created(body)) == 422
