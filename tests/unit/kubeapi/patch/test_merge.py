import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.patch import merge

values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=1), inner),
    max_leaves=12,
)
patches = st.dictionaries(st.text("abc", max_size=1), values, max_size=4)


def without_nulls(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: without_nulls(one) for name, one in value.items() if one is not None}


@pytest.mark.parametrize(
    ("obj", "patch", "result"),
    [  # the table of RFC 7386, as far as it starts from objects
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_it_does_what_the_standard_says(obj: dict, patch: dict, result: dict) -> None:
    assert merge(obj, patch) == result


@given(obj=patches, patch=patches)
def test_a_patch_merged_twice_is_a_patch_merged_once(obj: dict, patch: dict) -> None:
    once = merge(obj, patch)

    assert merge(once, patch) == once


@given(obj=patches)
def test_an_object_without_nulls_merged_with_itself_stays(obj: dict) -> None:
    plain = without_nulls(obj)
    assert isinstance(plain, dict)

    assert merge(plain, plain) == plain


@given(obj=patches, patch=patches)
def test_the_object_that_was_given_is_left_alone(obj: dict, patch: dict) -> None:
    before = repr(obj)
    merge(obj, patch)

    assert repr(obj) == before
