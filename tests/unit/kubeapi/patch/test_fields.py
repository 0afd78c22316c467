from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.patch.fields import (
    changes,
    described,
    differs,
    from_fields_v1,
    in_order,
    leaves,
    prefixes,
    to_fields_v1,
)
from gputide.kubeapi.patch.shape import Shape

elements = st.sampled_from(["f:a", "f:b.c", 'k:{"name":"x"}', 'v:"y"', "f:"])
paths = st.sets(st.lists(elements, min_size=1, max_size=4).map(tuple), max_size=8)

LIST = Shape(children={"items": Shape(keys=(("name", None),)), "tags": Shape(is_set=True)})


@given(paths=paths)
def test_the_form_on_the_wire_and_back_is_the_same_set(paths: set) -> None:
    assert from_fields_v1(to_fields_v1(paths)) == paths


def test_leaves_are_values_items_and_empty_containers() -> None:
    obj = {
        "items": [{"name": "a", "size": 1}],
        "tags": ["x"],
        "plain": [1, 2],
        "empty": {},
        "map": {"k": "v"},
    }

    assert set(leaves(obj, LIST)) == {
        ("f:items", 'k:{"name":"a"}'),
        ("f:items", 'k:{"name":"a"}', "f:name"),
        ("f:items", 'k:{"name":"a"}', "f:size"),
        ("f:tags", 'v:"x"'),
        ("f:plain",),
        ("f:empty",),
        ("f:map", "f:k"),
    }


def test_a_change_is_told_from_what_went_away() -> None:
    changed, gone = changes(
        {"items": [{"name": "a", "size": 1}, {"name": "b"}]},
        {"items": [{"name": "a", "size": 2}], "tags": ["x"]},
        LIST,
    )

    tags = {("f:tags",), ("f:tags", 'v:"x"')}
    assert changed == {("f:items", 'k:{"name":"a"}', "f:size")} | tags
    assert gone == {("f:items", 'k:{"name":"b"}'), ("f:items", 'k:{"name":"b"}', "f:name")}


def test_paths_are_printed_as_kubernetes_does() -> None:
    path = ("f:spec", "f:containers", 'k:{"name":"web"}', "f:image")

    assert described(path) == '.spec.containers[name="web"].image'
    assert described(("f:tags", 'v:"x"')) == '.tags[="x"]'
    assert described(("f:tags", "k:rubbish")) == ".tags[rubbish]"


def test_what_a_client_wrote_wrongly_counts_as_nothing() -> None:
    assert from_fields_v1("nonsense") == frozenset()
    assert from_fields_v1({"f:a": 3, "f:b": {}}) == {("f:b",)}


def test_true_and_one_are_two_values_and_a_container_changes_with_its_presence_alone() -> None:
    assert changes({"a": True, "m": {"x": 1}}, {"a": 1, "m": {"y": 1}}, LIST) == (
        {("f:a",), ("f:m", "f:y")},
        {("f:m", "f:x")},
    )
    assert not differs({"a": [1, 2]}, {"a": [1, 2]})
    assert differs([True], [1])


def test_paths_are_told_in_the_order_of_kubernetes() -> None:
    deep, shallow = ("f:spec", "f:a", "f:b"), ("f:spec", "f:z")

    assert in_order({deep, shallow}) == [shallow, deep]


def test_all_that_lies_above_a_path_is_a_prefix() -> None:
    assert prefixes([("f:a", "f:b")]) == {("f:a",), ("f:a", "f:b")}
