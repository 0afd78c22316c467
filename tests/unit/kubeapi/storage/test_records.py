import pytest

from fakes.storages import NAMESPACE, WIDGET, widget
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.storage.records import Stamp, created, is_waiting, marked, updated

STAMP = Stamp(uid="u-1", time="2026-12-01T00:00:00Z", suffix="x7k2p")


def held(**metadata: object) -> dict:
    obj = created(widget(**metadata), STAMP)
    obj["metadata"]["resourceVersion"] = "7"
    return obj


def test_a_new_object_gets_uid_time_and_generation_and_no_claims_of_its_own() -> None:
    obj = created(widget(resourceVersion="9", deletionTimestamp="x", uid="mine"), STAMP)

    assert obj["metadata"] == {
        "name": "a",
        "namespace": "n",
        "uid": "u-1",
        "creationTimestamp": "2026-12-01T00:00:00Z",
        "generation": 1,
    }


def test_an_object_without_a_spec_has_no_generation() -> None:
    assert "generation" not in created({"metadata": {"name": "c"}, "data": {}}, STAMP)["metadata"]


def test_a_name_is_made_up_where_one_is_asked_for() -> None:
    made = created({"metadata": {"generateName": "job-"}}, STAMP)

    assert made["metadata"]["name"] == "job-x7k2p"
    with pytest.raises(StatusError, match="name or generateName is required"):
        created({"metadata": {}}, STAMP)


def test_the_generation_grows_with_the_spec_alone() -> None:
    before = held()
    touched = updated(WIDGET, before, before | {"status": {"n": 1}})
    labelled = updated(WIDGET, before, widget(labels={"a": "b"}))
    grown = updated(WIDGET, before, before | {"spec": {"size": 2}})

    generations = [one["metadata"]["generation"] for one in (touched, labelled, grown)]
    assert generations == [1, 1, 2]


def test_what_the_server_keeps_cannot_be_changed() -> None:
    after = updated(WIDGET, held(), widget(creationTimestamp="1999", generation=44))

    assert after["metadata"]["creationTimestamp"] == "2026-12-01T00:00:00Z"
    assert after["metadata"]["uid"] == "u-1"
    assert after["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("metadata", "code", "words"),
    [
        ({"resourceVersion": "6"}, 409, "has been modified"),
        ({"uid": "another"}, 409, "UID in precondition: another, UID in object meta: u-1"),
        ({"name": "b"}, 400, "does not match the name"),
    ],
)
def test_a_body_of_another_object_or_state_is_refused(
    metadata: dict, code: int, words: str
) -> None:
    with pytest.raises(StatusError, match=words) as refused:
        updated(WIDGET, held(), widget() | {"metadata": {"name": "a"} | metadata})

    assert refused.value.code == code


def test_an_object_under_deletion_takes_no_new_finalizer() -> None:
    before = marked(WIDGET, held(finalizers=["x.io/a"]), time="t", finalizers=())
    with pytest.raises(StatusError, match="no new finalizers") as refused:
        updated(WIDGET, before, widget(finalizers=["x.io/a", "x.io/b"]))

    assert refused.value.code == 422


def test_a_mark_of_deletion_keeps_its_first_time() -> None:
    once = marked(WIDGET, held(finalizers=["x.io/a"]), time="first", finalizers=())
    twice = marked(WIDGET, once, time="second", finalizers=())

    assert twice == once
    assert once["metadata"]["deletionTimestamp"] == "first"
    assert once["metadata"]["generation"] == 2


def test_a_namespace_waits_for_its_contents_and_says_so() -> None:
    namespace = created({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}}, STAMP)

    assert is_waiting(NAMESPACE, namespace)
    assert not is_waiting(WIDGET, held())
    marked_one = marked(NAMESPACE, namespace, time="t", finalizers=())
    assert marked_one["status"] == {"phase": "Terminating"}
