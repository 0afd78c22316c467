from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.validation import MAX_PROBLEMS, problems, pruned

OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "format": "int32"},
        "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0, "multipleOf": 0.5},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 4},
        "port": {"x-kubernetes-int-or-string": True},
        "maybe": {"type": "string", "nullable": True},
        "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
        "keyed": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": OPEN,
        },
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
        "open": OPEN,
        "on": {"type": "boolean"},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}], "not": {"enum": [7]}},
        "both": {"allOf": [{"minimum": 2}, {"maximum": 3}], "anyOf": [{"enum": [2]}]},
    },
}


@pytest.mark.parametrize(
    ("extra", "field", "reason"),
    [
        ({"size": 0}, "size", "FieldValueInvalid"),
        ({"size": 10}, "size", "FieldValueInvalid"),
        ({"size": "3"}, "size", "FieldValueTypeInvalid"),
        ({"size": True}, "size", "FieldValueTypeInvalid"),
        ({"size": 1.5}, "size", "FieldValueTypeInvalid"),
        ({"size": None}, "size", "FieldValueTypeInvalid"),
        ({"ratio": 0}, "ratio", "FieldValueInvalid"),
        ({"ratio": 0.3}, "ratio", "FieldValueInvalid"),
        ({"mode": "c"}, "mode", "FieldValueNotSupported"),
        ({"name": "A1"}, "name", "FieldValueInvalid"),
        ({"name": "a"}, "name", "FieldValueInvalid"),
        ({"name": "abcde"}, "name", "FieldValueTooLong"),
        ({"port": True}, "port", "FieldValueTypeInvalid"),
        ({"list": []}, "list", "FieldValueInvalid"),
        ({"list": ["a", "b", "c"]}, "list", "FieldValueTooMany"),
        ({"list": ["a", 1]}, "list[1]", "FieldValueTypeInvalid"),
        ({"keyed": [{"k": 1}, {"k": 1}]}, "keyed[1]", "FieldValueDuplicate"),
        ({"tags": ["a", "a"]}, "tags[1]", "FieldValueDuplicate"),
        ({"map": {"a": "x"}}, "map.a", "FieldValueTypeInvalid"),
        ({"map": {"a": 1, "b": 2, "c": 3}}, "map", "FieldValueTooMany"),
        ({"on": "yes"}, "on", "FieldValueTypeInvalid"),
        ({"either": 1.5}, "either", "FieldValueInvalid"),
        ({"either": 7}, "either", "FieldValueInvalid"),
        ({"both": 1}, "both", "FieldValueInvalid"),
    ],
)
def test_what_is_wrong_is_named(extra: dict[str, Any], field: str, reason: str) -> None:
    found = problems({"size": 1} | extra, SCHEMA)
    assert (found[0].field, found[0].reason) == (field, reason)


def test_a_good_object_has_no_problems() -> None:
    good = {
        "size": 9.0, "ratio": 0.5, "mode": "a", "name": "abc", "port": "http", "maybe": None,
        "list": ["a"], "keyed": [{"k": 1}, {"k": 2}], "tags": ["a", "b"], "map": {"a": 1},
        "open": {"any": [1]}, "on": True, "either": "x", "both": 2,
    }  # fmt: skip
    assert problems(good, SCHEMA) == []


def test_a_required_field_that_is_missing_is_named() -> None:
    (one,) = problems({}, SCHEMA, "spec")
    assert (one.field, one.message) == ("spec.size", "Required value")


def test_messages_read_as_kubernetes_has_them() -> None:
    schema = {"type": "object", "properties": {"spec": SCHEMA}}
    (one,) = problems({"spec": {"size": 0}}, schema)
    expected = "Invalid value: 0: spec.size in body should be greater than or equal to 1"
    assert (one.field, one.message) == ("spec.size", expected)


def test_problems_are_counted_up_to_a_bound() -> None:
    many = {"type": "array", "items": {"type": "string"}}
    assert len(problems(list(range(1000)), many)) == MAX_PROBLEMS


def test_unknown_fields_are_left_out_and_told() -> None:
    unknown: list[str] = []
    value = {"size": 1, "foo": 2, "open": {"bar": 1}, "keyed": [{"k": 1, "z": None}]}
    kept = pruned(value, SCHEMA, unknown)
    assert kept == {"size": 1, "open": {"bar": 1}, "keyed": [{"k": 1, "z": None}]}
    assert unknown == ["foo"]


def test_a_null_goes_where_none_may_be() -> None:
    assert pruned({"mode": None, "maybe": None}, SCHEMA) == {"maybe": None}


def test_a_value_that_is_too_deep_is_refused() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(StatusError):
        pruned({"open": deep}, SCHEMA)


def test_a_pattern_that_python_does_not_know_is_not_checked() -> None:
    assert problems("x", {"type": "string", "pattern": r"\p{Greek}"}) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "zzz"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_pruning_twice_is_pruning_once(value: object) -> None:
    once = pruned(value, SCHEMA)
    unknown: list[str] = []
    assert pruned(once, SCHEMA, unknown) == once
    assert unknown == []


@given(json_values)
def test_any_value_is_judged(value: object) -> None:
    assert isinstance(problems(value, SCHEMA), list)
