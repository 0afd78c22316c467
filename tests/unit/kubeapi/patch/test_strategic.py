import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Kind
from gputide.kubeapi.patch import strategic

KIND = Kind(
    group="apps",
    version="v1",
    kind="Thing",
    plural="things",
    merge_keys={"spec.containers": "name", "spec.containers.env": "name", "spec.tags": ""},
)
CUSTOM = Kind(group="x.io", version="v1", kind="X", plural="xs", has_strategic_merge=False)

names = st.sampled_from("abc")
containers = st.lists(
    st.fixed_dictionaries({"name": names}, optional={"image": st.sampled_from("xy")}),
    unique_by=lambda one: one["name"],
    max_size=3,
)
specs = st.fixed_dictionaries(
    {}, optional={"containers": containers, "tags": st.lists(names, unique=True), "n": st.just(1)}
)
objects = st.fixed_dictionaries({"spec": specs})


def containers_of(obj: dict, patch: list) -> list:
    return strategic({"spec": {"containers": obj}}, {"spec": {"containers": patch}}, KIND)["spec"][
        "containers"
    ]


def test_items_with_one_key_merge_in_the_order_of_the_patch() -> None:
    held = [{"name": "a", "image": "1", "env": [{"name": "E", "value": "1"}]}, {"name": "b"}]
    patch = [{"name": "c"}, {"name": "a", "image": "2", "env": [{"name": "F", "value": "2"}]}]

    assert containers_of(held, patch) == [
        {"name": "c"},
        {
            "name": "a",
            "image": "2",
            "env": [{"name": "F", "value": "2"}, {"name": "E", "value": "1"}],
        },
        {"name": "b"},
    ]


def test_directives_delete_and_replace_items_and_maps() -> None:
    held = [{"name": "a"}, {"name": "b"}]

    assert containers_of(held, [{"name": "a", "$patch": "delete"}]) == [{"name": "b"}]
    assert containers_of(held, [{"$patch": "replace"}, {"name": "z"}]) == [{"name": "z"}]
    replaced = strategic({"spec": {"a": 1}}, {"spec": {"$patch": "replace", "b": 2}}, KIND)
    assert replaced == {"spec": {"b": 2}}
    assert strategic({"spec": {"a": 1}}, {"spec": {"$patch": "delete"}}, KIND) == {}


def test_a_set_grows_shrinks_by_directive_and_takes_an_order() -> None:
    obj = {"spec": {"tags": ["a", "b", "c"]}}
    patch = {
        "spec": {
            "tags": ["d"],
            "$deleteFromPrimitiveList/tags": ["b"],
            "$setElementOrder/tags": ["d", "c", "a"],
        }
    }

    assert strategic(obj, patch, KIND) == {"spec": {"tags": ["d", "c", "a"]}}


def test_an_item_that_an_order_does_not_name_stays_before_those_it_stood_before() -> None:
    obj = {"spec": {"containers": [{"name": "a"}, {"name": "x"}, {"name": "b"}]}}
    order = [{"name": "b"}, {"name": "gone"}, {"name": "a"}]
    patch = {"spec": {"$setElementOrder/containers": order}}

    names = [one["name"] for one in strategic(obj, patch, KIND)["spec"]["containers"]]
    assert names == ["x", "b", "a"]


def test_only_the_keys_to_retain_stay() -> None:
    obj = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}

    assert strategic(obj, patch, KIND) == {"spec": {"strategy": {"type": "Recreate"}}}


def test_a_list_without_a_key_is_replaced_and_null_deletes() -> None:
    obj = {"spec": {"args": ["a"], "n": 1}}

    assert strategic(obj, {"spec": {"args": ["b"], "n": None}}, KIND) == {"spec": {"args": ["b"]}}


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"containers": [{"image": "no name"}]}},
        {"spec": {"containers": ["text"]}},
        {"spec": {"$patch": "turn"}},
        {"spec": {"$retainKeys": "type"}},
        {"spec": {"$setElementOrder/containers": "a"}},
    ],
)
def test_what_cannot_be_read_is_a_bad_request(patch: dict) -> None:
    with pytest.raises(StatusError) as refused:
        strategic({"spec": {}}, patch, KIND)

    assert refused.value.code == 400


def test_a_custom_kind_answers_as_kubernetes_does() -> None:
    with pytest.raises(StatusError) as refused:
        strategic({}, {}, CUSTOM)

    assert refused.value.code == 415


@given(obj=objects)
def test_an_object_merged_with_itself_stays(obj: dict) -> None:
    assert strategic(obj, obj, KIND) == obj


@given(obj=objects, patch=objects)
def test_a_patch_merged_twice_is_a_patch_merged_once(obj: dict, patch: dict) -> None:
    once = strategic(obj, patch, KIND)

    assert strategic(once, patch, KIND) == once
