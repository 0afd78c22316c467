from gputide.kubeapi.model import Kind
from gputide.kubeapi.patch.shape import Shape, copied, ordered, shape_of

KIND = Kind(
    group="apps",
    version="v1",
    kind="Thing",
    plural="things",
    merge_keys={"spec.ports": "port,protocol=TCP", "spec.tags": "", "spec.*.env": "name"},
    atomic_maps=frozenset({"spec.selector"}),
)


def test_the_rows_of_a_kind_become_a_tree() -> None:
    spec = shape_of(KIND).child("spec")

    assert spec.child("ports").keys == (("port", None), ("protocol", "TCP"))
    assert spec.child("tags").is_set
    assert spec.child("selector").is_atomic
    assert spec.child("anything").child("env").keys == (("name", None),)
    assert shape_of(KIND).child("metadata").child("ownerReferences").keys == (("uid", None),)


def test_a_list_whose_items_cannot_be_told_apart_is_no_list_to_merge() -> None:
    ports = Shape(keys=(("port", None),))

    assert ports.keyed([{"port": 1}, {"port": 1}]) is None
    assert ports.keyed([{"name": "a"}]) is None
    assert ports.keyed(["a"]) is None
    assert ports.keyed("a") is None
    assert list(ports.keyed([{"port": 1}, {"port": 2}]) or ()) == ['k:{"port":1}', 'k:{"port":2}']


def test_those_wanted_come_in_their_order_and_others_before_those_they_stood_before() -> None:
    assert ordered(["x", "a", "y", "b"], ["b", "a", "c"]) == ["x", "y", "b", "a", "c"]
    assert ordered(["a", "b"], ["c", "a"]) == ["c", "a", "b"]
    assert ordered(["a"], []) == ["a"]


def test_a_copy_shares_nothing_that_can_change() -> None:
    value = {"a": [{"b": 1}]}
    copy = copied(value)
    copy["a"][0]["b"] = 2

    assert value == {"a": [{"b": 1}]}
